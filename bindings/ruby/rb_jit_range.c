#include "rb_jit_range.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "rb_spanprof.h"

/* YJIT reserves at once all it may use: 128 MiB by default, 256 on 3.1, 64 on
 * 3.2 (--yjit-exec-mem-size). Other makers of code use less. */
#define JIT_BYTES_MIN (UINT64_C(1) << 20)

/* Later Rubies name their memory, where the kernel keeps names (yjit.c). */
#define JIT_MEMORY_NAME "[anon:Ruby:"

static const char *const jit_names[] = {"YJIT", "RJIT", "ZJIT"};

#define JIT_COUNT (sizeof jit_names / sizeof jit_names[0])

/* Prepended to the compilers' modules, once; guarded by the GVL. */
static VALUE jit_hook_module;
static bool jit_followed;

/* RubyVM::YJIT, say, or nil. */
static VALUE jit_module(const char *name) {
  VALUE vm = rb_const_get(rb_cObject, rb_intern("RubyVM"));
  ID id = rb_intern(name);

  return rb_const_defined_at(vm, id) ? rb_const_get_at(vm, id) : Qnil;
}

static bool jit_enabled(void) {
  size_t i;

  for (i = 0; i < JIT_COUNT; i++) {
    VALUE jit = jit_module(jit_names[i]);

    if (!NIL_P(jit) && RTEST(rb_funcall(jit, rb_intern("enabled?"), 0)))
      return true;
  }
  return false;
}

typedef struct map_line {
  uint64_t start;
  uint64_t end;
  bool runs;      /* is executable */
  bool anonymous; /* memory of no file, and nobody's but the VM's by name */
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
  out->anonymous = inode == 0 && (line[used] == '\0' ||
                                  strncmp(line + used, JIT_MEMORY_NAME,
                                          sizeof JIT_MEMORY_NAME - 1) == 0);
  return true;
}

static bool range_find(spanprof_range *out) {
  FILE *maps = fopen("/proc/self/maps", "re");
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

/* May raise. */
static VALUE range_tell(VALUE data) {
  spanprof_range range;

  (void)data;
  if (jit_enabled() && range_find(&range))
    spanprof_runtime_eval_add(&range);
  return Qnil;
}

/* RubyVM::YJIT.enable(...) */
static VALUE jit_enable(int argc, VALUE *argv, VALUE self) {
  VALUE enabled = rb_call_super_kw(argc, argv, rb_keyword_given_p());

  (void)self;
  rb_sp_guard(range_tell, Qnil);
  return enabled;
}

/* May raise. */
static VALUE jit_hook(VALUE hook) {
  size_t i;

  for (i = 0; i < JIT_COUNT; i++) {
    VALUE jit = jit_module(jit_names[i]);

    if (!NIL_P(jit) && rb_respond_to(jit, rb_intern("enable")))
      rb_prepend_module(rb_singleton_class(jit), hook);
  }
  return Qnil;
}

void rb_sp_jit_range_init(void) {
  jit_hook_module = rb_define_module_under(rb_sp_native, "JitHook");
  rb_gc_register_mark_object(jit_hook_module);
  rb_define_method(jit_hook_module, "enable", jit_enable, -1);
}

void rb_sp_jit_range_follow(void) {
  if (!jit_followed)
    rb_sp_guard(jit_hook, jit_hook_module);
  jit_followed = true;
  rb_sp_guard(range_tell, Qnil);
}
