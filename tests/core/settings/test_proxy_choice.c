/* Tests which proxy is used, and which proxies are refused. */
#include "settings/proxy_choice.h"

#include "check.h"
#include "util/system/status.h"

#define VARIABLES_MAX 6

typedef struct choice_case {
  const char *option; /* proxy option, or NULL */
  bool encrypted;
  const char *environment[VARIABLES_MAX];
  const char *proxy;    /* expected; NULL: no proxy */
  const char *variable; /* source of `proxy`; NULL: the option, or no proxy */
} choice_case;

static sp_option_value choose(const choice_case *row, sp_buffer *notes) {
  sp_option_value given = {.option = "proxy", .text = row->option};

  sp_proxy_choose(&given, row->encrypted, (char *const *)row->environment,
                  notes);
  return given;
}

static void check_text_or_none(const char *is, const char *expected) {
  CHECK((is == NULL) == (expected == NULL));
  if (is)
    CHECK_TEXT(is, expected);
}

static void the_proxy_depends_on_the_scheme(void) {
  static const choice_case table[] = {
      {NULL, false, {NULL}, NULL, NULL},
      {NULL, true, {"http_proxy=h", "HTTP_PROXY=H"}, NULL, NULL},
      {NULL, false, {"https_proxy=s", "HTTPS_PROXY=S"}, NULL, NULL},
      {NULL, true, {"https_proxy=s"}, "s", "https_proxy"},
      {NULL, true, {"HTTPS_PROXY=S"}, "S", "HTTPS_PROXY"},
      {NULL, true, {"HTTPS_PROXY=S", "https_proxy=s"}, "s", "https_proxy"},
      {NULL, false, {"http_proxy=h"}, "h", "http_proxy"},
      {NULL, false, {"HTTP_PROXY=H"}, "H", "HTTP_PROXY"},
      {NULL, false, {"HTTP_PROXY=H", "http_proxy=h"}, "h", "http_proxy"},
      {NULL, false, {"all_proxy=a"}, "a", "all_proxy"},
      {NULL, true, {"ALL_PROXY=A"}, "A", "ALL_PROXY"},
      {NULL, true, {"ALL_PROXY=A", "all_proxy=a"}, "a", "all_proxy"},
      {NULL, true, {"all_proxy=a", "HTTPS_PROXY=S"}, "S", "HTTPS_PROXY"},
      {NULL, false, {"all_proxy=a", "https_proxy=s"}, "a", "all_proxy"},
      /* "" means no proxy. */
      {NULL, true, {"https_proxy=", "HTTPS_PROXY=S"}, "", "https_proxy"},
      {NULL, false, {"http_proxy=", "all_proxy=a"}, "", "http_proxy"},
      /* The option takes precedence, even if it is "". */
      {"o", true, {"https_proxy=s", "all_proxy=a"}, "o", NULL},
      {"", false, {"http_proxy=h"}, "", NULL},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    sp_buffer notes;
    sp_option_value given;

    sp_buffer_init(&notes, &sp_mem_default);
    given = choose(&table[i], &notes);
    check_text_or_none(given.text, table[i].proxy);
    check_text_or_none(given.variable, table[i].variable);
    CHECK_EQUAL(notes.size, 0);
    sp_buffer_dispose(&notes);
  }
}

static void a_header_of_a_request_is_not_used_as_proxy(void) {
  static const struct {
    choice_case given;
    bool noted;
  } table[] = {
      {{NULL, false, {"REQUEST_METHOD=GET", "HTTP_PROXY=H"}, NULL, NULL}, true},
      {{NULL,
        false,
        {"REQUEST_METHOD=GET", "HTTP_PROXY=H", "ALL_PROXY=A"},
        "A",
        "ALL_PROXY"},
       true},
      {{NULL, false, {"REQUEST_METHOD=", "HTTP_PROXY=H"}, NULL, NULL}, true},
      {{NULL, false, {"REQUEST_METHOD=GET", "HTTP_PROXY="}, NULL, NULL}, false},
      {{NULL,
        false,
        {"REQUEST_METHOD=GET", "http_proxy=h", "HTTP_PROXY=H"},
        "h",
        "http_proxy"},
       false},
      {{NULL,
        true,
        {"REQUEST_METHOD=GET", "HTTPS_PROXY=S"},
        "S",
        "HTTPS_PROXY"},
       false},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    sp_buffer notes;
    sp_option_value given;

    sp_buffer_init(&notes, &sp_mem_default);
    given = choose(&table[i].given, &notes);
    check_text_or_none(given.text, table[i].given.proxy);
    check_text_or_none(given.variable, table[i].given.variable);
    CHECK_EQUAL(notes.size > 0, table[i].noted);
    if (table[i].noted)
      CHECK(strstr(notes.data, "HTTP_PROXY is ignored"));
    sp_buffer_dispose(&notes);
  }
}

static void unusable_proxies_are_refused_without_their_value(void) {
  static const struct {
    const char *text;
    bool good;
  } table[] = {
      {"proxy", true},
      {"proxy:3128", true},
      {"http://proxy:3128", true},
      {"HTTPS://user:secret@proxy", true},
      {"socks4://proxy", true},
      {"socks4a://proxy", true},
      {"socks5://proxy:1080", true},
      {"socks5h://[::1]:1080", true},
      {"ftp://user:secret@proxy", false},
      {"socks6://user:secret@proxy", false},
      {"http://user:secret@proxy:99999", false},
      {"http://user:secret@pro xy", false},
      {"http://", false},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    const sp_option_value given = {
        .option = "proxy", .variable = "HTTPS_PROXY", .text = table[i].text};
    const spanprof_status st = sp_proxy_check(&given);

    CHECK_EQUAL(st, table[i].good ? SPANPROF_OK : SPANPROF_ERR_ARGUMENT);
    if (st == SPANPROF_OK)
      continue;
    CHECK(strstr(spanprof_last_error(), "proxy (from HTTPS_PROXY) is not the "
                                        "URL of a proxy"));
    CHECK(!strstr(spanprof_last_error(), "secret"));
  }
}

static void exceptions_come_from_the_option_or_environment(void) {
  static const struct {
    const char *option;
    const char *environment[VARIABLES_MAX];
    const char *exceptions;
    const char *variable;
  } table[] = {
      {NULL, {NULL}, NULL, NULL},
      {NULL, {"NO_PROXY=B"}, "B", "NO_PROXY"},
      {NULL, {"NO_PROXY=B", "no_proxy=a"}, "a", "no_proxy"},
      {NULL, {"no_proxy=", "NO_PROXY=B"}, "", "no_proxy"},
      {"o", {"no_proxy=a"}, "o", NULL},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    sp_option_value given = {.option = "no_proxy", .text = table[i].option};

    sp_proxy_choose_exceptions(&given, (char *const *)table[i].environment);
    check_text_or_none(given.text, table[i].exceptions);
    check_text_or_none(given.variable, table[i].variable);
  }
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"the_proxy_depends_on_the_scheme", the_proxy_depends_on_the_scheme},
      {"a_header_of_a_request_is_not_used_as_proxy",
       a_header_of_a_request_is_not_used_as_proxy},
      {"unusable_proxies_are_refused_without_their_value",
       unusable_proxies_are_refused_without_their_value},
      {"exceptions_come_from_the_option_or_environment",
       exceptions_come_from_the_option_or_environment},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
