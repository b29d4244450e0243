#include "comments.h"

#include <stdarg.h>
#include <stdio.h>

#include "util/system/counters.h"

SP_PRINTF(3, 4)
static void comment_line(sp_comments *out, size_t line, const char *format,
                         ...) {
  va_list arguments;

  va_start(arguments, format);
  vsnprintf(out->texts[line], sizeof out->texts[line], format, arguments);
  va_end(arguments);
  out->lines[line] = out->texts[line];
}

#define LLU(x) ((unsigned long long)(x))

void sp_comments_write(sp_comments *out, const char *note) {
  spanprof_stats s = {.struct_size = sizeof s};

  sp_counters_read(&s);
  comment_line(out, 0, "spanprof %s", SPANPROF_VERSION);
  comment_line(out, 1,
               "samples: taken %llu, dropped full %llu, memory %llu, "
               "export %llu",
               LLU(s.samples_taken), LLU(s.samples_dropped_full),
               LLU(s.samples_dropped_memory), LLU(s.samples_dropped_export));
  comment_line(out, 2,
               "ticks: taken %llu, dropped %llu, booked at thread ends %llu",
               LLU(s.ticks_taken), LLU(s.ticks_dropped),
               LLU(s.ticks_booked_at_thread_end));
  comment_line(out, 3,
               "stacks: truncated %llu, without unwind information %llu, "
               "unreadable %llu, walk cut %llu",
               LLU(s.stacks_truncated), LLU(s.stacks_no_unwind_info),
               LLU(s.stacks_foreign), LLU(s.stacks_walk_cut));
  comment_line(out, 4, "threads: profiled %llu, blocked %llu, unprofiled %llu",
               LLU(s.threads_profiled), LLU(s.threads_blocked),
               LLU(s.threads_unprofiled));
  comment_line(out, 5,
               "cost: handler %llu us, collector %llu us, uploader %llu us of "
               "CPU",
               LLU(s.handler_ns / 1000), LLU(s.collector_cpu_ns / 1000),
               LLU(s.uploader_cpu_ns / 1000));
  comment_line(out, 6, "%s", note);
  out->count = note[0] ? SP_COMMENT_COUNT : SP_COMMENT_COUNT - 1;
}

#undef LLU
