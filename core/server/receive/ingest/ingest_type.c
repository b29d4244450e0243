#include "ingest_type.h"

typedef struct ingest_suffix {
  const char *suffix;
  sp_ingest_type type;
} ingest_suffix;

static const ingest_suffix ingest_suffixes[] = {
    {"cpu", {"process_cpu", "samples", "count", true}},
    {"itimer", {"process_cpu", "samples", "count", true}},
    {"wall", {"wall", "samples", "count", true}},
    {"seconds", {"wall", "samples", "count", true}},
    {"milliseconds", {"wall", "samples", "count", true}},
    {"microseconds", {"wall", "samples", "count", true}},
    {"nanoseconds", {"wall", "samples", "count", true}},
    {"inuse_objects", {"memory", "inuse_objects", "count", false}},
    {"inuse_space", {"memory", "inuse_space", "bytes", false}},
    {"alloc_objects", {"memory", "alloc_objects", "count", false}},
    {"alloc_space", {"memory", "alloc_space", "bytes", false}},
    {"alloc_in_new_tlab_objects",
     {"memory", "alloc_in_new_tlab_objects", "count", false}},
    {"alloc_in_new_tlab_bytes",
     {"memory", "alloc_in_new_tlab_bytes", "bytes", false}},
    {"alloc_outside_tlab_objects",
     {"memory", "alloc_outside_tlab_objects", "count", false}},
    {"alloc_outside_tlab_bytes",
     {"memory", "alloc_outside_tlab_bytes", "bytes", false}},
    {"live", {"memory", "live", "count", false}},
    {"bytes", {"memory", "samples", "bytes", false}},
    {"goroutines", {"goroutine", "goroutines", "count", false}},
    {"mutex_count", {"mutex", "contentions", "count", false}},
    {"mutex_duration", {"mutex", "delay", "nanoseconds", false}},
    {"block_count", {"block", "contentions", "count", false}},
    {"block_duration", {"block", "delay", "nanoseconds", false}},
    {"lock_count", {"block", "contentions", "count", false}},
    {"lock_duration", {"block", "delay", "nanoseconds", false}},
    {"exceptions", {"exceptions", "samples", "count", false}},
};

spanprof_status sp_ingest_type_find(sp_view name, sp_view *app,
                                    const sp_ingest_type **out,
                                    sp_refusal *refusal) {
  const char *dot = name.size ? memrchr(name.bytes, '.', name.size) : NULL;
  sp_view suffix = sp_view_text("cpu");
  size_t i;

  *out = NULL;
  *app = name;
  if (dot) {
    *app = sp_view_of(name.bytes, (size_t)(dot - name.bytes));
    suffix = sp_view_of(dot + 1, name.size - app->size - 1);
  }
  for (i = 0; i < SP_COUNT_OF(ingest_suffixes); i++)
    if (sp_view_is(suffix, ingest_suffixes[i].suffix)) {
      *out = &ingest_suffixes[i].type;
      return SPANPROF_OK;
    }
  return sp_refuse(refusal, SP_REFUSAL_INVALID,
                   "pyroscopeIngesterAdapter failed to convert metadata: "
                   "unknown profile type: %.*s",
                   (int)sp_min_u64(suffix.size, 200), suffix.bytes);
}
