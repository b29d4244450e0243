#include "series.h"

#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"
#include "util/memory/buffer.h"
#include "util/text/utf8.h"

/* Number of labels that the library sets: __name__, service_name,
 * service_namespace, and name and version of otel.scope and process.runtime. */
#define SERIES_OWN_LABELS 7

typedef struct series_label {
  const char *name;
  const char *value;
} series_label;

static int series_compare(const void *a, const void *b) {
  return strcmp(((const series_label *)a)->name,
                ((const series_label *)b)->name);
}

/* Are the two names equal for the server? Before 2.0, Pyroscope replaces each
 * dot by an underscore, and refuses a series with two labels of the same name.
 */
static bool series_same_name(const char *a, const char *b) {
  for (; *a && *b; a++, b++)
    if (*a != *b && !((*a == '.' && *b == '_') || (*a == '_' && *b == '.')))
      return false;
  return *a == *b;
}

static bool series_has(const series_label *labels, size_t count,
                       const char *name) {
  size_t i;

  for (i = 0; i < count; i++)
    if (series_same_name(labels[i].name, name))
      return true;
  return false;
}

/* Add a label, unless a label of this name exists or the value is empty. (The
 * server treats a label with an empty value as no label.) */
static void series_add(series_label *labels, size_t *count, const char *name,
                       const char *value) {
  if (!value || !*value || series_has(labels, *count, name))
    return;
  labels[*count].name = name;
  labels[*count].value = value;
  (*count)++;
}

spanprof_status sp_series_init(sp_series *out, const sp_mem *mem,
                               const sp_settings *settings,
                               const sp_series_facts *facts) {
  static const sp_series_facts none;
  size_t count = 0, i, most = settings->label_count + SERIES_OWN_LABELS;
  series_label *labels = sp_mem_new(mem, most * sizeof *labels);
  sp_buffer text;

  memset(out, 0, sizeof *out);
  out->mem = mem;
  if (!labels)
    return SPANPROF_ERR_NOMEM;
  if (!facts)
    facts = &none;
  series_add(labels, &count, "__name__", SP_PROFILE_METRIC);
  series_add(labels, &count, "service_name",
             facts->service_name ? facts->service_name
                                 : settings->application_name);
  for (i = 0; i < settings->label_count; i++)
    series_add(labels, &count, settings->labels[i].name,
               settings->labels[i].value);
  series_add(labels, &count, "service_namespace", facts->service_namespace);
  series_add(labels, &count, "otel.scope.name", "spanprof");
  series_add(labels, &count, "otel.scope.version", SPANPROF_VERSION);
  series_add(labels, &count, "process.runtime.name", facts->runtime_name);
  series_add(labels, &count, "process.runtime.version", facts->runtime_version);
  qsort(labels, count, sizeof *labels, series_compare);

  sp_buffer_init(&text, mem);
  for (i = 0; i < count; i++) {
    sp_buffer_append(&text, labels[i].name, strlen(labels[i].name) + 1);
    sp_buffer_append(&text, labels[i].value, strlen(labels[i].value) + 1);
  }
  sp_mem_free(mem, labels);
  out->text = sp_buffer_detach(&text, &out->size);
  out->count = out->text ? count : 0;
  return out->text ? SPANPROF_OK : SPANPROF_ERR_NOMEM;
}

spanprof_status sp_series_read(sp_series *out, const sp_mem *mem,
                               const char *text, size_t size) {
  size_t strings = 0, i;

  memset(out, 0, sizeof *out);
  out->mem = mem;
  for (i = 0; i < size; i++)
    strings += text[i] == '\0';
  if (size == 0 || text[size - 1] != '\0' || strings % 2 != 0 ||
      strings / 2 > SP_SERIES_MAX_LABELS || !sp_utf8_valid(text, size))
    return SPANPROF_ERR_FORMAT;
  out->text = sp_mem_text(mem, text, size);
  if (!out->text)
    return SPANPROF_ERR_NOMEM;
  out->size = size;
  out->count = strings / 2;
  return SPANPROF_OK;
}

void sp_series_dispose(sp_series *series) {
  sp_mem_free(series->mem, series->text);
  series->text = NULL;
  series->size = 0;
  series->count = 0;
}

bool sp_series_next(const sp_series *series, const char **name,
                    const char **value) {
  const char *next = *name ? *value + strlen(*value) + 1 : series->text;

  if (series->count == 0 || next >= series->text + series->size)
    return false;
  *name = next;
  *value = next + strlen(next) + 1;
  return true;
}
