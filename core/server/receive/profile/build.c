#include "build.h"

#include <sys/random.h>

#include "build_text.h"
#include "profile/tables/module_name.h"
#include "raw_ids.h"
#include "server/receive/wire/hex_id.h"
#include "util/system/status.h"

#define BUILD_UNSEEN UINT32_MAX /* a location that has no number yet */

/* The sum of equal samples. */
typedef struct build_sample {
  sp_received_sample sample;
  int64_t *values; /* one sum for each distinct type */
  bool lost;
} build_sample;

typedef struct build {
  const sp_raw_profile *raw;
  const sp_series_labels *series;
  const sp_limits *limits;
  sp_refusal *refusal;
  sp_received *out;
  sp_arena arena; /* owns the arrays below */
  sp_raw_samples samples;
  sp_raw_ids mappings, locations, functions;
  uint32_t *numbers; /* the number that each location has in *out */
  /* The number that each text has in *out; 0: an empty text, or one that is not
   * used yet. */
  uint32_t *texts;
  uint32_t *stack; /* the stack of the current sample */
  size_t stack_capacity;
  uint32_t *kinds;   /* for each type, its index among the distinct types */
  size_t kind_count; /* number of distinct types */
  build_sample *merged;
  size_t merged_count, merged_capacity;
  sp_index merged_index;
  size_t negative_count;
} build;

static spanprof_status build_new(build *b, size_t count, size_t item,
                                 void *out) {
  return sp_raw_new(&b->arena, count, item, out, b->refusal);
}

static spanprof_status build_tables(build *b) {
  const sp_raw_profile *raw = b->raw;
  const sp_mem *mem = raw->arena->mem;
  spanprof_status st;
  size_t i;

  st = sp_raw_ids_init(&b->mappings, mem, raw->mappings, sizeof *raw->mappings,
                       raw->mapping_count);
  if (!st)
    st = sp_raw_ids_init(&b->locations, mem, raw->locations,
                         sizeof *raw->locations, raw->location_count);
  if (!st)
    st = sp_raw_ids_init(&b->functions, mem, raw->functions,
                         sizeof *raw->functions, raw->function_count);
  if (!st)
    st = build_new(b, raw->location_count, sizeof *b->numbers, &b->numbers);
  if (!st)
    st = build_new(b, raw->text_count, sizeof *b->texts, &b->texts);
  if (!st)
    st = build_new(b, raw->type_count, sizeof *b->kinds, &b->kinds);
  if (st)
    return st;
  for (i = 0; i < raw->location_count; i++)
    b->numbers[i] = BUILD_UNSEEN;
  return SPANPROF_OK;
}

static uint32_t build_text(build *b, int64_t text) {
  if (text < 0 || (uint64_t)text >= b->raw->text_count)
    return 0;
  if (!b->texts[text])
    b->texts[text] = sp_build_text(b->out, b->raw->texts[text]);
  return b->texts[text];
}

static const char *build_type_text(build *b, int64_t text) {
  return sp_received_text_of(b->out, build_text(b, text));
}

/* Add the types. Types with the same name and unit become one type, whose
 * values are summed. */
static void build_types(build *b) {
  const sp_raw_profile *raw = b->raw;
  size_t i, k;

  for (i = 0; i < raw->type_count && !b->out->st; i++) {
    const sp_raw_type *type = &raw->types[i];

    for (k = 0; k < i; k++)
      if (sp_view_equal(sp_raw_text(raw, type->type),
                        sp_raw_text(raw, raw->types[k].type)) &&
          sp_view_equal(sp_raw_text(raw, type->unit),
                        sp_raw_text(raw, raw->types[k].unit)))
        break;
    b->kinds[i] = k < i ? b->kinds[k] : (uint32_t)b->kind_count++;
    if (k == i)
      sp_received_add_type(b->out, build_type_text(b, type->type),
                           build_type_text(b, type->unit));
  }
}

/* Returns the path of a mapping, or "" if the mapping id is not in the table,
 * which counts as no mapping, as in go tool pprof. */
static sp_view build_module_path(build *b, uint64_t mapping) {
  const uint32_t at =
      mapping ? sp_raw_ids_find(&b->mappings, mapping) : SP_INDEX_NONE;

  return at == SP_INDEX_NONE ? sp_view_of("", 0)
                             : sp_raw_text(b->raw, b->raw->mappings[at].file);
}

/* Add the function that stands for a mapping's code that has no symbols. */
static uint32_t build_module(build *b, uint64_t mapping) {
  const sp_view path = build_module_path(b, mapping);
  char name[SP_MODULE_NAME_BYTES];
  const size_t size = sp_module_name(path.bytes, path.size, name);

  return sp_received_add_function(
      b->out, sp_build_text(b->out, sp_view_of(name, size)), 0, 0);
}

/* Add the file of a function. If the file is unknown, as in native code, the
 * last part of the mapping's path replaces it, as in `spanprof report`. */
static uint32_t build_file(build *b, const sp_raw_function *function,
                           uint64_t mapping) {
  sp_view path;
  size_t start;

  if (sp_raw_text(b->raw, function->file).size)
    return build_text(b, function->file);
  path = build_module_path(b, mapping);
  for (start = path.size; start > 0 && path.bytes[start - 1] != '/';)
    start--;
  return sp_build_text(b->out,
                       sp_view_of(path.bytes + start, path.size - start));
}

/* Add the name of a function. Go's names contain type arguments, which may
 * belong to another call (https://github.com/golang/go/issues/64528). They are
 * omitted, so that all instances are one function, as in Pyroscope. */
static uint32_t build_name(build *b, int64_t text) {
  static const char shape[] = "[go.shape.", left_out[] = "[...]";
  const sp_view name = sp_raw_text(b->raw, text);
  const char *from =
      name.size ? memmem(name.bytes, name.size, shape, strlen(shape)) : NULL;
  const char *last = from ? memrchr(name.bytes, ']', name.size) : NULL;
  uint32_t number = 0;
  sp_buffer short_name;

  if (!last || last < from)
    return build_text(b, text);
  sp_buffer_init(&short_name, b->arena.mem);
  sp_buffer_append(&short_name, name.bytes, (size_t)(from - name.bytes));
  sp_buffer_text(&short_name, left_out);
  sp_buffer_append(&short_name, last + 1,
                   (size_t)(name.bytes + name.size - last - 1));
  if (sp_buffer_status(&short_name))
    b->out->st = SPANPROF_ERR_NOMEM;
  else
    number =
        sp_build_text(b->out, sp_view_of(short_name.data, short_name.size));
  sp_buffer_dispose(&short_name);
  return number;
}

/* Add a function. If it is not in the table or has no name, the frame of its
 * module replaces it. */
static uint32_t build_function(build *b, uint64_t id, uint64_t mapping) {
  const uint32_t at = sp_raw_ids_find(&b->functions, id);
  const sp_raw_function *function =
      at == SP_INDEX_NONE ? NULL : &b->raw->functions[at];
  int64_t name;

  if (!function)
    return build_module(b, mapping);
  name = sp_raw_text(b->raw, function->name).size ? function->name
                                                  : function->system_name;
  if (!sp_raw_text(b->raw, name).size)
    return build_module(b, mapping);
  return sp_received_add_function(b->out, build_name(b, name),
                                  build_file(b, function, mapping),
                                  function->start_line);
}

/* Add a location to b->out and get its number. The added location has at least
 * one line. */
static spanprof_status build_location(build *b, const sp_raw_location *location,
                                      uint32_t *out) {
  const size_t count = location->line_count;
  sp_received_line *lines;
  spanprof_status st = build_new(b, count + 1, sizeof *lines, &lines);
  size_t i;

  for (i = 0; !st && i < count; i++)
    lines[i] = (sp_received_line){
        build_function(b, location->lines[i].function, location->mapping),
        location->lines[i].line};
  if (!st && !count)
    lines[0].function = build_module(b, location->mapping);
  if (!st)
    *out = sp_received_add_location(b->out, lines, count ? count : 1, 0);
  return st;
}

/* Build the stack of a sample. A location that is not in the table also becomes
 * a frame, so that its time is neither lost nor counted for its caller. */
static spanprof_status build_stack(build *b, const sp_raw_sample *sample,
                                   uint32_t *out) {
  static const sp_raw_location nowhere = {.id = 0};
  const size_t count = sp_min_u64(sample->location_count, b->limits->frames);
  const uint64_t *locations =
      sample->locations + (sample->location_count - count);
  spanprof_status st =
      sp_mem_reserve(b->arena.mem, (void **)&b->stack, &b->stack_capacity,
                     count, sizeof *b->stack);
  size_t i;

  for (i = 0; !st && i < count; i++) {
    const uint32_t at = sp_raw_ids_find(&b->locations, locations[i]);

    if (at == SP_INDEX_NONE) {
      st = build_location(b, &nowhere, &b->stack[i]);
      continue;
    }
    if (b->numbers[at] == BUILD_UNSEEN)
      st = build_location(b, &b->raw->locations[at], &b->numbers[at]);
    b->stack[i] = b->numbers[at];
  }
  if (!st)
    *out = sp_received_add_stack(b->out, b->stack, count);
  return st;
}

/* Add a label of a sample to `chosen`. If a name occurs twice, the label whose
 * value has the lower text number counts. A name that the series has as a label
 * is skipped. */
static void build_pair(build *b, const sp_raw_label *label,
                       const sp_raw_label **chosen, size_t *count) {
  const sp_view name = sp_raw_text(b->raw, label->key);
  size_t i;

  if (!name.size || !sp_raw_text(b->raw, label->text).size ||
      sp_series_labels_get(b->series, name).size ||
      sp_series_label_is_own(name))
    return;
  for (i = 0; i < *count; i++)
    if (sp_view_equal(sp_raw_text(b->raw, chosen[i]->key), name)) {
      if (label->text < chosen[i]->text)
        chosen[i] = label;
      return;
    }
  chosen[(*count)++] = label;
}

/* Get the span id, the trace id and the label set of a sample. */
static void build_labels(build *b, const sp_raw_sample *sample,
                         sp_received_sample *out) {
  const sp_raw_label *chosen[SP_RAW_LABELS_MAX];
  sp_received_pair pairs[SP_RAW_LABELS_MAX];
  size_t i, count = 0;

  for (i = 0; i < sample->label_count; i++) {
    const sp_raw_label *label = &sample->labels[i];
    const sp_view name = sp_raw_text(b->raw, label->key);
    const sp_view text = sp_raw_text(b->raw, label->text);

    if (!label->text)
      continue; /* a label with a number is ignored */
    if (sp_view_is(name, "span_id") || sp_view_is(name, "profile_id"))
      sp_hex_span_id(text, &out->span_id);
    else if (sp_view_is(name, "trace_id"))
      sp_hex_trace_id(text, &out->trace_hi, &out->trace_lo);
    else
      build_pair(b, label, chosen, &count);
  }
  for (i = 0; i < count; i++)
    pairs[i] = (sp_received_pair){build_text(b, chosen[i]->key),
                                  build_text(b, chosen[i]->text)};
  out->labels = sp_received_add_labels(b->out, pairs, count);
}

static uint64_t build_hash(const sp_received_sample *sample) {
  uint64_t hash = sp_hash_mix(SP_HASH_SEED, sample->stack);

  hash = sp_hash_mix(hash, sample->labels);
  hash = sp_hash_mix(hash, sample->span_id);
  hash = sp_hash_mix(hash, sample->trace_hi);
  return sp_hash_mix(hash, sample->trace_lo);
}

static bool build_equal(const sp_received_sample *a,
                        const sp_received_sample *b) {
  return a->stack == b->stack && a->labels == b->labels &&
         a->span_id == b->span_id && a->trace_hi == b->trace_hi &&
         a->trace_lo == b->trace_lo;
}

/* Get the merged sample with the same stack, labels and ids, or add a new
 * one. */
static spanprof_status build_find(build *b, const sp_received_sample *sample,
                                  build_sample **out) {
  const uint64_t hash = build_hash(sample);
  spanprof_status st;
  uint32_t i, at;

  for (i = sp_index_first(&b->merged_index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&b->merged_index, hash, &at))
    if (build_equal(&b->merged[i].sample, sample)) {
      *out = &b->merged[i];
      return SPANPROF_OK;
    }
  st = sp_index_reserve(&b->merged_index, b->arena.mem);
  if (!st)
    st = sp_mem_reserve(b->arena.mem, (void **)&b->merged, &b->merged_capacity,
                        b->merged_count + 1, sizeof *b->merged);
  if (st)
    return st;
  sp_index_add(&b->merged_index, hash, (uint32_t)b->merged_count);
  *out = &b->merged[b->merged_count++];
  **out = (build_sample){.sample = *sample};
  return build_new(b, b->kind_count, sizeof *(*out)->values, &(*out)->values);
}

/* Returns whether no value of the sample is positive. Negative values, which a
 * difference of profiles has, are counted in negative_count and treated as
 * 0. */
static bool build_is_empty(build *b, const sp_raw_sample *raw) {
  bool any = false;
  size_t i;

  for (i = 0; i < b->raw->type_count; i++) {
    any |= raw->values[i] > 0;
    b->negative_count += raw->values[i] < 0;
  }
  return !any;
}

static spanprof_status build_add(build *b, const sp_raw_sample *raw) {
  sp_received_sample sample = {0};
  build_sample *merged;
  spanprof_status st;
  size_t i;

  if (build_is_empty(b, raw))
    return SPANPROF_OK;
  st = build_stack(b, raw, &sample.stack);
  if (st)
    return st;
  build_labels(b, raw, &sample);
  if (b->out->st)
    return SPANPROF_OK; /* the caller checks b->out->st at the end */
  st = build_find(b, &sample, &merged);
  for (i = 0; !st && i < b->raw->type_count; i++) {
    int64_t *value = &merged->values[b->kinds[i]];

    if (raw->values[i] > 0 &&
        __builtin_add_overflow(*value, raw->values[i], value)) {
      merged->lost = true;
      *value = INT64_MAX;
    }
  }
  return st;
}

/* Add all merged samples to b->out. As in Pyroscope, a sample whose sum
 * overflowed is omitted, but its series exists. */
static void build_samples(build *b) {
  size_t i;

  for (i = 0; i < b->merged_count; i++) {
    if (b->merged[i].lost)
      b->merged[i].sample.stack = 0;
    sp_received_add_sample(b->out, &b->merged[i].sample, b->merged[i].values);
  }
}

/* Check the labels of the series for a label set of samples: the labels of the
 * upload and those of the set. */
static spanprof_status build_check_set(build *b, uint32_t set,
                                       sp_series_labels *all) {
  const sp_received_labels *labels = &b->out->label_sets[set];
  spanprof_status st = SPANPROF_OK;
  size_t i;

  sp_series_labels_clear(all);
  for (i = 0; !st && i < b->series->count; i++)
    st = sp_series_labels_add(all, b->series->labels[i].name,
                              b->series->labels[i].value);
  for (i = 0; !st && i < labels->count; i++) {
    const sp_received_pair *pair = &b->out->pairs[labels->first + i];
    const sp_received_text *name = &b->out->texts[pair->name];
    const sp_received_text *value = &b->out->texts[pair->value];

    st = sp_series_labels_add(all, sp_view_of(name->bytes, name->size),
                              sp_view_of(value->bytes, value->size));
  }
  if (st)
    return st;
  sp_series_labels_sort(all);
  return sp_series_labels_check(all, b->limits, b->refusal);
}

static spanprof_status build_check_sets(build *b) {
  spanprof_status st = SPANPROF_OK;
  sp_series_labels all;
  uint8_t *seen;
  size_t i;

  sp_series_labels_init(&all, b->arena.mem);
  st = build_new(b, b->out->label_set_count, 1, &seen);
  for (i = 0; !st && i < b->merged_count; i++) {
    const uint32_t set = b->merged[i].sample.labels;

    if (!seen[set])
      st = build_check_set(b, set, &all);
    seen[set] = 1;
  }
  sp_series_labels_dispose(&all);
  return st;
}

/* Set the profile's id. Processes that were forked together may send equal
 * profiles for the same second. Therefore, a profile whose time is in whole
 * seconds is also identified by the id that its sender gives it. A profile
 * without such an id gets a random one, so it is never treated as a retry. */
static spanprof_status build_identity(build *b) {
  uint64_t *id = &b->out->upload_id;

  if (b->out->time_ns % (int64_t)SP_NS_PER_S)
    return SPANPROF_OK;
  *id = b->raw->upload_id;
  if (!*id && getrandom(id, sizeof *id, 0) != (ssize_t)sizeof *id)
    return sp_fail(SPANPROF_ERR_SYSTEM, "the system has no random numbers");
  return SPANPROF_OK;
}

static spanprof_status build_head(build *b) {
  sp_received_pair pairs[SP_LIMITS_LABELS_MAX];
  const sp_raw_profile *raw = b->raw;
  size_t i, count = 0;

  if (raw->has_period_type) {
    b->out->period_type.type = build_text(b, raw->period_type.type);
    b->out->period_type.unit = build_text(b, raw->period_type.unit);
  }
  b->out->period = raw->period;
  b->out->time_ns = raw->time_ns;
  b->out->duration_ns = raw->duration_ns;
  for (i = 0; i < b->series->count; i++) {
    const sp_series_label *label = &b->series->labels[i];

    if (sp_series_label_is_own(label->name))
      continue;
    pairs[count].name = sp_build_text(b->out, label->name);
    pairs[count++].value = sp_build_text(b->out, label->value);
  }
  b->out->series = sp_received_add_labels(b->out, pairs, count);
  return build_identity(b);
}

static size_t build_bytes(const build *b) {
  return b->out->table_bytes + b->out->arena.bytes + b->arena.bytes +
         b->merged_capacity * sizeof *b->merged +
         sp_index_bytes(&b->merged_index);
}

static spanprof_status build_run(build *b, size_t *next) {
  spanprof_status st = build_tables(b);

  if (!st)
    build_types(b);
  while (!st && !b->out->st && *next < b->raw->sample_count) {
    const sp_raw_sample *sample = sp_raw_samples_at(&b->samples, (*next)++);

    st = sample ? build_add(b, sample) : SPANPROF_ERR_NOMEM;
    if (build_bytes(b) >= b->limits->part_bytes)
      break;
  }
  if (!st)
    st = sp_received_status(b->out);
  if (!st && b->merged_count)
    st = build_check_sets(b);
  if (st || !b->merged_count)
    return st;
  st = build_head(b);
  build_samples(b);
  return st ? st : sp_received_status(b->out);
}

static void build_dispose(build *b) {
  const sp_mem *mem = b->arena.mem;

  sp_raw_ids_dispose(&b->mappings);
  sp_raw_ids_dispose(&b->locations);
  sp_raw_ids_dispose(&b->functions);
  sp_index_dispose(&b->merged_index, mem);
  sp_mem_free(mem, b->merged);
  sp_mem_free(mem, b->stack);
  sp_raw_samples_dispose(&b->samples);
  sp_arena_dispose(&b->arena);
}

spanprof_status sp_build(sp_received **out, const sp_raw_profile *profile,
                         const sp_series_labels *labels,
                         const sp_limits *limits, size_t *next,
                         size_t *negative_count, sp_refusal *refusal) {
  const sp_mem *mem = profile->arena->mem;
  build b = {
      .raw = profile, .series = labels, .limits = limits, .refusal = refusal};
  spanprof_status st;

  *out = NULL;
  sp_arena_init(&b.arena, mem, SIZE_MAX);
  sp_raw_samples_init(&b.samples, profile);
  st = sp_received_new(&b.out, mem, SIZE_MAX / 4);
  if (!st)
    st = build_run(&b, next);
  *negative_count += b.negative_count;
  if (!st && b.merged_count)
    *out = b.out;
  else
    sp_received_free(b.out);
  build_dispose(&b);
  return st;
}
