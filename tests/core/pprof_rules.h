/* Checks that a profile follows the rules of go tool pprof, those of a
 * Pyroscope server (grafana/pyroscope 3fe6a457a: pkg/validation, pkg/pprof),
 * and spanprof's own. It uses only the profile's bytes, and no code of the
 * library. */
#ifndef PPROF_RULES_H
#define PPROF_RULES_H

#include <stddef.h>
#include <stdint.h>

typedef struct pprof_rules_sums {
  uint64_t samples; /* number of Sample messages */
  uint64_t cpu_ns;
  int64_t time_ns;
  size_t raw_bytes; /* decompressed size */
} pprof_rules_sums;

/* Returns the first rule that a gzip-compressed profile violates (valid until
 * the next call), or NULL. `sums` may be NULL. */
const char *pprof_rules_broken(const void *bytes, size_t size,
                               pprof_rules_sums *sums);

#endif
