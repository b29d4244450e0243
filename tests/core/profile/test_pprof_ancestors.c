/* Tests of the numeric labels in which samples name the ancestors of their
 * span. */
#include "profile_fixture.h"

#include "span/span.h"
#include "span/span_name.h"

static spanprof_span_rules *rules_of(int root_only, int add_name) {
  spanprof_span_rules_options options;
  spanprof_span_rules *rules;

  CHECK_EQUAL(spanprof_span_rules_options_init(&options, sizeof options),
              SPANPROF_OK);
  options.root_span_only = root_only;
  options.add_span_name = add_name;
  CHECK_EQUAL(spanprof_span_rules_new(&options, &rules), SPANPROF_OK);
  return rules;
}

/* Start the span `id` as a child of the span `id` - 1. Span 1 is a root. */
static spanprof_span start_span(const spanprof_span_rules *rules, uint8_t id,
                                const char *name) {
  spanprof_span_info info = {.struct_size = sizeof info,
                             .trace_id = {0xcc},
                             .span_id = {0xfe, 0, 0, 0, 0, 0, 0, id},
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = name,
                             .name_bytes = strlen(name)};
  spanprof_span span;

  memcpy(info.parent_id, info.span_id, sizeof info.parent_id);
  info.parent_id[7] = (uint8_t)(id - 1);
  if (id == 1)
    info.parent_id[0] = 0;
  CHECK_EQUAL(spanprof_span_start(rules, &info, &span), SPANPROF_OK);
  return span;
}

static void end_spans(const spanprof_span *spans, size_t count) {
  size_t i;

  for (i = 0; i < count; i++)
    spanprof_span_end(spans[i]);
  for (i = 0; i < 4; i++)
    sp_span_sweep();
}

static const sp_pprof_sample *sample_of(profile_fixture *fixture,
                                        spanprof_span span) {
  const sp_frame frame = fixture_method(1, 2);

  CHECK_EQUAL(fixture_start(fixture, &sp_mem_default), SPANPROF_OK);
  CHECK_EQUAL(fixture_add(fixture, &frame, 1, 0, span), SPANPROF_OK);
  CHECK_EQUAL(fixture_add(fixture, &frame, 1, 0, span), SPANPROF_OK);
  CHECK_EQUAL(fixture_encode(fixture), SPANPROF_OK);
  CHECK_EQUAL(fixture->part_count, 1);
  CHECK_EQUAL(fixture->parts[0]->sample_count, 1);
  return &fixture->parts[0]->samples[0];
}

/* Returns the numeric label number `n` of the sample, or NULL. */
static const sp_pprof_label *ancestor_of(const sp_pprof_sample *sample,
                                         size_t n) {
  uint32_t i;

  for (i = 0; i < sample->label_count; i++)
    if (!sample->labels[i].text && n-- == 0)
      return &sample->labels[i];
  return NULL;
}

static void check_ancestor(const sp_pprof_label *label, const char *key,
                           uint8_t id) {
  CHECK(label);
  CHECK_TEXT(label->key, key);
  CHECK_TEXT(label->unit, "");
  CHECK_EQUAL((uint64_t)label->number, UINT64_C(0xfe00000000000000) + id);
}

static void ancestors_are_ordered_nearest_first(void) {
  spanprof_span_rules *each = rules_of(0, 1);
  profile_fixture fixture;
  const sp_pprof_sample *sample;
  spanprof_span s[3];

  fixture_open(&fixture);
  s[0] = start_span(each, 1, "GET");
  s[1] = start_span(each, 2, "render");
  s[2] = start_span(each, 3, "render"); /* its parent has the same name */
  spanprof_span_rename(s[0], "GET /cart", 9);
  sample = sample_of(&fixture, s[2]);
  CHECK_TEXT(sp_pprof_label_text(sample, "profile_id"), "fe00000000000003");
  CHECK_TEXT(sp_pprof_label_text(sample, "span_name"), "render");
  CHECK_EQUAL(sample->label_count, 4);
  check_ancestor(ancestor_of(sample, 0), "ancestor:render", 2);
  check_ancestor(ancestor_of(sample, 1), "ancestor:GET /cart", 1);
  fixture_close(&fixture);
  sample = sample_of(&fixture, s[0]);
  CHECK(!ancestor_of(sample, 0));
  fixture_close(&fixture);
  end_spans(s, 3);
  spanprof_span_rules_free(each);
}

static void without_names_the_key_has_no_name(void) {
  spanprof_span_rules *nameless = rules_of(0, 0);
  profile_fixture fixture;
  const sp_pprof_sample *sample;
  spanprof_span s[2];

  fixture_open(&fixture);
  s[0] = start_span(nameless, 1, "GET");
  s[1] = start_span(nameless, 2, "render");
  sample = sample_of(&fixture, s[1]);
  CHECK_EQUAL(sample->label_count, 2);
  check_ancestor(ancestor_of(sample, 0), "ancestor:", 1);
  fixture_close(&fixture);
  end_spans(s, 2);
  spanprof_span_rules_free(nameless);
}

static void root_only_samples_have_no_ancestors(void) {
  spanprof_span_rules *root = rules_of(1, 1);
  profile_fixture fixture;
  spanprof_span s[2];

  fixture_open(&fixture);
  s[0] = start_span(root, 1, "GET");
  s[1] = start_span(root, 2, "render");
  CHECK(!ancestor_of(sample_of(&fixture, spanprof_span_carried(s[1])), 0));
  fixture_close(&fixture);
  end_spans(s, 2);
  spanprof_span_rules_free(root);
}

static void ancestors_are_the_sixteen_nearest(void) {
  spanprof_span_rules *each = rules_of(0, 1);
  profile_fixture fixture;
  const sp_pprof_sample *sample;
  spanprof_span s[40];
  uint8_t i;

  fixture_open(&fixture);
  for (i = 0; i < SP_COUNT_OF(s); i++)
    s[i] = start_span(each, i + 1, "step");
  sample = sample_of(&fixture, s[39]);
  for (i = 0; i < SP_SPAN_ANCESTORS_MAX; i++)
    check_ancestor(ancestor_of(sample, i), "ancestor:step", 39 - i);
  CHECK(!ancestor_of(sample, SP_SPAN_ANCESTORS_MAX));
  fixture_close(&fixture);
  end_spans(s, SP_COUNT_OF(s));
  spanprof_span_rules_free(each);
}

/* All ancestors have names of maximum length, so the profile needs many parts.
 * The fixture checks that each part is within the server's size limit. */
static void large_ancestors_need_more_parts(void) {
  spanprof_span_rules *each = rules_of(0, 1);
  static spanprof_span s[200];
  profile_fixture fixture;
  char name[3000];
  size_t i;

  fixture_open(&fixture);
  sp_span_names_max_set(SP_COUNT_OF(s) + 10);
  memset(name, 'n', sizeof name);
  name[sizeof name - 1] = '\0';
  for (i = 0; i < SP_COUNT_OF(s); i++) {
    snprintf(name, sizeof name, "%04zu", i);
    name[4] = 'n';
    s[i] = start_span(each, (uint8_t)(i + 1), name);
  }
  CHECK_EQUAL(fixture_start(&fixture, &sp_mem_default), SPANPROF_OK);
  for (i = 0; i < 15000; i++) {
    const sp_frame frame = fixture_method(1, 2 + i);

    CHECK_EQUAL(fixture_add(&fixture, &frame, 1, 0, s[i % SP_COUNT_OF(s)]),
                SPANPROF_OK);
  }
  CHECK_EQUAL(fixture_encode(&fixture), SPANPROF_OK);
  CHECK(fixture.part_count > 1);
  CHECK_EQUAL(fixture.samples, 15000);
  fixture_close(&fixture);
  end_spans(s, SP_COUNT_OF(s));
  sp_span_names_max_set(500);
  spanprof_span_rules_free(each);
}

static void scenario_of_failures(const sp_mem *mem) {
  spanprof_span_rules *each = rules_of(0, 1);
  profile_fixture fixture;
  spanprof_span s[5];
  uint8_t i;

  fixture_open(&fixture);
  for (i = 0; i < SP_COUNT_OF(s); i++)
    s[i] = start_span(each, i + 1, i % 2 ? "odd" : "even");
  if (fixture_start(&fixture, mem) == SPANPROF_OK) {
    const sp_frame frame = fixture_method(1, 2);
    uint64_t added = 0;

    for (i = 0; i < SP_COUNT_OF(s); i++)
      added += fixture_add(&fixture, &frame, 1, 0, s[i]) == SPANPROF_OK;
    if (fixture_encode(&fixture) == SPANPROF_OK && added == SP_COUNT_OF(s))
      CHECK(ancestor_of(&fixture.parts[0]->samples[4], 3));
    CHECK_EQUAL(fixture.samples, added);
  }
  fixture_close(&fixture);
  end_spans(s, SP_COUNT_OF(s));
  spanprof_span_rules_free(each);
}

static void every_allocation_may_fail(void) {
  failing_mem_sweep(scenario_of_failures);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"ancestors_are_ordered_nearest_first",
       ancestors_are_ordered_nearest_first},
      {"without_names_the_key_has_no_name", without_names_the_key_has_no_name},
      {"root_only_samples_have_no_ancestors",
       root_only_samples_have_no_ancestors},
      {"ancestors_are_the_sixteen_nearest", ancestors_are_the_sixteen_nearest},
      {"large_ancestors_need_more_parts", large_ancestors_need_more_parts},
      {"every_allocation_may_fail", every_allocation_may_fail},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
