#include "ingest_upload.h"

#include "sample_config.h"
#include "server/receive/profile/raw_fix.h"
#include "server/receive/wire/multipart.h"

/* The files of a form. If several files have the same name, the first one
 * counts. */
typedef struct ingest_form {
  sp_view profile;
  sp_view config;
  bool has_profile, has_config, has_previous;
} ingest_form;

static bool ingest_form_visit(void *data, sp_view name, sp_view content) {
  ingest_form *form = data;

  if (sp_view_is(name, "profile") && !form->has_profile) {
    form->profile = content;
    form->has_profile = true;
  } else if (sp_view_is(name, "sample_type_config") && !form->has_config) {
    form->config = content;
    form->has_config = true;
  } else if (sp_view_is(name, "prev_profile")) {
    form->has_previous = true;
  }
  return true;
}

static spanprof_status ingest_labels(const sp_ingest_upload *upload,
                                     sp_view metric, sp_series_labels *labels) {
  const sp_series_labels *given = &upload->name.labels;
  spanprof_status st;
  size_t i;

  st = sp_series_labels_add(labels, sp_view_text("__name__"), metric);
  if (!st)
    st = sp_series_labels_add(labels, sp_view_text("__delta__"),
                              sp_view_text("false"));
  if (!st)
    st = sp_series_labels_add(labels, sp_view_text("pyroscope_spy"),
                              upload->spy);
  if (!st && !sp_series_labels_get(given, sp_view_text("service_name")).size)
    st = sp_series_labels_add(labels, sp_view_text("service_name"),
                              upload->name.app);
  for (i = 0; !st && i < given->count; i++)
    if (!sp_view_starts(given->labels[i].name, "__"))
      st = sp_series_labels_add(labels, given->labels[i].name,
                                given->labels[i].value);
  return st;
}

static bool ingest_is_dotnet(const sp_ingest_upload *upload,
                             const sp_sample_config *config) {
  return sp_view_is(upload->spy, "dotnetspy") ||
         (sp_view_is(upload->spy, "unknown") &&
          sp_sample_config_has(config, "inuse-space"));
}

static spanprof_status ingest_profile(sp_ingest_upload *upload,
                                      const sp_sample_config *config,
                                      sp_view bytes, sp_series_labels *labels) {
  sp_refusal *refusal = upload->refusal;
  sp_raw_profile profile;
  spanprof_status st;

  st = sp_raw_read(&profile, upload->arena, bytes, refusal);
  if (st)
    return st;
  sp_raw_fix_time(&profile, upload->from_ns);
  st = sp_raw_fix_names(&profile, upload->spy, refusal);
  if (!st && ingest_is_dotnet(upload, config))
    st = sp_raw_fix_dotnet(&profile, refusal);
  if (!st)
    st = ingest_labels(upload, sp_sample_config_metric(config, &profile),
                       labels);
  return st ? st : sp_batch_add(upload->batch, &profile, labels, refusal);
}

static spanprof_status ingest_packed(sp_ingest_upload *upload,
                                     const sp_sample_config *config,
                                     sp_view packed) {
  const size_t max = upload->batch->serve->options->limits->profile_bytes;
  const sp_mem *mem = upload->arena->mem;
  sp_series_labels labels;
  sp_buffer unpacked;
  spanprof_status st;
  sp_view bytes;
  bool large;

  sp_series_labels_init(&labels, mem);
  sp_buffer_init(&unpacked, mem);
  st = sp_raw_unpack(packed, &unpacked, max, &bytes, &large, upload->refusal);
  if (!st && large)
    st = sp_refuse(upload->refusal, SP_REFUSAL_INVALID,
                   "decompressed size exceeds maximum allowed size of %zu "
                   "bytes",
                   max);
  if (!st)
    st = ingest_profile(upload, config, bytes, &labels);
  if (st)
    sp_raw_explain(packed, upload->refusal);
  sp_buffer_dispose(&unpacked);
  sp_series_labels_dispose(&labels);
  return st;
}

static spanprof_status ingest_form_read(sp_ingest_upload *upload,
                                        const char *type, ingest_form *form,
                                        sp_sample_config **config) {
  spanprof_status st = sp_multipart_files(type, upload->body, ingest_form_visit,
                                          form, upload->refusal);

  if (!st && form->has_previous)
    st = sp_refuse(upload->refusal, SP_REFUSAL_BROKEN,
                   "failed to parse pprof /ingest multipart form unsupported "
                   "client version. Please update github.com/grafana/"
                   "pyroscope-go to the latest version");
  if (!st && !form->has_profile)
    st = sp_refuse(upload->refusal, SP_REFUSAL_REQUEST,
                   "the form has no file in the field \"profile\"");
  if (!st && form->has_config)
    st = sp_sample_config_read(config, upload->arena->mem, form->config,
                               upload->refusal);
  return st;
}

spanprof_status sp_ingest_pprof(sp_ingest_upload *upload,
                                const char *form_type) {
  ingest_form form = {.profile = upload->body};
  sp_sample_config *config = NULL;
  spanprof_status st = SPANPROF_OK;

  if (form_type) {
    form.profile = sp_view_of("", 0);
    st = ingest_form_read(upload, form_type, &form, &config);
  }
  if (!st && form.profile.size)
    st = ingest_packed(upload, config, form.profile);
  sp_sample_config_free(config);
  return st;
}
