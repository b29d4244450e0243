/* A series is the set of labels that all profiles of a process have. The labels
 * are sorted and have unique names. They are stored as one block of text. The
 * requests of both protocols are built from it, and the spool stores it
 * unchanged. */
#ifndef SP_SERIES_H
#define SP_SERIES_H

#include "settings/settings.h"
#include "util/memory/mem.h"

/* Pyroscope's limit of labels (pyroscope v2.2.1, pkg/validation/limits.go,
 * max-label-names-per-series). A spooled file with more labels is damaged. */
#define SP_SERIES_MAX_LABELS 30

typedef struct sp_series {
  const sp_mem *mem;
  char *text; /* name NUL value NUL name NUL … */
  size_t size;
  size_t count;
} sp_series;

/* Facts about the process that are not in the settings. NULL: unknown. */
typedef struct sp_series_facts {
  char *service_name; /* replaces settings->application_name */
  char *service_namespace;
  char *runtime_name;
  char *runtime_version;
} sp_series_facts;

/* Collect the labels: __name__, service_name, the static labels of the
 * settings, service_namespace, otel.scope.name, otel.scope.version,
 * process.runtime.name and process.runtime.version. `facts` may be NULL. A
 * static label takes precedence over the library's label of the same name,
 * except __name__ and service_name. If two names differ only in dots and
 * underscores, the first one is used. Returns SPANPROF_ERR_NOMEM if out of
 * memory; `out` is then empty. */
spanprof_status sp_series_init(sp_series *out, const sp_mem *mem,
                               const sp_settings *settings,
                               const sp_series_facts *facts);

/* Read a series from stored text. Returns SPANPROF_ERR_FORMAT if the text is
 * not a series. */
spanprof_status sp_series_read(sp_series *out, const sp_mem *mem,
                               const char *text, size_t size);
void sp_series_dispose(sp_series *series);

/* Step to the next label. Begin with *name NULL. Returns false after the last
 * label. */
bool sp_series_next(const sp_series *series, const char **name,
                    const char **value);

#endif
