/* Tests of the profile checker (pprof_rules.c): each rule detects its
 * violation. */
#include "pprof_rules.h"

#include <stdbool.h>

#include <profile.pb-c.h>
#include <zlib.h>

#include "check.h"

#define COUNT_OF(a) (sizeof(a) / sizeof(a)[0])

/* A valid profile with two samples, which model_break() modifies. */
typedef struct model {
  Perftools__Profiles__Profile profile;
  Perftools__Profiles__ValueType type, *types[2];
  Perftools__Profiles__Sample sample[2], *samples[2];
  Perftools__Profiles__Label label[3], *labels[3];
  Perftools__Profiles__Location location, *locations[1];
  Perftools__Profiles__Line line, *lines[1];
  Perftools__Profiles__Function function, *functions[1];
  Perftools__Profiles__Mapping mapping, *mappings[1];
  char *texts[8];
  uint64_t id;
  int64_t values[2];
} model;

enum { TEXT_NONE, TEXT_CPU, TEXT_NS, TEXT_PROFILE_ID, TEXT_HEX, TEXT_NAME };

static void model_links(model *m) {
  m->types[0] = m->types[1] = &m->type;
  m->profile.sample_type = m->types;
  m->profile.period_type = &m->type;
  m->samples[0] = &m->sample[0];
  m->samples[1] = &m->sample[1];
  m->profile.sample = m->samples;
  m->sample[0].label = m->labels;
  m->labels[0] = &m->label[0];
  m->labels[1] = &m->label[1];
  m->labels[2] = &m->label[2];
  m->sample[0].location_id = m->sample[1].location_id = &m->id;
  m->sample[0].value = &m->values[0];
  m->sample[1].value = &m->values[1];
  m->locations[0] = &m->location;
  m->profile.location = m->locations;
  m->lines[0] = &m->line;
  m->location.line = m->lines;
  m->functions[0] = &m->function;
  m->profile.function = m->functions;
  m->mappings[0] = &m->mapping;
  m->profile.mapping = m->mappings;
  m->profile.string_table = m->texts;
}

static void model_init(model *m) {
  static char *const texts[] = {(char *)"",
                                (char *)"cpu",
                                (char *)"nanoseconds",
                                (char *)"profile_id",
                                (char *)"deadbeef00010203",
                                (char *)"work",
                                (char *)"span_id",
                                (char *)"ancestor:work"};

  memset(m, 0, sizeof *m);
  perftools__profiles__profile__init(&m->profile);
  perftools__profiles__value_type__init(&m->type);
  perftools__profiles__sample__init(&m->sample[0]);
  perftools__profiles__sample__init(&m->sample[1]);
  perftools__profiles__label__init(&m->label[0]);
  perftools__profiles__label__init(&m->label[1]);
  perftools__profiles__label__init(&m->label[2]);
  perftools__profiles__location__init(&m->location);
  perftools__profiles__line__init(&m->line);
  perftools__profiles__function__init(&m->function);
  perftools__profiles__mapping__init(&m->mapping);
  model_links(m);
  memcpy(m->texts, texts, sizeof texts);
  m->profile.n_string_table = COUNT_OF(texts);
  m->profile.n_sample_type = 1;
  m->profile.n_sample = 2;
  m->profile.n_location = m->profile.n_function = m->profile.n_mapping = 1;
  m->profile.period = m->profile.time_nanos = m->profile.duration_nanos = 1;
  m->type.type = TEXT_CPU;
  m->type.unit = TEXT_NS;
  m->id = m->location.id = m->function.id = m->mapping.id = 1;
  m->location.mapping_id = m->line.function_id = 1;
  m->location.n_line = 1;
  m->function.name = TEXT_NAME;
  m->mapping.has_functions = 1;
  m->values[0] = m->values[1] = 10;
  m->sample[0].n_location_id = m->sample[1].n_location_id = 1;
  m->sample[0].n_value = m->sample[1].n_value = 1;
  m->sample[0].n_label = 1;
  m->label[0].key = TEXT_PROFILE_ID;
  m->label[0].str = TEXT_HEX;
}

static const char *broken(const model *m, pprof_rules_sums *sums) {
  const size_t size = protobuf_c_message_get_packed_size(&m->profile.base);
  uint8_t *raw = malloc(size), *packed;
  z_stream z = {.zalloc = Z_NULL};
  const char *broken_rule;
  uLong bound;

  CHECK(raw);
  protobuf_c_message_pack(&m->profile.base, raw);
  CHECK(deflateInit2(&z, 1, Z_DEFLATED, MAX_WBITS + 16, 8,
                     Z_DEFAULT_STRATEGY) == Z_OK);
  bound = deflateBound(&z, size);
  packed = malloc(bound);
  CHECK(packed);
  z.next_in = raw;
  z.avail_in = (uInt)size;
  z.next_out = packed;
  z.avail_out = (uInt)bound;
  CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
  broken_rule = pprof_rules_broken(packed, z.total_out, sums);
  deflateEnd(&z);
  free(packed);
  free(raw);
  return broken_rule;
}

static void valid_profile_breaks_no_rule(void) {
  pprof_rules_sums sums;
  model m;

  model_init(&m);
  CHECK(!broken(&m, &sums));
  CHECK(sums.samples == 2 && sums.cpu_ns == 20 && sums.time_ns == 1);
  CHECK(sums.raw_bytes == protobuf_c_message_get_packed_size(&m.profile.base));
}

/* Modify the model so that it violates the rule number `way`. Returns false if
 * there is no such rule. */
static bool model_break(model *m, int way) {
  static char bad_utf8[] = "\xc3(";

  switch (way) {
  case 0:
    m->texts[0] = (char *)"x";
    break;
  case 1:
    m->texts[5] = bad_utf8;
    break;
  case 2:
    m->profile.n_sample_type = 2;
    break;
  case 3:
    m->type.unit = TEXT_CPU;
    break;
  case 4:
    m->profile.period_type = NULL;
    break;
  case 5:
    m->profile.period = 0;
    break;
  case 6:
    m->profile.time_nanos = 0;
    break;
  case 7:
    m->function.id = 2;
    break;
  case 8:
    m->function.name = TEXT_NONE;
    break;
  case 9:
    m->function.filename = 99;
    break;
  case 10:
    m->mapping.id = 7;
    break;
  case 11:
    m->mapping.has_functions = 0;
    break;
  case 12:
    m->mapping.build_id = -1;
    break;
  case 13:
    m->location.id = 3;
    break;
  case 14:
    m->location.n_line = 0;
    break;
  case 15:
    m->location.mapping_id = 2;
    break;
  case 16:
    m->line.function_id = 2;
    break;
  case 17:
    m->profile.n_sample = 0;
    break;
  case 18:
    m->values[1] = 0;
    break;
  case 19:
    m->values[1] = -1;
    break;
  case 20:
    m->sample[1].n_value = 0;
    break;
  case 21:
    m->sample[1].n_location_id = 0;
    break;
  case 22:
    m->id = 2;
    break;
  case 23:
    m->label[0].key = TEXT_NONE;
    break;
  case 24:
    m->label[0].str = TEXT_NAME;
    break; /* not 16 hex digits */
  case 25:
    m->label[0].num = 5;
    break;
  case 26:
    m->label[0].str = 99;
    break;
  case 27:
    m->sample[0].n_label = 0;
    break; /* both samples are identical */
  case 28: /* duplicate label */
    m->sample[0].n_label = 2;
    m->label[1] = m->label[0];
    break;
  case 29: /* both profile_id and span_id */
    m->sample[0].n_label = 2;
    m->label[1].key = 6;
    m->label[1].str = TEXT_HEX;
    break;
  case 30: /* numeric label that is not an ancestor's */
    m->sample[0].n_label = 2;
    m->label[1].key = TEXT_NAME;
    m->label[1].num = 5;
    break;
  case 31: /* an ancestor without a span */
    m->label[0].key = 7;
    m->label[0].str = TEXT_NONE;
    m->label[0].num = 5;
    break;
  default:
    return false;
  }
  return true;
}

static void each_invalid_profile_breaks_a_rule(void) {
  model m;
  int way;

  model_init(&m);
  for (way = 0; model_break(&m, way); way++) {
    const char *broken_rule = broken(&m, NULL);

    fprintf(stderr, "  %d: %s\n", way, broken_rule ? broken_rule : "nothing");
    CHECK(broken_rule);
    model_init(&m);
  }
  CHECK_EQUAL(way, 32);
}

static void exceeded_limits_are_found(void) {
  static Perftools__Profiles__Sample *many[15001];
  char *large = malloc(3 << 20);
  size_t i;
  model m;

  CHECK(large);
  memset(large, 'x', (3 << 20) - 1);
  large[(3 << 20) - 1] = '\0';
  model_init(&m);
  m.texts[5] = large;
  CHECK(broken(&m, NULL));
  large[65536] = '\0';
  CHECK(broken(&m, NULL));
  large[65535] = '\0';
  CHECK(!broken(&m, NULL));
  model_init(&m);
  for (i = 0; i < COUNT_OF(many); i++)
    many[i] = &m.sample[0];
  m.profile.sample = many;
  m.profile.n_sample = COUNT_OF(many);
  CHECK_TEXT(
      broken(&m, NULL),
      "the profile has 15001 samples, which are too many for the server");
  free(large);
}

static void non_profiles_are_found(void) {
  CHECK(pprof_rules_broken("no gzip", 7, NULL));
  CHECK(pprof_rules_broken("", 0, NULL));
}

static const check_test tests[] = {
    {"valid_profile_breaks_no_rule", valid_profile_breaks_no_rule},
    {"each_invalid_profile_breaks_a_rule", each_invalid_profile_breaks_a_rule},
    {"exceeded_limits_are_found", exceeded_limits_are_found},
    {"non_profiles_are_found", non_profiles_are_found},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, COUNT_OF(tests));
}
