/* Tests of URL templates that users define. */
#include "check.h"
#include "failing_mem.h"

#include "span/url_template.h"

#define NOW 1700000000

static const sp_url_labels no_labels = {NULL, 0};
static const sp_url_span span = {"d6a1f0c2b3948576",
                                 "4bf92f3577b34da6a3ce929d0e0e4736",
                                 "GET /a&b \xc3\xa9", 11};

/* Returns the template with its placeholders replaced, or "" if a value is
 * missing. */
static const char *filled(const char *text, const char *app,
                          const char *server) {
  static char result[4096];
  sp_url_place place = {app, server, &no_labels, &no_labels};
  sp_url_template *url_template;
  sp_buffer out;

  CHECK_EQUAL(sp_url_template_new(text, &sp_mem_default, &url_template),
              SPANPROF_OK);
  sp_buffer_init(&out, &sp_mem_default);
  sp_url_template_write(url_template, &place, &span, NOW, &out);
  CHECK_EQUAL(sp_buffer_status(&out), SPANPROF_OK);
  CHECK(out.size < sizeof result);
  memcpy(result, out.size ? out.data : "", out.size + 1);
  sp_buffer_dispose(&out);
  sp_url_template_free(url_template);
  return result;
}

static const char *full(const char *text) {
  return filled(text, "rideshare.cpu", "http://h:1/p");
}

static void every_placeholder_is_replaced(void) {
  CHECK_TEXT(full("{app}"), "rideshare");
  CHECK_TEXT(full("{server}"), "http://h:1/p");
  CHECK_TEXT(full("{query}"),
             "rideshare.cpu%7Bprofile_id%3D%22d6a1f0c2b3948576%22%7D");
  CHECK_TEXT(full("{profile_id}"), "d6a1f0c2b3948576");
  CHECK_TEXT(full("{trace_id}"), "4bf92f3577b34da6a3ce929d0e0e4736");
  CHECK_TEXT(full("{span_name}"), "GET%20%2Fa%26b%20%C3%A9");
  CHECK_TEXT(full("{from}-{until}"), "1700000000-1700003600");
  CHECK_TEXT(full("{from_ms}-{until_ms}"), "1700000000000-1700003600000");
}

static void server_is_encoded_except_at_the_beginning(void) {
  CHECK_TEXT(full("{server}/x"), "http://h:1/p/x");
  CHECK_TEXT(full("https://g?s={server}"),
             "https://g?s=http%3A%2F%2Fh%3A1%2Fp");
}

static void double_brace_is_a_brace(void) {
  CHECK_TEXT(full("a{{b"), "a{b");
  CHECK_TEXT(full("{{"), "{");
  CHECK_TEXT(full("{{{{app}"), "{{app}");
  CHECK_TEXT(full("{{{app}}"), "{rideshare}");
  CHECK_TEXT(full("}a}}"), "}a}}");
}

static void grafana_explore_link_can_be_made(void) {
  CHECK_TEXT(full("https://g/explore?left={{\"queries\":[{{\"labelSelector\":"
                  "\"{{service_name=\\\"{app}\\\"}\",\"spanSelector\":"
                  "[\"{profile_id}\"]}],\"range\":{{\"from\":\"{from_ms}\"}}"),
             "https://g/explore?left={\"queries\":[{\"labelSelector\":"
             "\"{service_name=\\\"rideshare\\\"}\",\"spanSelector\":"
             "[\"d6a1f0c2b3948576\"]}],\"range\":{\"from\":"
             "\"1700000000000\"}}");
}

static void nothing_is_written_if_a_value_is_unknown(void) {
  CHECK_TEXT(filled("x{app}", NULL, "http://h"), "");
  CHECK_TEXT(filled("x{query}", NULL, "http://h"), "");
  CHECK_TEXT(filled("x{server}", "app", NULL), "");
  CHECK_TEXT(filled("x{from}", NULL, NULL), "x1700000000");
}

static void wrong_templates_are_refused(void) {
  static const char *const wrong[] = {
      "",          "{",      "{app",           "{nothing}",  "{}",
      "{ app}",    "{APP}",  "{app }",         "a\nb",       "a\x7f",
      "\xff{app}", "{{{app", "{from_ms}{unt}", "{app{app}}",
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(wrong); i++) {
    sp_url_template *url_template = (sp_url_template *)&i;

    CHECK_EQUAL(sp_url_template_new(wrong[i], &sp_mem_default, &url_template),
                SPANPROF_ERR_ARGUMENT);
    CHECK(url_template == NULL);
    CHECK(strstr(spanprof_last_error(), "url_template"));
  }
  CHECK_EQUAL(sp_url_template_new("{nothing}", &sp_mem_default,
                                  &(sp_url_template *){NULL}),
              SPANPROF_ERR_ARGUMENT);
  CHECK(strstr(spanprof_last_error(), "{nothing}"));
  sp_url_template_free(NULL);
}

static void filling(const sp_mem *mem) {
  sp_url_place place = {"app", "http://h", &no_labels, &no_labels};
  sp_url_template *url_template;
  spanprof_status st = sp_url_template_new(
      "{server}/{app}?a={query}&b={span_name}{{{from}{until}{trace_id}{app}"
      "{app}{app}{app}{app}{app}{app}{app}{app}{app}{app}{app}",
      mem, &url_template);
  sp_buffer out;

  CHECK(st == SPANPROF_OK || st == SPANPROF_ERR_NOMEM);
  CHECK((url_template == NULL) == (st != SPANPROF_OK));
  sp_buffer_init(&out, mem);
  if (url_template)
    sp_url_template_write(url_template, &place, &span, NOW, &out);
  if (url_template && !sp_buffer_status(&out))
    CHECK(strstr(out.data, "{17000000001700003600"));
  sp_buffer_dispose(&out);
  sp_url_template_free(url_template);
}

static void every_allocation_may_fail(void) {
  failing_mem_sweep(filling);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"every_placeholder_is_replaced", every_placeholder_is_replaced},
      {"server_is_encoded_except_at_the_beginning",
       server_is_encoded_except_at_the_beginning},
      {"double_brace_is_a_brace", double_brace_is_a_brace},
      {"grafana_explore_link_can_be_made", grafana_explore_link_can_be_made},
      {"nothing_is_written_if_a_value_is_unknown",
       nothing_is_written_if_a_value_is_unknown},
      {"wrong_templates_are_refused", wrong_templates_are_refused},
      {"every_allocation_may_fail", every_allocation_may_fail},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
