/* Tests of span rules: options, attributes, and the session's values. */
#include "check.h"
#include "failing_mem.h"

#include "span/span.h"
#include "span/span_rules.h"
#include "settings/settings.h"

#define NOW 1700000000

static char buffer[4096];
static char name_buffer[2048];

static sp_pair session_labels[] = {{"region", "eu"}, {"tier", "web"}};
static const sp_settings settings = {.mem = &sp_mem_default,
                                     .application_name = "checkout",
                                     .labels = session_labels,
                                     .label_count = 2,
                                     .server_address = "https://pyro.example",
                                     .span_names_max = 500};

static spanprof_span_rules_options options_new(void) {
  spanprof_span_rules_options options;

  CHECK_EQUAL(spanprof_span_rules_options_init(&options, sizeof options),
              SPANPROF_OK);
  return options;
}

static spanprof_span_rules *
rules_new(const spanprof_span_rules_options *options) {
  spanprof_span_rules *rules;

  CHECK_EQUAL(spanprof_span_rules_new(options, &rules), SPANPROF_OK);
  return rules;
}

static spanprof_span start(const spanprof_span_rules *rules, uint8_t id,
                           uint8_t parent) {
  spanprof_span_info info = {.struct_size = sizeof info,
                             .trace_id = {0x4b, 0xf9},
                             .span_id = {0, 0xf0, id},
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = "GET /a b",
                             .name_bytes = 8};
  spanprof_span span;

  if (parent) {
    info.parent_id[1] = 0xf0;
    info.parent_id[2] = parent;
  }
  CHECK_EQUAL(spanprof_span_start(rules, &info, &span), SPANPROF_OK);
  return span;
}

static const char *attribute(const spanprof_span_rules *rules,
                             spanprof_span span, spanprof_span_attribute of) {
  size_t length;

  CHECK_EQUAL(sp_span_attribute_at(rules, span, of, NOW, buffer, sizeof buffer,
                                   &length),
              SPANPROF_OK);
  CHECK_EQUAL(length, strlen(buffer));
  return buffer;
}

static void keys_are_those_of_pyroscope(void) {
  CHECK_TEXT(spanprof_span_attribute_key(SPANPROF_ATTRIBUTE_PROFILE_ID),
             "pyroscope.profile.id");
  CHECK_TEXT(spanprof_span_attribute_key(SPANPROF_ATTRIBUTE_URL),
             "pyroscope.profile.url");
  CHECK_TEXT(spanprof_span_attribute_key(SPANPROF_ATTRIBUTE_BASELINE_URL),
             "pyroscope.profile.baseline.url");
  CHECK_TEXT(spanprof_span_attribute_key(SPANPROF_ATTRIBUTE_DIFF_URL),
             "pyroscope.profile.diff.url");
  CHECK_TEXT(spanprof_span_attribute_key((spanprof_span_attribute)9), "");
}

static void only_spans_that_samples_carry_have_attributes(void) {
  spanprof_span root = start(NULL, 1, 0), child = start(NULL, 2, 1);
  int of;

  CHECK_EQUAL(sp_span_defaults_set(&settings), SPANPROF_OK);
  sp_span_links_open();
  CHECK_TEXT(attribute(NULL, root, SPANPROF_ATTRIBUTE_PROFILE_ID),
             "00f0010000000000");
  CHECK_TEXT(attribute(NULL, root, SPANPROF_ATTRIBUTE_URL),
             "https://pyro.example?query=checkout.cpu%7Bprofile_id%3D%22"
             "00f0010000000000%22%7D&from=1700000000&until=1700003600");
  for (of = SPANPROF_ATTRIBUTE_PROFILE_ID; of <= SPANPROF_ATTRIBUTE_DIFF_URL;
       of++) {
    CHECK_TEXT(attribute(NULL, child, (spanprof_span_attribute)of), "");
    CHECK_TEXT(attribute(NULL, 0, (spanprof_span_attribute)of), "");
  }
  /* These URLs are off by default. */
  CHECK_TEXT(attribute(NULL, root, SPANPROF_ATTRIBUTE_BASELINE_URL), "");
  CHECK_TEXT(attribute(NULL, root, SPANPROF_ATTRIBUTE_DIFF_URL), "");
  CHECK_EQUAL(sp_span_defaults_set(NULL), SPANPROF_OK);
  spanprof_span_end(root);
  spanprof_span_end(child);
}

/* For each set of rules: is a URL added before the server reports that it opens
 * links, and after that? */
static void a_url_is_added_only_if_it_can_be_opened(void) {
  spanprof_span_rules_options unset = options_new();
  const struct {
    int64_t add_url;
    const char *server_address;
    const char *url_template;
    bool before;
    bool after;
  } cases[] = {
      {SPANPROF_UNSET, NULL, NULL, false, true},
      {SPANPROF_URL_AUTO, NULL, NULL, false, true},
      {SPANPROF_URL_AUTO, "http://elsewhere", NULL, false, false},
      {SPANPROF_UNSET, NULL, "{server}/x", true, true},
      {1, NULL, NULL, true, true},
      {0, NULL, NULL, false, false},
      {0, NULL, "{server}/x", false, false},
  };
  size_t i;

  for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    spanprof_span_rules_options options = unset;
    spanprof_span_rules *rules;
    spanprof_span span;

    options.add_url = cases[i].add_url;
    options.server_address = cases[i].server_address;
    options.url_template = cases[i].url_template;
    rules = rules_new(&options);
    span = start(rules, (uint8_t)(0x20 + i), 0);
    CHECK_EQUAL(sp_span_defaults_set(&settings), SPANPROF_OK);
    CHECK_EQUAL(*attribute(rules, span, SPANPROF_ATTRIBUTE_URL) != 0,
                cases[i].before);
    sp_span_links_open();
    CHECK_EQUAL(*attribute(rules, span, SPANPROF_ATTRIBUTE_URL) != 0,
                cases[i].after);
    /* After the defaults are set for a new session, the server must report
     * again that it opens links. */
    CHECK_EQUAL(sp_span_defaults_set(&settings), SPANPROF_OK);
    CHECK_EQUAL(*attribute(rules, span, SPANPROF_ATTRIBUTE_URL) != 0,
                cases[i].before);
    CHECK_EQUAL(sp_span_defaults_set(NULL), SPANPROF_OK);
    spanprof_span_end(span);
    spanprof_span_rules_free(rules);
  }
}

static void without_a_session_there_is_an_id_but_no_url(void) {
  spanprof_span span = start(NULL, 3, 0);

  CHECK_TEXT(attribute(NULL, span, SPANPROF_ATTRIBUTE_PROFILE_ID),
             "00f0030000000000");
  CHECK_TEXT(attribute(NULL, span, SPANPROF_ATTRIBUTE_URL), "");
  spanprof_span_end(span);
}

static void baseline_joins_static_and_own_labels(void) {
  spanprof_span_rules_options options = options_new();
  spanprof_span_rules *rules;
  spanprof_span span;

  options.add_baseline_urls = 1;
  options.baseline_labels = "tier=api,host=a b";
  rules = rules_new(&options);
  span = start(rules, 4, 0);
  CHECK_EQUAL(sp_span_defaults_set(&settings), SPANPROF_OK);
  CHECK_TEXT(
      attribute(rules, span, SPANPROF_ATTRIBUTE_DIFF_URL),
      "https://pyro.example/comparison-diff?query=checkout.cpu%7Bregion%3D%22"
      "eu%22%2Ctier%3D%22api%22%2Chost%3D%22a+b%22%7D&from=1699996400"
      "&until=1700000000&leftQuery=checkout.cpu%7Bregion%3D%22eu%22%2Ctier%3D"
      "%22api%22%2Chost%3D%22a+b%22%7D&leftFrom=1699996400"
      "&leftUntil=1700000000&rightQuery=checkout.cpu%7Bprofile_id%3D%22"
      "00f0040000000000%22%7D&rightFrom=1700000000&rightUntil=1700003600");
  CHECK(strstr(attribute(rules, span, SPANPROF_ATTRIBUTE_BASELINE_URL),
               "https://pyro.example/comparison?query="));
  CHECK_EQUAL(sp_span_defaults_set(NULL), SPANPROF_OK);
  CHECK_TEXT(attribute(rules, span, SPANPROF_ATTRIBUTE_DIFF_URL), "");
  spanprof_span_end(span);
  spanprof_span_rules_free(rules);
}

static void own_values_replace_the_sessions(void) {
  spanprof_span_rules_options options = options_new();
  spanprof_span_rules *rules;
  spanprof_span span;

  options.application_name = "rideshare.cpu";
  options.server_address = "http://user:secret@localhost:4040";
  options.add_url = 1;
  rules = rules_new(&options);
  span = start(rules, 5, 0);
  CHECK_EQUAL(sp_span_defaults_set(&settings), SPANPROF_OK);
  CHECK_TEXT(attribute(rules, span, SPANPROF_ATTRIBUTE_URL),
             "http://localhost:4040?query=rideshare.cpu%7Bprofile_id%3D%22"
             "00f0050000000000%22%7D&from=1700000000&until=1700003600");
  options.add_url = 0;
  spanprof_span_rules_free(rules);
  rules = rules_new(&options);
  CHECK_TEXT(attribute(rules, span, SPANPROF_ATTRIBUTE_URL), "");
  CHECK_TEXT(attribute(rules, span, SPANPROF_ATTRIBUTE_PROFILE_ID),
             "00f0050000000000");
  CHECK_EQUAL(sp_span_defaults_set(NULL), SPANPROF_OK);
  spanprof_span_end(span);
  spanprof_span_rules_free(rules);
}

static void own_template_replaces_the_classic_form(void) {
  spanprof_span_rules_options options = options_new();
  spanprof_span_rules *rules;
  spanprof_span span;

  options.url_template = "{server}/x?n={span_name}&t={trace_id}&p={profile_id}";
  rules = rules_new(&options);
  span = start(rules, 6, 0);
  CHECK_TEXT(attribute(rules, span, SPANPROF_ATTRIBUTE_URL), "");
  CHECK_EQUAL(sp_span_defaults_set(&settings), SPANPROF_OK);
  CHECK_TEXT(attribute(rules, span, SPANPROF_ATTRIBUTE_URL),
             "https://pyro.example/x?n=GET%20%2Fa%20b"
             "&t=4bf90000000000000000000000000000&p=00f0060000000000");
  CHECK_EQUAL(sp_span_defaults_set(NULL), SPANPROF_OK);
  spanprof_span_end(span);
  spanprof_span_rules_free(rules);
}

static void small_buffer_reports_the_needed_size(void) {
  spanprof_span span = start(NULL, 7, 0);
  char text[17];
  size_t length;

  CHECK_EQUAL(spanprof_span_attribute_get(
                  NULL, span, SPANPROF_ATTRIBUTE_PROFILE_ID, text, 16, &length),
              SPANPROF_ERR_LIMIT);
  CHECK_EQUAL(length, 16);
  CHECK_TEXT(text, "");
  CHECK_EQUAL(spanprof_span_attribute_get(
                  NULL, span, SPANPROF_ATTRIBUTE_PROFILE_ID, NULL, 0, &length),
              SPANPROF_ERR_LIMIT);
  CHECK_EQUAL(length, 16);
  CHECK_EQUAL(spanprof_span_attribute_get(
                  NULL, span, SPANPROF_ATTRIBUTE_PROFILE_ID, text, 17, &length),
              SPANPROF_OK);
  CHECK_TEXT(text, "00f0070000000000");
  CHECK_EQUAL(spanprof_span_attribute_get(
                  NULL, span, (spanprof_span_attribute)4, text, 17, &length),
              SPANPROF_ERR_ARGUMENT);
  spanprof_span_end(span);
}

static void freed_rules_still_apply_to_their_spans(void) {
  spanprof_span_rules_options options = options_new();
  spanprof_span_rules *rules;
  sp_span_view view;
  spanprof_span s[3];

  options.add_trace_id = 1;
  options.legacy_span_label = 1;
  rules = rules_new(&options);
  s[0] = start(rules, 8, 0);
  spanprof_span_rules_free(rules);
  CHECK(sp_span_describe(s[0], name_buffer, sizeof name_buffer, &view));
  CHECK_TEXT(view.name_label, "span");
  CHECK_TEXT(view.trace_id, "4bf90000000000000000000000000000");
  CHECK_EQUAL(view.name_bytes, 8);
  options = options_new();
  options.add_span_name = 0;
  rules = rules_new(&options);
  s[1] = start(rules, 9, 0);
  CHECK(sp_span_describe(s[1], name_buffer, sizeof name_buffer, &view));
  CHECK(view.name == NULL);
  CHECK_TEXT(view.trace_id, "");
  s[2] = start(NULL, 10, 0);
  CHECK(sp_span_describe(s[2], name_buffer, sizeof name_buffer, &view));
  CHECK_TEXT(view.name_label, "span_name");
  CHECK(memcmp(view.name, "GET /a b", 8) == 0);
  CHECK_TEXT(view.profile_id, "00f00a0000000000");
  spanprof_span_rules_free(rules);
  spanprof_span_end(s[0]);
  spanprof_span_end(s[1]);
  spanprof_span_end(s[2]);
}

static void wrong_options_are_refused_by_name(void) {
  spanprof_span_rules_options good = options_new();
  struct {
    const char *name;
    spanprof_span_rules_options options;
  } cases[] = {
      {"root_span_only", good},   {"add_span_name", good},
      {"add_url", good},          {"add_baseline_urls", good},
      {"add_trace_id", good},     {"legacy_span_label", good},
      {"application_name", good}, {"application_name", good},
      {"server_address", good},   {"baseline_labels", good},
      {"baseline_labels", good},  {"baseline_labels", good},
      {"url_template", good},     {"url_template", good},
      {"struct_size", good},      {"struct_size", good},
      {"span_id_label", good},
  };
  size_t i;

  cases[0].options.root_span_only = 2;
  cases[1].options.add_span_name = -1;
  cases[2].options.add_url = 7;
  cases[3].options.add_baseline_urls = INT64_MAX;
  cases[4].options.add_trace_id = 100;
  cases[5].options.legacy_span_label = 3;
  cases[6].options.application_name = "";
  cases[7].options.application_name = "\xff";
  cases[8].options.server_address = "localhost:4040";
  cases[9].options.baseline_labels = "region";
  cases[10].options.baseline_labels = "a=1,bad-name=2";
  cases[11].options.baseline_labels = "a=\xc3";
  cases[12].options.url_template = "{server}/{nothing}";
  cases[13].options.url_template = "";
  cases[14].options.struct_size = sizeof good + 8;
  cases[15].options.struct_size = 0;
  cases[16].options.span_id_label = 2;
  for (i = 0; i < SP_COUNT_OF(cases); i++) {
    spanprof_span_rules *rules = (spanprof_span_rules *)&good;

    CHECK_EQUAL(spanprof_span_rules_new(&cases[i].options, &rules),
                SPANPROF_ERR_ARGUMENT);
    CHECK(rules == NULL);
    CHECK(strstr(spanprof_last_error(), cases[i].name));
  }
  CHECK_EQUAL(spanprof_span_rules_options_init(&good, sizeof good + 1),
              SPANPROF_ERR_ARGUMENT);
  CHECK_EQUAL(spanprof_span_rules_options_init(&good, 0),
              SPANPROF_ERR_ARGUMENT);
  spanprof_span_rules_free(NULL);
}

static void older_caller_gets_the_defaults_of_new_fields(void) {
  size_t size = offsetof(spanprof_span_rules_options, add_baseline_urls);
  spanprof_span_rules_options options;
  spanprof_span_rules *rules;

  memset(&options, 0x5a, sizeof options);
  CHECK_EQUAL(spanprof_span_rules_options_init(&options, size), SPANPROF_OK);
  CHECK_EQUAL(options.add_url, SPANPROF_UNSET);
  CHECK(options.add_baseline_urls == 0x5a5a5a5a5a5a5a5a);
  options.root_span_only = 0;
  CHECK_EQUAL(spanprof_span_rules_new(&options, &rules), SPANPROF_OK);
  CHECK(!rules->root_span_only && rules->add_url && !rules->add_baseline_urls);
  spanprof_span_rules_free(rules);
}

static void making(const sp_mem *mem) {
  spanprof_span_rules_options options = options_new();
  spanprof_span_rules *rules;
  sp_settings session = settings;
  spanprof_status st;

  options.application_name = "app";
  options.server_address = "http://u:p@h";
  options.baseline_labels = "a=1,b=2,a=3";
  options.url_template = "{server}/{{{app}?{query}&{from_ms}";
  st = sp_span_rules_make(&options, mem, &rules);
  CHECK(st == SPANPROF_OK || st == SPANPROF_ERR_NOMEM);
  CHECK((rules == NULL) == (st != SPANPROF_OK));
  if (rules) {
    CHECK_EQUAL(rules->baseline.count, 2);
    CHECK_TEXT(rules->baseline.pairs[0].value, "3");
  }
  spanprof_span_rules_free(rules);
  session.mem = mem;
  st = sp_span_defaults_set(&session);
  CHECK(st == SPANPROF_OK || st == SPANPROF_ERR_NOMEM);
  CHECK_EQUAL(sp_span_defaults_set(NULL), SPANPROF_OK);
}

static void every_allocation_may_fail(void) {
  failing_mem_sweep(making);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"keys_are_those_of_pyroscope", keys_are_those_of_pyroscope},
      {"only_spans_that_samples_carry_have_attributes",
       only_spans_that_samples_carry_have_attributes},
      {"a_url_is_added_only_if_it_can_be_opened",
       a_url_is_added_only_if_it_can_be_opened},
      {"without_a_session_there_is_an_id_but_no_url",
       without_a_session_there_is_an_id_but_no_url},
      {"baseline_joins_static_and_own_labels",
       baseline_joins_static_and_own_labels},
      {"own_values_replace_the_sessions", own_values_replace_the_sessions},
      {"own_template_replaces_the_classic_form",
       own_template_replaces_the_classic_form},
      {"small_buffer_reports_the_needed_size",
       small_buffer_reports_the_needed_size},
      {"freed_rules_still_apply_to_their_spans",
       freed_rules_still_apply_to_their_spans},
      {"wrong_options_are_refused_by_name", wrong_options_are_refused_by_name},
      {"older_caller_gets_the_defaults_of_new_fields",
       older_caller_gets_the_defaults_of_new_fields},
      {"every_allocation_may_fail", every_allocation_may_fail},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
