/* A time window, and the pprof parts with its samples. */
#ifndef SP_WINDOW_H
#define SP_WINDOW_H

#include "util/memory/mem.h"

/* The name of the metric on a server, and type and unit of its values and of
 * the period. */
#define SP_PROFILE_METRIC "process_cpu"
#define SP_PROFILE_TYPE   "cpu"
#define SP_PROFILE_UNIT   "nanoseconds"

/* The distance between the times of consecutive parts of a window. If all of a
 * caller's own times are equal modulo this step, none collides with the time of
 * another part. */
#define SP_PROFILE_TIME_STEP_NS 64

/* The window that a profile covers. */
typedef struct sp_window {
  uint64_t time_ns; /* Unix time of the start */
  uint64_t duration_ns;
  uint64_t period_ns;          /* the sampling interval */
  const char *const *comments; /* pprof comments */
  size_t comment_count;
  /* Write one part regardless of the server's limits, even without samples; not
   * counted as a window's profile. */
  bool whole;
} sp_window;

/* One encoded part, gzip-compressed. */
typedef struct sp_encoded {
  void *bytes;
  size_t size;
  const sp_mem *mem; /* owns `bytes`: the profile's */
  uint64_t time_ns;
  uint64_t duration_ns;
  uint64_t samples;
  uint64_t ticks;
  uint64_t cpu_ns;
  uint32_t text_count; /* number of texts in its string table; 0: unknown */
} sp_encoded;

/* Free the bytes. */
void sp_encoded_dispose(sp_encoded *encoded);

/* Receives one part and owns it. */
typedef void (*sp_encoded_fn)(void *data, sp_encoded *part);

#endif
