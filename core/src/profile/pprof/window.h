/* A window of time, and the pprof parts that hold its samples. */
#ifndef SP_WINDOW_H
#define SP_WINDOW_H

#include "util/memory/mem.h"

/* The metric that a server keeps our profiles under; type and unit of their
 * values, and of the period. */
#define SP_PROFILE_METRIC "process_cpu"
#define SP_PROFILE_TYPE   "cpu"
#define SP_PROFILE_UNIT   "nanoseconds"

/* The distance between the times of two parts of a window. A caller whose own
 * times are all equal modulo this step never meets the time of another part. */
#define SP_PROFILE_TIME_STEP_NS 64

/* The window a profile covers. */
typedef struct sp_window {
  uint64_t time_ns; /* Unix time of the start */
  uint64_t duration_ns;
  uint64_t period_ns;          /* the sampling interval */
  const char *const *comments; /* pprof comments */
  size_t comment_count;
  bool whole; /* one part whatever a server takes, also without a sample; not
               * counted as a window's profile */
} sp_window;

/* One encoded part, gzip-compressed. */
typedef struct sp_encoded {
  void *bytes;
  size_t size;
  const sp_mem *mem; /* owns bytes: the profile's */
  uint64_t time_ns;
  uint64_t duration_ns;
  uint64_t samples;
  uint64_t ticks;
  uint64_t cpu_ns;
  uint32_t text_count; /* of its string table; 0: not known */
} sp_encoded;

/* Free the bytes. */
void sp_encoded_dispose(sp_encoded *encoded);

/* Takes over one part. */
typedef void (*sp_encoded_fn)(void *data, sp_encoded *part);

#endif
