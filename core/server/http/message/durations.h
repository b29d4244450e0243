/* Durations of requests: a histogram for each route, method and status, with
 * the name and buckets of Pyroscope, which come from dskit's server:
 * https://github.com/grafana/dskit/blob/main/instrument/instrument.go
 *
 * Any thread may call these functions. */
#ifndef SP_DURATIONS_H
#define SP_DURATIONS_H

#include <pthread.h>

#include "http.h"
#include "util/memory/hash_index.h"

#define SP_HTTP_DURATION_BUCKETS 14

/* Largest number of histograms. Requests that would need another histogram are
 * counted for the route "other". */
#define SP_HTTP_DURATIONS_MAX 1000

typedef struct sp_http_duration {
  const sp_http_route *route; /* NULL for "other" */
  const char *method;         /* from a fixed list; "other" for unknown
                               * methods */
  int status;
  uint64_t counts[SP_HTTP_DURATION_BUCKETS]; /* requests in each bucket, not
                                              * cumulative */
  uint64_t count;
  uint64_t sum_ns;
} sp_http_duration;

typedef struct sp_http_durations {
  const sp_mem *mem;
  /* Guarded by `lock`. */
  pthread_mutex_t lock;
  sp_http_duration *durations;
  size_t count;
  size_t capacity;
  sp_index index;
} sp_http_durations;

void sp_http_durations_init(sp_http_durations *durations, const sp_mem *mem);
void sp_http_durations_dispose(sp_http_durations *durations);

/* Count a request. `route` must live as long as the durations. The request is
 * not counted if there is no memory for a new histogram. */
void sp_http_durations_add(sp_http_durations *durations,
                           const sp_http_route *route, const char *method,
                           int status, uint64_t ns);

/* Write pyroscope_request_duration_seconds in the text format of Prometheus. */
void sp_http_durations_write(sp_http_durations *durations, sp_buffer *out);

#endif
