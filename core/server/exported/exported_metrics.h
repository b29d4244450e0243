/* Exported metrics: counters that add up, by rules, the profiles that are kept,
 * for Prometheus at /exported-metrics. They begin at 0 with each start, as
 * counters do.
 *
 * Any thread observes and shows. */
#ifndef SP_EXPORTED_METRICS_H
#define SP_EXPORTED_METRICS_H

#include <pthread.h>

#include "metric_rule.h"
#include "server/http/message/http.h"
#include "server/model/received.h"
#include "util/memory/hash_index.h"
#include "util/system/log.h"

/* Of one rule: what more label values have is counted as overflow. */
#define SP_EXPORTED_SERIES_MAX 1000

typedef struct sp_exported_series {
  uint32_t rule;
  char **values; /* of the rule's groups; "": the profiles have none */
  int64_t sum;
} sp_exported_series;

typedef struct sp_exported_metrics {
  /* Fixed after sp_exported_metrics_init(). */
  const sp_mem *mem;
  sp_log *log;
  const sp_metric_rules *rules;
  /* Guarded by lock. */
  pthread_mutex_t lock;
  sp_exported_series *series;
  size_t count;
  size_t room;
  sp_index index;
  struct {
    size_t series;
    int64_t overflow; /* of values beyond SP_EXPORTED_SERIES_MAX */
    bool gave_up;     /* a regular expression took too long */
  } of_rules[SP_METRIC_RULES_MAX];
  uint64_t lost; /* profiles that there was no memory for */
} sp_exported_metrics;

/* `rules` outlive it. */
void sp_exported_metrics_init(sp_exported_metrics *metrics, const sp_mem *mem,
                              sp_log *log, const sp_metric_rules *rules);
void sp_exported_metrics_dispose(sp_exported_metrics *metrics);

/* Add up one profile that is kept, once. `data` is an sp_exported_metrics. */
void sp_exported_metrics_observe(void *data, const sp_received *profile);

/* All of them as Prometheus' text; exported_text.c. */
void sp_exported_metrics_write(sp_exported_metrics *metrics, sp_buffer *out);

/* GET /exported-metrics. `metrics` is borrowed for ever. SPANPROF_ERR_NOMEM. */
spanprof_status sp_exported_metrics_routes(sp_http_routes *routes,
                                           sp_exported_metrics *metrics);

#endif
