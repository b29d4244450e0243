/* The labels of the series of profiles: sorted and unique, for any protocol.
 * They are one block of text, which the spool stores as it is. */
#ifndef SP_SERIES_H
#define SP_SERIES_H

#include "settings/settings.h"
#include "util/memory/mem.h"

/* Pyroscope's limit (pyroscope v2.2.1, pkg/validation/limits.go,
 * max-label-names-per-series). Also the limit of a spooled file. */
#define SP_SERIES_MAX_LABELS 30

typedef struct sp_series {
  const sp_mem *mem;
  char *text; /* name NUL value NUL name NUL … */
  size_t size;
  size_t count;
} sp_series;

/* Facts about the process that the settings do not have. NULL: unknown. */
typedef struct sp_series_facts {
  char *service_name; /* replaces settings->application_name */
  char *service_namespace;
  char *runtime_name;
  char *runtime_version;
} sp_series_facts;

/* Collect the labels: __name__, service_name and the static labels;
 * service_namespace; otel.scope.name and .version; process.runtime.name and
 * .version. `facts` may be NULL. A static label takes precedence over the
 * library's label of that name, except __name__ and service_name. If two names
 * differ only in dots and underscores, the first one is used.
 * SPANPROF_ERR_NOMEM: `out` is empty. */
spanprof_status sp_series_init(sp_series *out, const sp_mem *mem,
                               const sp_settings *settings,
                               const sp_series_facts *facts);

/* Read a series from stored text. SPANPROF_ERR_FORMAT: the text is not a
 * series. */
spanprof_status sp_series_read(sp_series *out, const sp_mem *mem,
                               const char *text, size_t size);
void sp_series_dispose(sp_series *series);

/* Step through the labels: start with *name NULL. Returns false at the end. */
bool sp_series_next(const sp_series *series, const char **name,
                    const char **value);

#endif
