#include "put_labels.h"

#include <string.h>

#include "server/store/block/columns.h"
#include "util/system/status.h"

/* The value of labels that would exceed the series limits. */
#define PUT_OTHER "[other]"

spanprof_status sp_put_bytes(sp_put *put, sp_intern_kind kind, sp_row_id a,
                             const void *bytes, size_t size, sp_row_id *id) {
  if (put->may_insert)
    return sp_intern_bytes(put->intern, kind, a, bytes, size, id);
  return sp_intern_known(put->intern, kind, a, bytes, size, id)
             ? SPANPROF_OK
             : SPANPROF_ERR_STATE;
}

spanprof_status sp_put_text(sp_put *put, uint32_t text, sp_row_id *id) {
  const sp_received_text *bytes = &put->from->texts[text];
  spanprof_status st = SPANPROF_OK;

  if (!put->texts[text])
    st = sp_put_bytes(put, SP_INTERN_TEXT, 0, bytes->bytes, bytes->size,
                      &put->texts[text]);
  *id = put->texts[text];
  return st;
}

/* Returns whether a label keeps its value beyond the series limits. Labels that
 * begin with "__" keep it, because every query needs them. service_name (the
 * application) keeps it unless all applications together have too many series.
 */
static bool put_keeps_label(const sp_put *put, uint32_t name) {
  const char *text = put->from->texts[name].bytes;

  return strncmp(text, "__", 2) == 0 ||
         (strcmp(text, "service_name") == 0 && !put->all_full);
}

static spanprof_status put_other(sp_put *put, sp_row_id *id) {
  return sp_put_bytes(put, SP_INTERN_TEXT, 0, PUT_OTHER, strlen(PUT_OTHER), id);
}

static spanprof_status put_labels(sp_put *put, uint32_t set,
                                  sp_series_allowance allowed) {
  const sp_received_labels *labels = &put->from->label_sets[set];
  const sp_received_pair *pairs = put->from->pairs + labels->first;
  spanprof_status st = SPANPROF_OK;
  sp_row_id name, value;
  uint32_t i, count = 0;

  for (i = 0; i < labels->count; i++)
    count += allowed < SP_SERIES_FEW || put_keeps_label(put, pairs[i].name) ||
             strcmp(put->from->texts[pairs[i].name].bytes, "service_name") == 0;
  sp_put_number(&put->bytes, count);
  for (i = 0; !st && i < labels->count; i++) {
    const bool keeps =
        allowed == SP_SERIES_ALL || put_keeps_label(put, pairs[i].name);

    if (allowed >= SP_SERIES_FEW && !keeps &&
        strcmp(put->from->texts[pairs[i].name].bytes, "service_name") != 0)
      continue;
    st = sp_put_text(put, pairs[i].name, &name);
    if (!st)
      st = keeps ? sp_put_text(put, pairs[i].value, &value)
                 : put_other(put, &value);
    sp_put_number(&put->bytes, name);
    sp_put_number(&put->bytes, value);
  }
  return st ? st : sp_buffer_status(&put->bytes);
}

/* Get the id of the source: the types, period and labels that the whole upload
 * has in common. */
static spanprof_status put_source_with(sp_put *put, uint32_t set,
                                       sp_series_allowance allowed) {
  const sp_received *from = put->from;
  spanprof_status st = SPANPROF_OK;
  sp_row_id type, unit, id = 0;
  size_t i;

  sp_buffer_clear(&put->bytes);
  sp_put_number(&put->bytes, from->type_count);
  for (i = 0; !st && i <= from->type_count; i++) {
    const sp_received_type *of =
        i < from->type_count ? &from->types[i] : &from->period_type;

    st = sp_put_text(put, of->type, &type);
    if (!st)
      st = sp_put_text(put, of->unit, &unit);
    sp_put_number(&put->bytes, type);
    sp_put_number(&put->bytes, unit);
  }
  if (!st)
    st = put_labels(put, set, allowed);
  sp_put_signed(&put->bytes, from->period);
  if (!st)
    st = sp_put_bytes(put, SP_INTERN_SOURCE, 0, put->bytes.data,
                      put->bytes.size, &id);
  put->source = (uint32_t)id;
  return st;
}

static spanprof_status put_series_with(sp_put *put, uint32_t set,
                                       sp_series_allowance allowed) {
  const uint64_t before = put->may_insert ? put->intern->inserted : 0;
  sp_row_id id = 0;
  spanprof_status st;

  sp_buffer_clear(&put->bytes);
  st = put_labels(put, set, allowed);
  if (st)
    return st;
  st = sp_put_bytes(put, SP_INTERN_SERIES, put->source, put->bytes.data,
                    put->bytes.size, &id);
  put->series[set] = (uint32_t)id;
  return st || !put->may_insert || put->intern->inserted == before
             ? st
             : sp_series_limit_add(&put->intern->series, put->application, 1);
}

typedef spanprof_status (*put_with)(sp_put *put, uint32_t set,
                                    sp_series_allowance allowed);

/* Get the id of a source or a series. If it is new and a limit is reached, it
 * loses some of its labels. */
static spanprof_status put_limited(sp_put *put, uint32_t set, put_with with) {
  sp_series_allowance allowed = SP_SERIES_ALL;
  spanprof_status st = SPANPROF_OK;

  if (put->may_insert)
    st = sp_series_limit_allowance(&put->intern->series, put->intern->db,
                                   put->application, &allowed, &put->all_full);
  if (st || allowed == SP_SERIES_ALL)
    return st ? st : with(put, set, allowed);
  put->intern->lookup_only = true;
  st = with(put, set, SP_SERIES_ALL);
  put->intern->lookup_only = false;
  if (st != SPANPROF_ERR_STATE)
    return st;
  put->others++;
  if (allowed != SP_SERIES_NONE)
    return with(put, set, allowed);
  return sp_fail(
      SPANPROF_ERR_LIMIT,
      "there are too many series (--max-series, "
      "--max-series-per-application), even with label values replaced "
      "by \"" PUT_OTHER "\": send fewer label names and profile types");
}

/* Find the id of the application's name, if the store has it. */
static spanprof_status put_application(sp_put *put, const char *name) {
  spanprof_status st;

  put->application = 0;
  if (!name || !put->may_insert)
    return SPANPROF_OK;
  put->intern->lookup_only = true;
  st = sp_put_bytes(put, SP_INTERN_TEXT, 0, name, strlen(name),
                    &put->application);
  put->intern->lookup_only = false;
  return st == SPANPROF_ERR_STATE ? SPANPROF_OK : st;
}

/* Sets put->application even if put->source is known already, because
 * sp_put_prepare() does not set it. */
spanprof_status sp_put_source(sp_put *put) {
  const char *name =
      sp_received_label(put->from, put->from->series, "service_name");
  const uint64_t before = put->others;
  spanprof_status st = put_application(put, name);

  if (!st && !put->source)
    st = put_limited(put, put->from->series, put_source_with);
  return st ? st
            : put_application(put, put->others > before && put->all_full
                                       ? PUT_OTHER
                                       : name);
}

spanprof_status sp_put_series(sp_put *put, uint32_t set) {
  return put->series[set] ? SPANPROF_OK
                          : put_limited(put, set, put_series_with);
}
