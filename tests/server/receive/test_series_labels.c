/* The rules for the labels of a series. */
#include "check.h"
#include "server/receive/profile/series_labels.h"

/* Check the labels in `pairs`: names, each followed by its value, and NULL at
 * the end. `sentence` gets the message of the refusal, or "". */
static void check_labels(const char *const *pairs, char *sentence) {
  sp_series_labels labels;
  sp_refusal refusal;

  sp_series_labels_init(&labels, &sp_mem_default);
  sp_refusal_init(&refusal, &sp_mem_default);
  for (; *pairs; pairs += 2)
    CHECK(!sp_series_labels_add(&labels, sp_view_text(pairs[0]),
                                sp_view_text(pairs[1])));
  sp_series_labels_drop(&labels);
  CHECK_EQUAL(sp_series_labels_check(&labels, &sp_limits_pyroscope, &refusal) !=
                  SPANPROF_OK,
              refusal.kind != SP_REFUSAL_NONE);
  snprintf(sentence, 300, "%s", sp_refusal_text(&refusal));
  sp_refusal_dispose(&refusal);
  sp_series_labels_dispose(&labels);
}

static void the_violated_rule_is_reported(void) {
  static const struct {
    const char *pairs[9];
    const char *sentence;
  } cases[] = {
      {{"__name__", "cpu", "service_name", "a", "x.y z\"", "v"}, ""},
      {{"service_name", "a"},
       "invalid labels '{service_name=\"a\"}' with error: invalid metric name"},
      {{"__name__", "cpu", "service_name", ""},
       "invalid labels '{__name__=\"cpu\"}' with error: service name is not "
       "provided"},
      {{"__name__", "cpu", "service_name", "a", "k", "1", "k", "1"},
       "profile with labels '{__name__=\"cpu\", k=\"1\", k=\"1\", "
       "service_name=\"a\"}' has duplicate label name: 'k'"},
      {{"__name__", "cpu", "service_name", "a", "k", "", "k", "1"}, ""},
      {{"__name__", "cpu", "service_name", "a", "", "v"},
       "invalid labels '{=\"v\", __name__=\"cpu\", service_name=\"a\"}' with "
       "error: invalid label name ''"},
      {{"__name__", "cpu", "service_name", "a", "k", "\xff"},
       "invalid labels '{__name__=\"cpu\", k=\"\xff\", service_name=\"a\"}' "
       "with error: invalid label value '\xff'"},
      {{"__name__", "cpu", "service_name", "a", "__session_id__", "1"}, ""},
  };
  char sentence[300];
  size_t i;

  for (i = 0; i < SP_COUNT_OF(cases); i++) {
    check_labels(cases[i].pairs, sentence);
    CHECK_TEXT(sentence, cases[i].sentence);
  }
}

static void lengths_have_limits(void) {
  char value[2050], name[1026], sentence[300];
  const char *pairs[] = {"__name__", "cpu", "service_name", "a", "k",
                         value,      NULL};
  const char *names[] = {"__name__", "cpu", "service_name", "a", name,
                         "v",        NULL};

  memset(value, 'v', sizeof value);
  memset(name, 'n', sizeof name);
  value[2048] = name[1024] = '\0';
  check_labels(pairs, sentence);
  CHECK_TEXT(sentence, "");
  check_labels(names, sentence);
  CHECK_TEXT(sentence, "");
  value[2048] = 'v';
  value[2049] = name[1025] = '\0';
  name[1024] = 'n';
  check_labels(pairs, sentence);
  CHECK(*sentence);
  check_labels(names, sentence);
  CHECK(*sentence);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"the_violated_rule_is_reported", the_violated_rule_is_reported},
      {"lengths_have_limits", lengths_have_limits},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
