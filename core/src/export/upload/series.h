/* The labels of the series that profiles are sent under: sorted, unique, ready
 * for any protocol. One block of text, so that the spool stores it as it is. */
#ifndef SP_SERIES_H
#define SP_SERIES_H

#include "settings/settings.h"
#include "util/memory/mem.h"

/* Pyroscope's limit (pyroscope v2.2.1, pkg/validation/limits.go,
 * max-label-names-per-series); also what a spooled file may hold. */
#define SP_SERIES_MAX_LABELS 30

typedef struct sp_series {
  const sp_mem *mem;
  char *text; /* name NUL value NUL name NUL … */
  size_t size;
  size_t count;
} sp_series;

/* What is known of the process beside the settings; NULL: is not. */
typedef struct sp_series_facts {
  char *service_name; /* in place of settings->application_name */
  char *service_namespace;
  char *runtime_name;
  char *runtime_version;
} sp_series_facts;

/* __name__, service_name and the static labels; service_namespace;
 * otel.scope.name and .version; process.runtime.name and .version. `facts` may
 * be NULL. A static label wins over one of ours, __name__ and service_name
 * excepted, and the first of two whose names differ in dots and underscores
 * alone. SPANPROF_ERR_NOMEM: `out` is empty. */
spanprof_status sp_series_init(sp_series *out, const sp_mem *mem,
                               const sp_settings *settings,
                               const sp_series_facts *facts);

/* From stored text. SPANPROF_ERR_FORMAT: it is none. */
spanprof_status sp_series_read(sp_series *out, const sp_mem *mem,
                               const char *text, size_t size);
void sp_series_dispose(sp_series *series);

/* Step through: start with *name NULL; false at the end. */
bool sp_series_next(const sp_series *series, const char **name,
                    const char **value);

#endif
