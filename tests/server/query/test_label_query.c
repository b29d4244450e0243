/* Prometheus' and classic Pyroscope's selectors, and the errors of invalid
 * ones. */
#include "check.h"

#include <server/query/selector/label_query.h>

typedef struct parsed {
  sp_arena arena;
  sp_matcher_list list;
  sp_query_fault fault;
  const char *type;
  spanprof_status st;
} parsed;

static void parse_into(parsed *p, const char *text) {
  memset(p, 0, sizeof *p);
  sp_arena_init(&p->arena, &sp_mem_default, 1 << 20);
  sp_matcher_list_init(&p->list, &sp_mem_default, &p->arena);
  p->st = sp_label_query_parse(&p->list, text, &p->type, &p->fault);
}

static void parsed_dispose(parsed *p) {
  sp_matcher_list_dispose(&p->list);
  sp_arena_dispose(&p->arena);
}

typedef struct refusal {
  const char *text;
  const char *message;
} refusal;

/* The expected messages are those of Pyroscope 2.2. */
static const refusal refusals[] = {
    {"", "unknown position: parse error: unexpected end of input"},
    {"{service_name=\"checkout\"",
     "1:25: parse error: unexpected end of input inside braces"},
    {"{service_name}", "1:14: parse error: unexpected \"}\" in label matching, "
                       "expected label matching operator"},
    {"{service_name==\"x\"}", "1:15: parse error: unexpected \"=\" in label "
                              "matching, expected string"},
    {"{{{", "1:2: parse error: unexpected left brace '{'"},
    {"{http.route=\"/x\"}",
     "1:6: parse error: unexpected character inside braces: '.'"},
    {"service_name=\"checkout\"", "1:13: parse error: unexpected \"=\""},
    {"{service_name=",
     "1:15: parse error: unexpected end of input inside braces"},
    {"{service_name=\"a\" or host=\"b\"}",
     "1:19: parse error: unexpected identifier \"or\" in label matching, "
     "expected \",\" or \"}\""},
    {"{service_name=~\"[\"}",
     "1:2: parse error: error parsing regexp: missing closing ]: `[`"},
    {"{a=\"b\",\n x=~\"*\"}", "2:2: parse error: error parsing regexp: missing "
                              "argument to repetition operator: `*`"},
    {"{a=\"b", "1:4: parse error: unterminated quoted string"},
    {"{a=\"\\q\"}", "1:4: parse error: invalid escape in a string"},
    {"{a=\"b\"} c", "1:9: parse error: unexpected identifier \"c\""},
    {"{,}", "1:2: parse error: unexpected \",\" in label matching, expected "
            "identifier or \"}\""},
    {"shop.cpu{", "1:10: parse error: unexpected end of input inside braces"},
};

static void an_error_has_a_column_and_the_message_of_pyroscope(void) {
  parsed p;
  size_t i;

  for (i = 0; i < SP_COUNT_OF(refusals); i++) {
    parse_into(&p, refusals[i].text);
    CHECK_EQUAL(SPANPROF_ERR_ARGUMENT, p.st);
    CHECK_TEXT(p.fault.message, refusals[i].message);
    CHECK_TEXT(p.fault.code, SP_CODE_INVALID);
    parsed_dispose(&p);
  }
  parse_into(&p, "{service_name}");
  CHECK_EQUAL(14, p.fault.column);
  parsed_dispose(&p);
}

static void a_name_that_needs_quotes_gets_a_hint(void) {
  static const struct {
    const char *text;
    const char *hint;
  } cases[] = {
      {"{a-b=\"x\"}", "{\"a-b\"=\"VALUE\"}"},
      {"shop.cpu{x=\"1\", http.route =~ \"x\"}", "{\"http.route\"=\"VALUE\"}"},
      {"{größe!=\"x\"}", "{\"größe\"=\"VALUE\"}"},
      {"{1a\\b}", "{\"1a\\\\b\"=\"VALUE\"}"},
      {"{a=\"x\"-b}", NULL},
      {"{a!b}", NULL},
      {"{a", NULL},
      {"{a b=\"x\"}", NULL},
      {"{/}", "{\"/\"=\"VALUE\"}"},
  };
  char text[300];
  parsed p;
  size_t i;

  for (i = 0; i < SP_COUNT_OF(cases); i++) {
    parse_into(&p, cases[i].text);
    CHECK_EQUAL(SPANPROF_ERR_ARGUMENT, p.st);
    snprintf(text, sizeof text, "put the name of the label in quotes, as in %s",
             cases[i].hint ? cases[i].hint : "");
    CHECK_TEXT(p.fault.hint, cases[i].hint ? text : "");
    CHECK(!strstr(p.fault.message, "quotes"));
    sp_query_fault_add_hint(&p.fault);
    CHECK_EQUAL(!cases[i].hint, !strstr(p.fault.message, text));
    parsed_dispose(&p);
  }
  memset(text, 'a', sizeof text);
  memcpy(text, "{a-", 3);
  text[sizeof text - 1] = '\0';
  parse_into(&p, text);
  CHECK_TEXT(p.fault.hint, "");
  parsed_dispose(&p);
}

static void matchers_are_read_as_written(void) {
  parsed p;

  parse_into(&p,
             " process_cpu { a=\"1\", b != 'x\\'\\u00e4', \"c.d\"=~`a\\.b`, "
             "a!~\"x|y\", } ");
  CHECK_EQUAL(SPANPROF_OK, p.st);
  CHECK_EQUAL(5, p.list.count);
  CHECK_TEXT(p.list.matchers[0].name, "__name__");
  CHECK_TEXT(p.list.matchers[0].value, "process_cpu");
  CHECK_TEXT(p.list.matchers[1].value, "1");
  CHECK_EQUAL(SP_MATCH_UNEQUAL, p.list.matchers[2].kind);
  CHECK_TEXT(p.list.matchers[2].value, "x'ä");
  CHECK_TEXT(p.list.matchers[3].name, "c.d");
  CHECK_TEXT(p.list.matchers[3].value, "a\\.b");
  CHECK(p.list.matchers[3].matches(&p.list.matchers[3], "a.b", 3));
  CHECK(!p.list.matchers[3].matches(&p.list.matchers[3], "a.bc", 4));
  CHECK_EQUAL(SP_MATCH_NO_REGEX, p.list.matchers[4].kind);
  CHECK(!p.type);
  parsed_dispose(&p);
  parse_into(&p, "{}");
  CHECK_EQUAL(SPANPROF_OK, p.st);
  CHECK_EQUAL(0, p.list.count);
  parsed_dispose(&p);
}

/* A query of classic Pyroscope begins with the name of an application and the
 * ending of a type, such as "shop.cpu". An application whose stored name is
 * "shop.cpu" is also found. */
static void a_classic_query_names_its_application(void) {
  const sp_matcher *service;
  parsed p;

  parse_into(&p, "my-shop.web.cpu{profile_id=\"d6a1000000000000\", "
                 "span_name=~\"GET .*\"}");
  CHECK_EQUAL(SPANPROF_OK, p.st);
  CHECK_EQUAL(3, p.list.count);
  service = &p.list.matchers[0];
  CHECK_TEXT(service->name, "service_name");
  CHECK(service->matches(service, "my-shop.web", 11));
  CHECK(service->matches(service, "my-shop.web.cpu", 15));
  CHECK(!service->matches(service, "my-shop", 7));
  CHECK_TEXT(p.list.matchers[1].name, "profile_id");
  CHECK_TEXT(p.type, "process_cpu:cpu:nanoseconds:cpu:nanoseconds");
  parsed_dispose(&p);

  parse_into(&p, "worker.alloc_space");
  CHECK_EQUAL(SPANPROF_OK, p.st);
  CHECK_TEXT(p.type, "memory:alloc_space:bytes:space:bytes");
  parsed_dispose(&p);

  parse_into(&p, " 2 Größen, \xf0\x9f\x9a\x80 & Söhne=x.cpu{profile_id=\"1\"}");
  CHECK_EQUAL(SPANPROF_OK, p.st);
  CHECK_EQUAL(2, p.list.count);
  service = &p.list.matchers[0];
  CHECK(service->matches(service, "2 Größen, \xf0\x9f\x9a\x80 & Söhne=x",
                         strlen("2 Größen, \xf0\x9f\x9a\x80 & Söhne=x")));
  CHECK_TEXT(p.type, "process_cpu:cpu:nanoseconds:cpu:nanoseconds");
  parsed_dispose(&p);

  parse_into(&p, "billing.worker{}");
  CHECK_EQUAL(SPANPROF_OK, p.st);
  CHECK(!p.type);
  CHECK_EQUAL(SP_MATCH_EQUAL, p.list.matchers[0].kind);
  CHECK_TEXT(p.list.matchers[0].value, "billing.worker");
  parsed_dispose(&p);
}

static void the_size_of_a_query_is_limited(void) {
  const size_t size = 200000;
  char *text = malloc(size + 1);
  size_t i;
  parsed p;

  CHECK(text);
  memset(text, 'a', size);
  text[size] = '\0';
  parse_into(&p, text);
  CHECK_EQUAL(SPANPROF_ERR_ARGUMENT, p.st);
  parsed_dispose(&p);
  text[0] = '{';
  for (i = 0; i < 300; i++)
    memcpy(text + 1 + i * 6, "a=\"b\",", 6);
  memcpy(text + 1 + i * 6, "}", 2);
  parse_into(&p, text);
  CHECK_EQUAL(SPANPROF_ERR_ARGUMENT, p.st);
  CHECK(strstr(p.fault.message, "at most 256 matchers"));
  parsed_dispose(&p);
  free(text);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"an_error_has_a_column_and_the_message_of_pyroscope",
       an_error_has_a_column_and_the_message_of_pyroscope},
      {"a_name_that_needs_quotes_gets_a_hint",
       a_name_that_needs_quotes_gets_a_hint},
      {"matchers_are_read_as_written", matchers_are_read_as_written},
      {"a_classic_query_names_its_application",
       a_classic_query_names_its_application},
      {"the_size_of_a_query_is_limited", the_size_of_a_query_is_limited},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
