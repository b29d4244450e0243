#include "ingest_type.h"
#include "ingest_upload.h"
#include "server/receive/wire/hex_id.h"
#include "speedscope.h"

/* Returns the span id in the labels of the parameter `name`, which applies to
 * all samples, or an empty text. */
static sp_view ingest_text_span(const sp_ingest_upload *upload) {
  const sp_view digits =
      sp_series_labels_get(&upload->name.labels, sp_view_text("profile_id"));
  uint64_t span_id;

  return sp_hex_span_id(digits, &span_id) ? digits : sp_view_of("", 0);
}

/* Make the labels of the series: the metric of the type, the application
 * without the type, and the labels of the parameter `name` except the span
 * id. */
static spanprof_status ingest_text_labels(const sp_ingest_upload *upload,
                                          const char *metric, sp_view app,
                                          sp_series_labels *labels) {
  const sp_series_labels *given = &upload->name.labels;
  const sp_view service = sp_view_text("service_name");
  const sp_view app_name = sp_view_text("app_name");
  const bool has_span = ingest_text_span(upload).size != 0;
  bool has_service = false, has_app = false;
  spanprof_status st;
  size_t i;

  st = sp_series_labels_add(labels, sp_view_text("__name__"),
                            sp_view_text(metric));
  if (!st)
    st = sp_series_labels_add(labels, sp_view_text("__delta__"),
                              sp_view_text("false"));
  if (!st)
    st = sp_series_labels_add(labels, sp_view_text("pyroscope_spy"),
                              upload->spy);
  for (i = 0; !st && i < given->count; i++) {
    const sp_view name = given->labels[i].name;

    if (sp_view_starts(name, "__") ||
        (has_span && sp_view_is(name, "profile_id")))
      continue;
    has_service |= sp_view_equal(name, service);
    has_app |= sp_view_equal(name, app_name);
    st = sp_series_labels_add(labels, name, given->labels[i].value);
  }
  if (!st && !(has_service && has_app))
    st = sp_series_labels_add(labels, has_service ? app_name : service, app);
  return st;
}

/* Add the stacks to the batch as a profile. `value_ns` is the number of
 * nanoseconds for which a value of 1 stands, or 0 if the values are not
 * times. */
static spanprof_status ingest_text_add(sp_ingest_upload *upload,
                                       const sp_stack_list *list, sp_view name,
                                       uint64_t value_ns,
                                       sp_series_labels *labels) {
  sp_stack_meta meta = {.scale = 1,
                        .span_id = ingest_text_span(upload),
                        .time_ns = upload->from_ns};
  const sp_ingest_type *type;
  sp_raw_profile profile;
  spanprof_status st;
  sp_view app;

  st = sp_ingest_type_find(name, &app, &type, upload->refusal);
  if (st)
    return st;
  meta.type = type->type;
  meta.unit = type->unit;
  if (type->is_time && value_ns) {
    meta.type = strcmp(type->metric, "wall") == 0 ? "wall" : "cpu";
    meta.unit = meta.period_unit = "nanoseconds";
    meta.period_type = "cpu";
    meta.period = (int64_t)value_ns;
    meta.scale = value_ns;
  }
  st = sp_stack_list_profile(list, &meta, &profile);
  if (!st) {
    profile.duration_ns = upload->duration_ns;
    st = ingest_text_labels(upload, type->metric, app, labels);
  }
  return st ? st
            : sp_batch_add(upload->batch, &profile, labels, upload->refusal);
}

static uint64_t ingest_text_period_ns(const sp_ingest_upload *upload) {
  return upload->rate ? SP_NS_PER_S / upload->rate : 0;
}

spanprof_status sp_ingest_text(sp_ingest_upload *upload,
                               sp_ingest_stacks read) {
  sp_series_labels labels;
  sp_stack_list list;
  spanprof_status st;

  sp_series_labels_init(&labels, upload->arena->mem);
  sp_stack_list_init(&list, upload->arena, upload->refusal);
  st = read(&list, upload->body);
  if (!st)
    st = ingest_text_add(upload, &list, upload->name.app,
                         ingest_text_period_ns(upload), &labels);
  sp_stack_list_dispose(&list);
  sp_series_labels_dispose(&labels);
  return st;
}

/* Make a name such as "app.seconds" for one of several profiles in a file. The
 * ending is the profile's unit, which is also the name of a type. */
static spanprof_status ingest_speedscope_name(sp_ingest_upload *upload,
                                              const char *unit, sp_view *out) {
  const sp_view app = upload->name.app;
  const size_t size = app.size + 1 + strlen(unit);
  spanprof_status st;
  char *name;

  st = sp_raw_new(upload->arena, size + 1, 1, &name, upload->refusal);
  if (st)
    return st;
  memcpy(name, app.bytes, app.size);
  name[app.size] = '.';
  memcpy(name + app.size + 1, unit, strlen(unit));
  *out = sp_view_of(name, size);
  return SPANPROF_OK;
}

static spanprof_status ingest_speedscope_one(sp_ingest_upload *upload,
                                             const json_t *root, size_t i,
                                             sp_stack_list *list,
                                             sp_series_labels *labels) {
  sp_speedscope_profile profile;
  sp_view name = upload->name.app;
  uint64_t value_ns;
  spanprof_status st = sp_speedscope_read(root, i, &profile, list);

  if (!st && sp_speedscope_count(root) > 1)
    st = ingest_speedscope_name(upload, profile.unit, &name);
  if (!st)
    st = sp_series_labels_add(labels, sp_view_text("profile_name"),
                              profile.name);
  if (st)
    return st;
  /* A sample rate in the request overrides the unit. */
  value_ns = upload->rate == SP_INGEST_RATE_DEFAULT
                 ? (uint64_t)profile.value_ns
                 : ingest_text_period_ns(upload);
  return ingest_text_add(upload, list, name, value_ns, labels);
}

spanprof_status sp_ingest_speedscope(sp_ingest_upload *upload) {
  const sp_mem *mem = upload->arena->mem;
  void *placeholder;
  json_t *root;
  sp_series_labels labels;
  sp_stack_list list;
  spanprof_status st;
  size_t i;

  st = sp_speedscope_open(&root, mem, upload->body, &placeholder,
                          upload->refusal);
  for (i = 0; !st && i < sp_speedscope_count(root); i++) {
    sp_series_labels_init(&labels, mem);
    sp_stack_list_init(&list, upload->arena, upload->refusal);
    st = ingest_speedscope_one(upload, root, i, &list, &labels);
    sp_stack_list_dispose(&list);
    sp_series_labels_dispose(&labels);
  }
  json_decref(root);
  sp_mem_free(mem, placeholder);
  return st;
}
