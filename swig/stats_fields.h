/* The counters of spanprof_stats by name, in the order of the header. */
#ifndef STATS_FIELDS_H
#define STATS_FIELDS_H

#include <spanprof/spanprof.h>

#include "util/system/counters.h"

/* The name of each word of the structure; NULL if the word is no counter. */
static const char *const stats_names[] = {
#define STATS_NAME(name) \
  [offsetof(spanprof_stats, name) / sizeof(uint64_t)] = #name,
    SP_COUNTERS(STATS_NAME) STATS_NAME(samples_pending)
#undef STATS_NAME
};

#define STATS_WORDS (sizeof stats_names / sizeof stats_names[0])

static inline uint64_t stats_value(const spanprof_stats *stats, size_t i) {
  return ((const uint64_t *)(const void *)stats)[i];
}

#endif
