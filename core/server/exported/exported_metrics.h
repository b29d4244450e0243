/* Exported metrics: counters that sum stored profiles by rules, for Prometheus
 * at /exported-metrics. Like all counters they begin at 0 at each start.
 *
 * Any thread may call these functions. */
#ifndef SP_EXPORTED_METRICS_H
#define SP_EXPORTED_METRICS_H

#include <pthread.h>

#include "metric_rule.h"
#include "server/http/message/http.h"
#include "server/model/received.h"
#include "util/memory/hash_index.h"
#include "util/system/log.h"

/* Largest number of series of one rule. The values of further series are added
 * to `overflow` of the rule. */
#define SP_EXPORTED_SERIES_MAX 1000

typedef struct sp_exported_series {
  uint32_t rule;
  char **values; /* values of the labels in the rule's `groups`; "" if the
                  * profiles do not have the label */
  int64_t sum;
} sp_exported_series;

typedef struct sp_exported_metrics {
  /* Fixed after sp_exported_metrics_init(). */
  const sp_mem *mem;
  sp_log *log;
  const sp_metric_rules *rules;
  /* Guarded by `lock`. */
  pthread_mutex_t lock;
  sp_exported_series *series;
  size_t count;
  size_t capacity;
  sp_index index;
  struct {
    size_t series;
    int64_t overflow; /* sum of values beyond SP_EXPORTED_SERIES_MAX */
    bool gave_up;     /* a regular expression took too long */
  } of_rules[SP_METRIC_RULES_MAX];
  uint64_t lost; /* number of profiles that were not counted because memory ran
                  * out */
} sp_exported_metrics;

/* `rules` is borrowed. */
void sp_exported_metrics_init(sp_exported_metrics *metrics, const sp_mem *mem,
                              sp_log *log, const sp_metric_rules *rules);
void sp_exported_metrics_dispose(sp_exported_metrics *metrics);

/* Add one new profile to the metrics. `data` is an sp_exported_metrics. */
void sp_exported_metrics_observe(void *data, const sp_received *profile);

/* Write all metrics in the text format of Prometheus. Defined in
 * exported_text.c. */
void sp_exported_metrics_write(sp_exported_metrics *metrics, sp_buffer *out);

/* Add GET /exported-metrics. `metrics` is borrowed, and must not be freed
 * before the routes. Returns SPANPROF_ERR_NOMEM on failure. */
spanprof_status sp_exported_metrics_routes(sp_http_routes *routes,
                                           sp_exported_metrics *metrics);

#endif
