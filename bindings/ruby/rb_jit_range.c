#include "rb_jit_range.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <ruby.h>

/* YJIT reserves at once all it may use: 128 MiB by default, 256 on 3.1, 64 on
 * 3.2 (--yjit-exec-mem-size). Other makers of code use less. */
#define JIT_BYTES_MIN (UINT64_C(1) << 20)

static bool jit_enabled(void) {
  return RTEST(
      rb_eval_string("defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled?"));
}

typedef struct map_line {
  uint64_t start;
  uint64_t end;
  bool runs;      /* is executable */
  bool anonymous; /* memory of no file and without a name */
} map_line;

static bool map_read(FILE *maps, map_line *out) {
  char line[512], access[8];
  uint64_t inode;
  int used = 0;

  if (!fgets(line, sizeof line, maps) ||
      sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %" SCNu64 " %n",
             &out->start, &out->end, access, &inode, &used) != 4)
    return false;
  out->runs = access[2] == 'x';
  out->anonymous = inode == 0 && line[used] == '\0';
  return true;
}

bool rb_sp_jit_range_find(spanprof_range *out) {
  FILE *maps = jit_enabled() ? fopen("/proc/self/maps", "re") : NULL;
  map_line line, run = {0};

  *out = (spanprof_range){0};
  while (maps && map_read(maps, &line)) {
    bool continues = line.anonymous && run.end == line.start;

    /* A reservation whose parts differ in access is one run. */
    if (!line.anonymous)
      continue;
    if (!continues)
      run = (map_line){.start = line.start};
    run.end = line.end;
    if (line.runs && run.runs == false) {
      run.start = line.start;
      run.runs = true;
    }
    if (run.runs && run.end - run.start >= JIT_BYTES_MIN &&
        run.end - run.start > out->end - out->start)
      *out = (spanprof_range){.start = run.start, .end = run.end};
  }
  if (maps)
    fclose(maps);
  return out->end > 0;
}
