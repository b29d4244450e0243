/* A time window, and the pprof profiles ("parts") that contain its samples. A
 * window has several parts if its samples exceed the server's limits for one
 * profile. */
#ifndef SP_WINDOW_H
#define SP_WINDOW_H

#include "util/memory/mem.h"

/* The metric's name on a server, and the type and the unit of its values and of
 * the period. */
#define SP_PROFILE_METRIC "process_cpu"
#define SP_PROFILE_TYPE   "cpu"
#define SP_PROFILE_UNIT   "nanoseconds"

/* The distance between the times of consecutive parts of a window. All parts of
 * a window have the same remainder modulo this step, so windows with different
 * remainders never have parts with equal times (see time_choose() in
 * collector.c). */
#define SP_PROFILE_TIME_STEP_NS 64

/* The window that a profile covers. */
typedef struct sp_window {
  uint64_t time_ns; /* Unix time of the start */
  uint64_t duration_ns;
  uint64_t period_ns;          /* the sampling interval */
  const char *const *comments; /* pprof comments */
  size_t comment_count;
  /* Write one part, even if it exceeds the server's limits or has no samples,
   * and do not count it as a window's profile. */
  bool whole;
} sp_window;

/* One encoded part, gzip-compressed. */
typedef struct sp_encoded {
  void *bytes;
  size_t size;
  const sp_mem *mem; /* owns `bytes` */
  uint64_t time_ns;
  uint64_t duration_ns;
  uint64_t samples;
  uint64_t ticks;
  uint64_t cpu_ns;
  /* Number of texts in the part's string table; 0: unknown. */
  uint32_t text_count;
} sp_encoded;

/* Free the bytes. */
void sp_encoded_dispose(sp_encoded *encoded);

/* A function that receives one part and owns it. */
typedef void (*sp_encoded_fn)(void *data, sp_encoded *part);

#endif
