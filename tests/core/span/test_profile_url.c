/* Tests of links in pyroscope-otel's form. The expected strings ruby_* were
 * made by pyroscope-otel's lib/pyroscope/otel.rb with Ruby 3.1's URI. */
#include "check.h"
#include "failing_mem.h"

#include "span/profile_url.h"

#define NOW 1700000000

static sp_pair static_pairs[] = {{"region", "eu-central-1"},
                                 {"version", "1.2 \"rc\\1\""}};
static sp_pair baseline_pairs[] = {{"version", "1.1"}, {"tier", "w\xc3\xa4rm"}};
static const sp_url_labels no_labels = {NULL, 0};
static const sp_url_labels static_labels = {static_pairs, 2};
static const sp_url_labels baseline_labels = {baseline_pairs, 2};

static const char *span_url(const char *server, const char *app) {
  static char text[4096];
  sp_url_place place = {app, server, &no_labels, &no_labels};
  sp_buffer out;

  sp_buffer_init(&out, &sp_mem_default);
  sp_profile_url_span(&out, &place, "d6a1f0c2b3948576", NOW);
  CHECK_EQUAL(sp_buffer_status(&out), SPANPROF_OK);
  CHECK(out.size < sizeof text);
  memcpy(text, out.data, out.size + 1);
  sp_buffer_dispose(&out);
  return text;
}

static const char *compare_url(const char *server, const char *path,
                               const sp_url_labels *labels,
                               const sp_url_labels *baseline) {
  static char text[4096];
  sp_url_place place = {"rideshare", server, labels, baseline};
  sp_buffer out;

  sp_buffer_init(&out, &sp_mem_default);
  sp_profile_url_compare(&out, &place, path, "d6a1f0c2b3948576", NOW);
  CHECK_EQUAL(sp_buffer_status(&out), SPANPROF_OK);
  CHECK(out.size < sizeof text);
  memcpy(text, out.data, out.size + 1);
  sp_buffer_dispose(&out);
  return text;
}

static void ruby_span_url(void) {
  CHECK_TEXT(span_url("http://localhost:4040", "rideshare.cpu"),
             "http://localhost:4040?query=rideshare.cpu%7Bprofile_id%3D%22"
             "d6a1f0c2b3948576%22%7D&from=1700000000&until=1700003600");
  CHECK_TEXT(span_url("http://localhost:4040/", "rideshare.cpu"),
             "http://localhost:4040/?query=rideshare.cpu%7Bprofile_id%3D%22"
             "d6a1f0c2b3948576%22%7D&from=1700000000&until=1700003600");
  CHECK_TEXT(span_url("https://h/pyro", "\xc3\xbc/a b*~-_.cpu"),
             "https://h/pyro?query=%C3%BC%2Fa+b*%7E-_.cpu%7Bprofile_id%3D%22"
             "d6a1f0c2b3948576%22%7D&from=1700000000&until=1700003600");
}

static void cpu_is_appended_only_where_missing(void) {
  CHECK(strstr(span_url("http://h", "app"), "?query=app.cpu%7B"));
  CHECK(strstr(span_url("http://h", "app.cpu"), "?query=app.cpu%7B"));
  CHECK(strstr(span_url("http://h", "app.cpus"), "?query=app.cpus.cpu%7B"));
  CHECK(strstr(span_url("http://h", ".cpu"), "?query=.cpu%7B"));
}

static void ruby_comparison_url(void) {
  CHECK_TEXT(
      compare_url("http://localhost:4040", "/comparison", &no_labels,
                  &no_labels),
      "http://localhost:4040/comparison?query=rideshare.cpu%7B%7D"
      "&from=1699996400&until=1700000000"
      "&leftQuery=rideshare.cpu%7B%7D&leftFrom=1699996400&leftUntil=1700000000"
      "&rightQuery=rideshare.cpu%7Bprofile_id%3D%22d6a1f0c2b3948576%22%7D"
      "&rightFrom=1700000000&rightUntil=1700003600");
}

static void baseline_has_static_and_own_labels_and_no_id(void) {
  const char *url = compare_url("http://h/pyro/", "/comparison-diff",
                                &static_labels, &baseline_labels);
  const char *right = strstr(url, "&rightQuery");

  CHECK(strstr(url, "http://h/pyro/comparison-diff?query=rideshare.cpu%7B"
                    "region%3D%22eu-central-1%22%2Cversion%3D%221.1%22%2C"
                    "tier%3D%22w%C3%A4rm%22%7D&from=") == url);
  CHECK(right != NULL);
  CHECK(strstr(url, "profile_id") > right);
  url = compare_url("http://h", "/comparison", &static_labels, &no_labels);
  CHECK(strstr(url, "version%3D%221.2+%5C%22rc%5C%5C1%5C%22%22%7D"));
}

static void server_address_loses_its_credentials(void) {
  static const struct {
    const char *given, *kept; /* `kept` is NULL if the address is refused */
  } addresses[] = {
      {"http://localhost:4040", "http://localhost:4040"},
      {"HTTPS://h:1/p/", "https://h:1/p/"},
      {"http://user:pass@h", "http://h"},
      {"http://user:p@ss@h:1/a@b?x=1#f", "http://h:1/a@b"},
      {"http://u:p@h?token=secret", "http://h"},
      {"http://h#secret", "http://h"},
      {"http://[::1]:4040", "http://[::1]:4040"},
      {"localhost:4040", NULL},
      {"ftp://h", NULL},
      {"", NULL},
      {"http://", NULL},
      {"http://user@", NULL},
      {"http:///path", NULL},
      {"http://h h", NULL},
      {"http://h/\n", NULL},
      {"http://h/\xff", NULL},
  };
  size_t i;

  for (i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
    char *out;
    spanprof_status st =
        sp_profile_url_server(addresses[i].given, &sp_mem_default, &out);

    if (addresses[i].kept) {
      CHECK_EQUAL(st, SPANPROF_OK);
      CHECK_TEXT(out, addresses[i].kept);
    } else {
      CHECK_EQUAL(st, SPANPROF_ERR_ARGUMENT);
      CHECK(out == NULL);
      CHECK(strstr(spanprof_last_error(), "server_address"));
      CHECK(!strstr(spanprof_last_error(), "user"));
    }
    sp_mem_free(&sp_mem_default, out);
  }
}

static void writing(const sp_mem *mem) {
  sp_url_place place = {"app", "http://h", &static_labels, &baseline_labels};
  char *server;
  sp_buffer out;

  sp_buffer_init(&out, mem);
  sp_profile_url_span(&out, &place, "d6a1f0c2b3948576", NOW);
  if (!sp_buffer_status(&out))
    CHECK_EQUAL(out.size, strlen(span_url("http://h", "app")));
  sp_buffer_clear(&out);
  sp_profile_url_compare(&out, &place, "/comparison", "d6a1f0c2b3948576", NOW);
  if (!sp_buffer_status(&out))
    CHECK(strstr(out.data, "&rightUntil=1700003600"));
  sp_buffer_dispose(&out);
  sp_profile_url_server("http://a:b@h", mem, &server);
  sp_mem_free(mem, server);
}

static void every_allocation_may_fail(void) {
  failing_mem_sweep(writing);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"ruby_span_url", ruby_span_url},
      {"cpu_is_appended_only_where_missing",
       cpu_is_appended_only_where_missing},
      {"ruby_comparison_url", ruby_comparison_url},
      {"baseline_has_static_and_own_labels_and_no_id",
       baseline_has_static_and_own_labels_and_no_id},
      {"server_address_loses_its_credentials",
       server_address_loses_its_credentials},
      {"every_allocation_may_fail", every_allocation_may_fail},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
