/* The parameters of /ingest. */
#include "check.h"
#include "server/receive/ingest/ingest_query.h"
#include "server/receive/ingest/ingest_type.h"

#define NOW_NS INT64_C(1700000000000000000)

static void read_name(const char *name, sp_buffer *out) {
  sp_ingest_name parsed;
  sp_refusal refusal;

  sp_refusal_init(&refusal, &sp_mem_default);
  sp_buffer_clear(out);
  if (sp_ingest_name_read(&parsed, &sp_mem_default, sp_view_text(name),
                          &refusal)) {
    sp_buffer_text(out, sp_refusal_text(&refusal));
  } else {
    sp_buffer_append(out, parsed.app.bytes, parsed.app.size);
    sp_series_labels_print(&parsed.labels, out);
  }
  sp_ingest_name_dispose(&parsed);
  sp_refusal_dispose(&refusal);
}

static void names_of_agents_are_read(void) {
  static const char *const cases[][2] = {
      {"app.cpu{a=1,b=2}", "app.cpu{a=\"1\", b=\"2\"}"},
      {"app", "app{}"},
      {"app{}", "app{}"},
      {"app{a=1", "app{}"},
      {"app{a}", "app{}"},
      {"app{a=}", "app{a=\"\"}"},
      {" app { a = x y }", "app{a=\"x y\"}"},
      {"app{a=\"x\"}", "app{a=\"\\\"x\\\"\"}"},
      {"app{a=b=c}", "app{a=\"b=c\"}"},
      {"app{a=1,a=2}", "app{a=\"2\"}"},
      {"app{a=1}tail", "app{a=\"1\"}"},
      {"app{__name__=x}", "x{}"},
      {"", "name: service name is required"},
      {"a b", "name: invalid service name: a b: character is not allowed: ' '"},
      {"\xc3\xa9",
       "name: invalid service name: \xc3\xa9: character is not allowed: "
       "'\xc3\xa9'"},
      {"a{a-b=1}",
       "name: invalid label name: a-b: character is not allowed: '-'"},
      {"a{=1}", "name: label name is required"},
      {"a{a=1,2,b=3}",
       "name: invalid label name: 2,b: character is not allowed: ','"},
  };
  sp_buffer out;
  size_t i;

  sp_buffer_init(&out, &sp_mem_default);
  for (i = 0; i < SP_COUNT_OF(cases); i++) {
    read_name(cases[i][0], &out);
    CHECK_TEXT(out.data, cases[i][1]);
  }
  sp_buffer_dispose(&out);
}

static void times_of_clients_are_read(void) {
  static const struct {
    const char *text;
    int64_t time_ns;
  } cases[] = {{NULL, NOW_NS},
               {"", NOW_NS},
               {"0", 0},
               {"1600000000", INT64_C(1600000000000000000)},
               {"1600000000123", INT64_C(1600000000123000000)},
               {"1600000000123456", INT64_C(1600000000123456000)},
               {"1600000000123456789", INT64_C(1600000000123456789)},
               {"20200102", INT64_C(1577923200000000000)},
               {"now-20s", NOW_NS - INT64_C(20000000000)},
               {"now-1h30m", NOW_NS - INT64_C(5400000000000)},
               {"now+2d", NOW_NS + INT64_C(172800000000000)},
               {" now-1min ", NOW_NS - INT64_C(60000000000)},
               {"20201399", INT64_MAX},
               {"yesterday", NOW_NS},
               {"-5", NOW_NS},
               {"1.5", NOW_NS},
               {"now-99999999999999999999s", NOW_NS},
               {"99999999999999999999", INT64_MAX}};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(cases); i++)
    CHECK_EQUAL(sp_ingest_time(cases[i].text, NOW_NS), cases[i].time_ns);
}

static void invalid_rates_become_100(void) {
  CHECK_EQUAL(sp_ingest_rate(NULL), 100);
  CHECK_EQUAL(sp_ingest_rate("abc"), 100);
  CHECK_EQUAL(sp_ingest_rate("-1"), 100);
  CHECK_EQUAL(sp_ingest_rate("0"), 0);
  CHECK_EQUAL(sp_ingest_rate("1000"), 1000);
  CHECK_EQUAL(sp_ingest_rate("99999999999999999999"), 100);
}

static void the_end_of_a_name_is_its_type(void) {
  const sp_ingest_type *type;
  sp_refusal refusal;
  sp_view app;

  sp_refusal_init(&refusal, &sp_mem_default);
  CHECK(!sp_ingest_type_find(sp_view_text("a.b.lock_count"), &app, &type,
                             &refusal));
  CHECK(sp_view_is(app, "a.b"));
  CHECK_TEXT(type->metric, "block");
  CHECK_TEXT(type->type, "contentions");
  CHECK(!sp_ingest_type_find(sp_view_text("app"), &app, &type, &refusal));
  CHECK(sp_view_is(app, "app"));
  CHECK(type->is_time);
  CHECK(sp_ingest_type_find(sp_view_text("app.foo"), &app, &type, &refusal));
  CHECK(refusal.kind == SP_REFUSAL_INVALID);
  sp_refusal_dispose(&refusal);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"names_of_agents_are_read", names_of_agents_are_read},
      {"times_of_clients_are_read", times_of_clients_are_read},
      {"invalid_rates_become_100", invalid_rates_become_100},
      {"the_end_of_a_name_is_its_type", the_end_of_a_name_is_its_type},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
