/* Files of speedscope, and the configuration of sample types. */
#include "pprof_message.h"
#include "server/receive/ingest/sample_config.h"
#include "server/receive/ingest/speedscope.h"

#define HEAD                                                             \
  "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"," \
  "\"shared\":{\"frames\":[{\"name\":\"main\"},{\"name\":\"leaf\"}]},"   \
  "\"profiles\":["
#define SAMPLED(unit, samples, weights)                        \
  HEAD "{\"type\":\"sampled\",\"name\":\"p\",\"unit\":\"" unit \
       "\",\"samples\":" samples ",\"weights\":" weights "}]}"
#define EVENTED(events)                                             \
  HEAD "{\"type\":\"evented\",\"name\":\"p\",\"unit\":\"seconds\"," \
       "\"startValue\":0,\"events\":" events "}]}"

/* Return the sum of the first profile in a file, in nanoseconds if the values
 * are times, or -1 if the file is refused. */
static int64_t sum_of(const char *text) {
  sp_speedscope_profile profile;
  void *placeholder = NULL;
  json_t *root = NULL;
  sp_stack_list list;
  int64_t sum = 0;
  pprof_case c;
  size_t i;

  pprof_case_init(&c, &sp_mem_default);
  sp_stack_list_init(&list, &c.arena, &c.refusal);
  if (sp_speedscope_open(&root, &sp_mem_default, sp_view_text(text),
                         &placeholder, &c.refusal) ||
      sp_speedscope_read(root, 0, &profile, &list)) {
    CHECK(c.refusal.kind == SP_REFUSAL_BROKEN);
    sum = -1;
  }
  for (i = 0; sum >= 0 && i < list.stack_count; i++)
    sum += (int64_t)list.stacks[i].value *
           (profile.value_ns ? profile.value_ns : 1);
  sp_stack_list_dispose(&list);
  json_decref(root);
  sp_mem_free(&sp_mem_default, placeholder);
  pprof_case_dispose(&c);
  return sum;
}

static void samples_are_counted_in_their_unit(void) {
  CHECK_EQUAL(sum_of(SAMPLED("none", "[[0,1],[0]]", "[10,20]")), 300000000);
  CHECK_EQUAL(sum_of(SAMPLED("seconds", "[[0,1]]", "[0.02]")), 20000000);
  CHECK_EQUAL(sum_of(SAMPLED("nanoseconds", "[[0]]", "[7]")), 7);
  CHECK_EQUAL(sum_of(SAMPLED("bytes", "[[0]]", "[512]")), 512);
  CHECK_EQUAL(sum_of(SAMPLED("none", "[[]]", "[1e300]")), 0);
}

static void events_open_and_close_frames(void) {
  /* As in Pyroscope, the time before a call counts only a hundredth. */
  CHECK_EQUAL(sum_of(EVENTED("[{\"type\":\"O\",\"at\":0,\"frame\":0},"
                             "{\"type\":\"O\",\"at\":10,\"frame\":1},"
                             "{\"type\":\"C\",\"at\":20,\"frame\":1},"
                             "{\"type\":\"C\",\"at\":30,\"frame\":0}]")),
              INT64_C(20100000000));
}

static void inconsistent_files_are_refused(void) {
  static const char *const cases[] = {
      "",
      "{",
      "[]",
      "{}",
      "{\"$schema\":\"x\",\"profiles\":[]}",
      SAMPLED("none", "[[0]]", "[1,2]"),
      SAMPLED("none", "[[2]]", "[1]"),
      SAMPLED("none", "[[-1]]", "[1]"),
      SAMPLED("none", "[[\"a\"]]", "[1]"),
      SAMPLED("none", "[[0]]", "[-1]"),
      SAMPLED("apples", "[[0]]", "[1]"),
      HEAD "{\"type\":\"other\",\"unit\":\"none\"}]}",
      EVENTED("[{\"type\":\"C\",\"at\":0,\"frame\":0}]"),
      EVENTED("[{\"type\":\"O\",\"at\":5,\"frame\":0},"
              "{\"type\":\"C\",\"at\":1,\"frame\":0}]"),
      EVENTED("[{\"type\":\"O\",\"at\":0,\"frame\":0},"
              "{\"type\":\"C\",\"at\":1,\"frame\":1}]"),
      EVENTED("[{\"type\":\"X\",\"at\":0,\"frame\":0}]"),
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(cases); i++)
    CHECK_EQUAL(sum_of(cases[i]), -1);
}

/* Check the metric of a profile with this type. `text` is the configuration, or
 * NULL if the client has sent none. */
static void check_metric(const char *type, const char *text,
                         const char *expected) {
  message m = pprof_head(type, "v");
  sp_sample_config *config = NULL;
  pprof_case c;
  sp_view metric;

  m.out.data[3] = PPROF_KEY; /* the type of the values gets the name `type` */
  pprof_case_init(&c, &sp_mem_default);
  CHECK(!sp_raw_read(&c.raw, &c.arena, message_view(&m), &c.refusal));
  if (text)
    CHECK(!sp_sample_config_read(&config, &sp_mem_default, sp_view_text(text),
                                 &c.refusal));
  metric = sp_sample_config_metric(config, &c.raw);
  CHECK(sp_view_is(metric, expected));
  sp_sample_config_free(config);
  pprof_case_dispose(&c);
  message_free(&m);
}

static void metrics_are_named_by_their_types(void) {
  check_metric("cpu", NULL, "process_cpu");
  check_metric("samples", NULL, "process_cpu");
  check_metric("samples", "{}", "samples");
  check_metric("samples", "{\"samples\":{\"display-name\":\"cpu\",\"x\":1}}",
               "process_cpu");
  check_metric("delay", NULL, "mutex");
  check_metric("delay", "{\"delay\":{\"display-name\":\"block_duration\"}}",
               "block");
  check_metric("goroutine", NULL, "goroutines");
  check_metric("inuse_space", NULL, "memory");
  check_metric("wall", NULL, "wall");
  check_metric("widgets", NULL, "widgets");
}

static spanprof_status config_read(const char *text) {
  sp_sample_config *config;
  sp_refusal refusal;
  spanprof_status st;

  sp_refusal_init(&refusal, &sp_mem_default);
  st = sp_sample_config_read(&config, &sp_mem_default, sp_view_text(text),
                             &refusal);
  CHECK_EQUAL(st == SPANPROF_OK, config != NULL);
  CHECK_EQUAL(refusal.kind, st ? SP_REFUSAL_BROKEN : SP_REFUSAL_NONE);
  sp_sample_config_free(config);
  sp_refusal_dispose(&refusal);
  return st;
}

static void a_config_of_a_wrong_kind_is_refused(void) {
  static const char *const refused[] = {
      "{",
      "[]",
      "\"cpu\"",
      "{\"cpu\":1}",
      "{\"cpu\":[]}",
      "{\"cpu\":{\"units\":1}}",
      "{\"cpu\":{\"display-name\":true}}",
      "{\"cpu\":{\"aggregation\":{}}}",
      "{\"cpu\":{\"cumulative\":\"true\"}}",
      "{\"cpu\":{},\"wall\":{\"sampled\":1},\"x\":{}}",
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(refused); i++)
    CHECK(config_read(refused[i]));
  CHECK(!config_read("null"));
  CHECK(!config_read("{\"cpu\":null}"));
  CHECK(!config_read("{\"cpu\":{\"units\":\"samples\",\"display-name\":null,"
                     "\"aggregation\":\"sum\",\"cumulative\":false,"
                     "\"sampled\":true,\"colour\":1}}"));
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"samples_are_counted_in_their_unit", samples_are_counted_in_their_unit},
      {"events_open_and_close_frames", events_open_and_close_frames},
      {"inconsistent_files_are_refused", inconsistent_files_are_refused},
      {"metrics_are_named_by_their_types", metrics_are_named_by_their_types},
      {"a_config_of_a_wrong_kind_is_refused",
       a_config_of_a_wrong_kind_is_refused},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
