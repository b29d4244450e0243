#include "pprof_rules.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <profile.pb-c.h>
#include <zlib.h>

typedef Perftools__Profiles__Profile rules_profile;
typedef Perftools__Profiles__Sample rules_sample;
typedef Perftools__Profiles__Label rules_label;

/* The server's limit for one push (distributor.ingestion-burst-size-mb), minus
 * the space for 30 labels of the series. */
#define RULES_RAW_MAX     ((size_t)2 * 1024 * 1024 - 30 * (1024 + 2048))
#define RULES_SAMPLES_MAX 15000 /* lower than the server's limit of 16,000 */
#define RULES_DEPTH_MAX   1000
#define RULES_TEXT_MAX    65535
#define RULES_NAME_MAX    1024
#define RULES_VALUE_MAX   2048
/* The server allows 30 label names for a series, and 6 of them are in every
 * series of spanprof. */
#define RULES_PROMOTED_MAX  (30 - 6)
#define RULES_ANCESTOR      "ancestor:"
#define RULES_ANCESTORS_MAX 16

static char rules_sentence[256];

__attribute__((format(printf, 1, 2))) static const char *
rules_say(const char *format, ...) {
  va_list arguments;

  va_start(arguments, format);
  vsnprintf(rules_sentence, sizeof rules_sentence, format, arguments);
  va_end(arguments);
  return rules_sentence;
}

static bool rules_utf8(const char *text) {
  const unsigned char *p = (const unsigned char *)text;

  while (*p) {
    uint32_t c = *p, least = 0;
    int more = 0;

    if (c < 0x80) {
      p++;
      continue;
    }
    if ((c & 0xe0) == 0xc0)
      c &= 0x1f, more = 1, least = 0x80;
    else if ((c & 0xf0) == 0xe0)
      c &= 0x0f, more = 2, least = 0x800;
    else if ((c & 0xf8) == 0xf0)
      c &= 0x07, more = 3, least = 0x10000;
    else
      return false;
    for (p++; more; more--, p++) {
      if ((*p & 0xc0) != 0x80)
        return false;
      c = (c << 6) | (*p & 0x3f);
    }
    if (c < least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
      return false;
  }
  return true;
}

static const char *rules_text(const rules_profile *profile, int64_t index) {
  return index >= 0 && (size_t)index < profile->n_string_table
             ? profile->string_table[index]
             : NULL;
}

static const char *rules_texts(const rules_profile *profile) {
  size_t i;

  if (profile->n_string_table == 0 || *profile->string_table[0])
    return "string_table[0] is not empty";
  for (i = 0; i < profile->n_string_table; i++) {
    if (!rules_utf8(profile->string_table[i]))
      return rules_say("string %zu is not UTF-8", i);
    if (strlen(profile->string_table[i]) > RULES_TEXT_MAX)
      return rules_say("string %zu is longer than the server allows", i);
  }
  return NULL;
}

static bool rules_is_cpu(const rules_profile *profile,
                         const Perftools__Profiles__ValueType *type) {
  const char *name, *unit;

  if (!type)
    return false;
  name = rules_text(profile, type->type);
  unit = rules_text(profile, type->unit);
  return name && unit && !strcmp(name, "cpu") && !strcmp(unit, "nanoseconds");
}

static const char *rules_header(const rules_profile *profile) {
  size_t i;

  if (profile->n_sample_type != 1 ||
      !rules_is_cpu(profile, profile->sample_type[0]))
    return "the profile has sample types other than cpu/nanoseconds";
  if (!rules_is_cpu(profile, profile->period_type))
    return "the period type is not cpu/nanoseconds";
  if (profile->period <= 0 || profile->time_nanos <= 0 ||
      profile->duration_nanos < 0)
    return "the period, the time or the duration is invalid";
  for (i = 0; i < profile->n_comment; i++)
    if (!rules_text(profile, profile->comment[i]))
      return "a comment is not an index of the string table";
  if (!rules_text(profile, profile->default_sample_type) ||
      !rules_text(profile, profile->doc_url) || profile->drop_frames ||
      profile->keep_frames)
    return "default_sample_type or doc_url is no index of the string table, or "
           "drop_frames or keep_frames is set";
  return NULL;
}

static const char *rules_functions(const rules_profile *profile) {
  size_t i;

  for (i = 0; i < profile->n_function; i++) {
    const Perftools__Profiles__Function *function = profile->function[i];
    const char *name = rules_text(profile, function->name);

    if (function->id != i + 1)
      return rules_say("function number %zu has a different id", i + 1);
    if (!name || !*name)
      return rules_say("function %zu has no name", i + 1);
    if (!rules_text(profile, function->filename) ||
        !rules_text(profile, function->system_name))
      return rules_say("a string of function %zu is not in the string table",
                       i + 1);
  }
  return NULL;
}

static const char *rules_mappings(const rules_profile *profile) {
  size_t i;

  for (i = 0; i < profile->n_mapping; i++) {
    const Perftools__Profiles__Mapping *mapping = profile->mapping[i];

    if (mapping->id != i + 1)
      return rules_say("mapping number %zu has a different id", i + 1);
    if (!rules_text(profile, mapping->filename) ||
        !rules_text(profile, mapping->build_id))
      return rules_say("a string of mapping %zu is not in the string table",
                       i + 1);
    if (!mapping->has_functions)
      return rules_say("mapping %zu does not say that it has function names, "
                       "so a server would look them up",
                       i + 1);
  }
  return NULL;
}

/* Check the locations. The server drops a location without line and address, or
 * with an invalid line or mapping, together with its samples. It clears the
 * address of a location whose mapping has functions. */
static const char *rules_locations(const rules_profile *profile) {
  size_t i, j;

  for (i = 0; i < profile->n_location; i++) {
    const Perftools__Profiles__Location *location = profile->location[i];

    if (location->id != i + 1)
      return rules_say("location number %zu has a different id", i + 1);
    if (location->n_line == 0)
      return rules_say("location %zu has no line", i + 1);
    if (location->mapping_id > profile->n_mapping)
      return rules_say("location %zu has a mapping that does not exist", i + 1);
    for (j = 0; j < location->n_line; j++)
      if (location->line[j]->function_id == 0 ||
          location->line[j]->function_id > profile->n_function)
        return rules_say("location %zu has a function that does not exist",
                         i + 1);
  }
  return NULL;
}

static bool rules_hex(const char *text, size_t digits) {
  return strlen(text) == digits && strspn(text, "0123456789abcdef") == digits;
}

static const char *rules_label_text(const rules_profile *profile, size_t i,
                                    const rules_label *label) {
  const char *key = rules_text(profile, label->key);
  const char *text = rules_text(profile, label->str);

  if (!key || !text)
    return rules_say("a label of sample %zu is not in the string table", i);
  if (!*key || !*text || label->num || label->num_unit)
    return rules_say("a label of sample %zu is empty or a number", i);
  if (strlen(key) > RULES_NAME_MAX || strlen(text) > RULES_VALUE_MAX)
    return rules_say("label %.40s of sample %zu is too long", key, i);
  if ((!strcmp(key, "profile_id") && !rules_hex(text, 16)) ||
      (!strcmp(key, "trace_id") && !rules_hex(text, 32)))
    return rules_say("label %s of sample %zu has the invalid value %.40s", key,
                     i, text);
  return NULL;
}

/* Is the label a span's sampled local ancestor, the only kind of numeric
 * label? */
static bool rules_is_ancestor(const rules_profile *profile,
                              const rules_label *label) {
  const char *key = rules_text(profile, label->key);

  return key && !strncmp(key, RULES_ANCESTOR, strlen(RULES_ANCESTOR)) &&
         !label->str && label->num && !label->num_unit;
}

static const char *rules_labels(const rules_profile *profile, size_t i) {
  const rules_sample *sample = profile->sample[i];
  size_t j, k, promoted = 0, ids = 0, ancestors = 0;

  for (j = 0; j < sample->n_label; j++) {
    const char *broken = rules_label_text(profile, i, sample->label[j]);
    const char *key = rules_text(profile, sample->label[j]->key);
    bool id;

    if (rules_is_ancestor(profile, sample->label[j])) {
      ancestors++;
      continue;
    }
    if (broken)
      return broken;
    for (k = 0; k < j; k++)
      if (!strcmp(key, rules_text(profile, sample->label[k]->key)))
        return rules_say("sample %zu has the label %.40s twice", i, key);
    id = !strcmp(key, "profile_id") || !strcmp(key, "span_id");
    ids += id;
    promoted += !id;
  }
  if (ancestors > RULES_ANCESTORS_MAX || (ancestors && !ids))
    return rules_say(
        "sample %zu has %zu ancestors: too many, or it has no span id", i,
        ancestors);
  if (ids > 1)
    return rules_say("sample %zu has both profile_id and span_id", i);
  if (promoted > RULES_PROMOTED_MAX)
    return rules_say(
        "sample %zu has %zu labels, which are too many for the server", i,
        promoted);
  return NULL;
}

static const char *rules_samples(const rules_profile *profile,
                                 pprof_rules_sums *sums) {
  const char *broken;
  size_t i, j;

  if (profile->n_sample == 0)
    return "the profile has no samples";
  if (profile->n_sample > RULES_SAMPLES_MAX)
    return rules_say(
        "the profile has %zu samples, which are too many for the server",
        profile->n_sample);
  for (i = 0; i < profile->n_sample; i++) {
    const rules_sample *sample = profile->sample[i];

    if (sample->n_value != 1 || sample->value[0] <= 0)
      return rules_say("sample %zu has not exactly one positive value", i);
    if (sample->n_location_id == 0 || sample->n_location_id > RULES_DEPTH_MAX)
      return rules_say(
          "sample %zu has %zu frames: none, or too many for the server", i,
          sample->n_location_id);
    for (j = 0; j < sample->n_location_id; j++)
      if (sample->location_id[j] == 0 ||
          sample->location_id[j] > profile->n_location)
        return rules_say("sample %zu has a location that does not exist", i);
    broken = rules_labels(profile, i);
    if (broken)
      return broken;
    sums->cpu_ns += (uint64_t)sample->value[0];
  }
  sums->samples = profile->n_sample;
  return NULL;
}

/* The encoded sample without its value, to find samples that are equal. */
typedef struct rules_key {
  size_t size;
  uint8_t *bytes;
} rules_key;

static int rules_key_order(const void *a, const void *b) {
  const rules_key *x = a, *y = b;

  if (x->size != y->size)
    return x->size < y->size ? -1 : 1;
  return memcmp(x->bytes, y->bytes, x->size);
}

static const char *rules_repeats(const rules_profile *profile) {
  rules_key *keys = calloc(profile->n_sample, sizeof *keys);
  const char *broken = keys ? NULL : "out of memory";
  size_t i;

  for (i = 0; !broken && i < profile->n_sample; i++) {
    rules_sample bare = *profile->sample[i];

    bare.n_value = 0;
    keys[i].bytes = malloc(protobuf_c_message_get_packed_size(&bare.base));
    if (keys[i].bytes)
      keys[i].size = protobuf_c_message_pack(&bare.base, keys[i].bytes);
    else
      broken = "out of memory";
  }
  if (!broken)
    qsort(keys, profile->n_sample, sizeof *keys, rules_key_order);
  for (i = 1; !broken && i < profile->n_sample; i++)
    if (rules_key_order(&keys[i - 1], &keys[i]) == 0)
      broken = "two samples have the same stack and labels";
  for (i = 0; keys && i < profile->n_sample; i++)
    free(keys[i].bytes);
  free(keys);
  return broken;
}

static const char *rules_unpack(const void *bytes, size_t size, uint8_t *raw,
                                size_t *raw_size) {
  z_stream z;
  int answer;

  memset(&z, 0, sizeof z);
  if (inflateInit2(&z, MAX_WBITS + 16) != Z_OK)
    return "out of memory";
  z.next_in = (Bytef *)bytes;
  z.avail_in = (uInt)size;
  z.next_out = raw;
  z.avail_out = (uInt)*raw_size;
  answer = inflate(&z, Z_FINISH);
  *raw_size = z.total_out;
  inflateEnd(&z);
  if (answer == Z_BUF_ERROR || answer == Z_OK)
    return "the gzip data is truncated, or larger than the server's limit when "
           "decompressed";
  if (answer != Z_STREAM_END || z.avail_in)
    return "the data is not a single gzip member";
  return NULL;
}

const char *pprof_rules_broken(const void *bytes, size_t size,
                               pprof_rules_sums *sums) {
  size_t raw_size = RULES_RAW_MAX;
  uint8_t *raw = malloc(raw_size);
  rules_profile *profile = NULL;
  pprof_rules_sums unused;
  const char *broken;

  if (!sums)
    sums = &unused;
  memset(sums, 0, sizeof *sums);
  broken = raw ? rules_unpack(bytes, size, raw, &raw_size) : "out of memory";
  if (!broken) {
    profile = perftools__profiles__profile__unpack(NULL, raw_size, raw);
    if (!profile)
      broken = "the data is not a pprof message";
  }
  if (!broken)
    broken = rules_texts(profile);
  if (!broken)
    broken = rules_header(profile);
  if (!broken)
    broken = rules_functions(profile);
  if (!broken)
    broken = rules_mappings(profile);
  if (!broken)
    broken = rules_locations(profile);
  if (!broken)
    broken = rules_samples(profile, sums);
  if (!broken)
    broken = rules_repeats(profile);
  if (profile) {
    sums->time_ns = profile->time_nanos;
    perftools__profiles__profile__free_unpacked(profile, NULL);
  }
  sums->raw_bytes = raw_size;
  free(raw);
  return broken;
}
