#include "export/pyroscope.h"

#include <push.pb-c.h>

#include "export_fixture.h"
#include "failing_mem.h"
#include "sample_pprof.h"

static sp_pair two_labels[] = {{(char *)"region", (char *)"eu"},
                               {(char *)"host", (char *)"a-1"}};

/* Return a series as "name=value name=value …". */
static const char *series_text(const sp_series *series) {
  static char text[8192];
  const char *name = NULL, *value = NULL;
  size_t used = 0;

  text[0] = '\0';
  while (sp_series_next(series, &name, &value))
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s",
                             used ? " " : "", name, value);
  return text;
}

static const sp_series_facts ruby_facts = {.runtime_name = (char *)"ruby",
                                           .runtime_version = (char *)"3.3.1"};

static void series_is_sorted_and_complete(void) {
  sp_settings settings = usual_settings();
  sp_series series;

  settings.labels = two_labels;
  settings.label_count = 2;
  CHECK(!sp_series_init(&series, &sp_mem_default, &settings, &ruby_facts));
  CHECK_TEXT(series_text(&series),
             "__name__=process_cpu host=a-1 otel.scope.name=spanprof "
             "otel.scope.version=" SPANPROF_VERSION
             " process.runtime.name=ruby process.runtime.version=3.3.1 "
             "region=eu service_name=checkout");
  CHECK_EQUAL(series.count, 8);
  sp_series_dispose(&series);
}

static void given_labels_replace_the_librarys_labels(void) {
  sp_pair labels[] = {{(char *)"otel.scope.name", (char *)"mine"},
                      {(char *)"service_name", (char *)"never"},
                      {(char *)"empty", (char *)""}};
  sp_settings settings = usual_settings();
  sp_series series;

  settings.labels = labels;
  settings.label_count = 3;
  CHECK(!sp_series_init(&series, &sp_mem_default, &settings, NULL));
  CHECK_TEXT(series_text(&series),
             "__name__=process_cpu otel.scope.name=mine "
             "otel.scope.version=" SPANPROF_VERSION " service_name=checkout");
  sp_series_dispose(&series);
}

/* Pyroscope before 2.0 treats two such names as one name, and refuses the
 * series. */
static void names_that_differ_only_in_dots_are_merged(void) {
  sp_pair labels[] = {{(char *)"otel_scope_name", (char *)"mine"},
                      {(char *)"service.name", (char *)"never"},
                      {(char *)"host.id", (char *)"first"},
                      {(char *)"host_id", (char *)"second"}};
  sp_settings settings = usual_settings();
  sp_series series;

  settings.labels = labels;
  settings.label_count = 4;
  CHECK(!sp_series_init(&series, &sp_mem_default, &settings, NULL));
  CHECK_TEXT(series_text(&series),
             "__name__=process_cpu host.id=first "
             "otel.scope.version=" SPANPROF_VERSION
             " otel_scope_name=mine service_name=checkout");
  sp_series_dispose(&series);
}

static void series_is_read_back_or_refused(void) {
  static const char good[] = "a\0"
                             "1\0b\0"
                             "2";
  char many[400];
  sp_series series;

  CHECK(!sp_series_read(&series, &sp_mem_default, good, sizeof good));
  CHECK_TEXT(series_text(&series), "a=1 b=2");
  sp_series_dispose(&series);
  CHECK_EQUAL(sp_series_read(&series, &sp_mem_default, good, 0),
              SPANPROF_ERR_FORMAT);
  CHECK_EQUAL(sp_series_read(&series, &sp_mem_default, good, sizeof good - 1),
              SPANPROF_ERR_FORMAT);
  CHECK_EQUAL(sp_series_read(&series, &sp_mem_default, good, 6),
              SPANPROF_ERR_FORMAT);
  CHECK_EQUAL(sp_series_read(&series, &sp_mem_default, "a\0\xff", 4),
              SPANPROF_ERR_FORMAT);
  memset(many, 'x', sizeof many);
  for (size_t i = 1; i < sizeof many; i += 2)
    many[i] = '\0';
  CHECK_EQUAL(sp_series_read(&series, &sp_mem_default, many, sizeof many),
              SPANPROF_ERR_FORMAT);
}

static unsigned char *unpacked(const sp_http_request *request, size_t *size) {
  z_stream stream = {.next_in = (unsigned char *)(size_t)request->body,
                     .avail_in = (uInt)request->size};
  unsigned char *out = malloc(request->size);

  stream.next_out = out;
  stream.avail_out = (uInt)request->size;
  CHECK(inflateInit2(&stream, 31) == Z_OK);
  CHECK(inflate(&stream, Z_FINISH) == Z_STREAM_END);
  CHECK_EQUAL(stream.avail_in, 0);
  *size = stream.total_out;
  inflateEnd(&stream);
  return out;
}

static void a_push_request_has_series_and_profile(void) {
  /* Sizes below and above 65,535 bytes, the limit of a stored block
   * (gzip_store.h). */
  static const size_t fillers[] = {0, 1000, 60000, 90000, 200000};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(fillers); i++) {
    sp_settings settings = usual_settings();
    sp_encoded part =
        sample_pprof(&sp_mem_default, 1700000000000000001u, 7, 70, fillers[i]);
    Push__V1__PushRequest *push;
    sp_pyroscope_request request;
    sp_series series;
    unsigned char *plain;
    size_t size;

    settings.server_address = (char *)"http://server:4040/base";
    CHECK(!sp_series_init(&series, &sp_mem_default, &settings, NULL));
    CHECK(!sp_pyroscope_request_init(&request, &sp_mem_default, &settings,
                                     &series, &part));
    CHECK_TEXT(request.http.url,
               "http://server:4040/base/push.v1.PusherService/Push");
    CHECK_TEXT(request.http.content_type, "application/proto");
    CHECK_TEXT(request.http.content_encoding, "gzip");
    plain = unpacked(&request.http, &size);
    push = push__v1__push_request__unpack(NULL, size, plain);
    CHECK(push != NULL);
    CHECK_EQUAL(push->n_series, 1);
    CHECK_EQUAL(push->series[0]->n_labels, 4);
    CHECK_TEXT(push->series[0]->labels[0]->name, "__name__");
    CHECK_TEXT(push->series[0]->labels[3]->value, "checkout");
    CHECK_EQUAL(push->series[0]->n_samples, 1);
    CHECK_EQUAL(push->series[0]->samples[0]->raw_profile.len, part.size);
    CHECK(memcmp(push->series[0]->samples[0]->raw_profile.data, part.bytes,
                 part.size) == 0);
    CHECK_EQUAL(strlen(push->series[0]->samples[0]->id), 36);
    CHECK_EQUAL(push->series[0]->samples[0]->id[14], '8');
    push__v1__push_request__free_unpacked(push, NULL);
    free(plain);
    sp_pyroscope_request_dispose(&request);
    sp_series_dispose(&series);
    sp_encoded_dispose(&part);
  }
}

static void an_ingest_request_has_labels_in_the_name(void) {
  sp_pair labels[] = {{(char *)"a.b", (char *)"x,y}z=1 &"},
                      {(char *)"q", (char *)"\"1\""}};
  sp_settings settings = usual_settings();
  sp_encoded part =
      sample_pprof(&sp_mem_default, 1700000000000000001u, 7, 70, 0);
  sp_pyroscope_request request;
  sp_series series;

  settings.application_name = (char *)"my app/caf\xc3\xa9";
  settings.server_address = (char *)"http://server:4040";
  settings.protocol = SP_PROTOCOL_INGEST;
  settings.labels = labels;
  settings.label_count = 2;
  settings.sample_rate_hz = 99;
  CHECK(!sp_series_init(&series, &sp_mem_default, &settings, NULL));
  CHECK(!sp_pyroscope_request_init(&request, &sp_mem_default, &settings,
                                   &series, &part));
  CHECK_TEXT(request.http.url,
             "http://server:4040/ingest?name=my_app%2Fcaf__%7B"
             "a.b%3Dx_y_z%3D1+%26%2Cotel.scope.name%3Dspanprof%2C"
             "otel.scope.version%3D" SPANPROF_VERSION
             "%2Cq%3D%221%22%2Cservice_name%3Dmy+app%2Fcaf%C3%A9%7D"
             "&from=1700000000000000001&until=1700000010000000001"
             "&format=pprof&spyName=spanprof&sampleRate=99");
  CHECK(request.http.content_encoding == NULL);
  CHECK(request.http.body == part.bytes);
  CHECK_EQUAL(request.http.size, part.size);
  sp_pyroscope_request_dispose(&request);
  sp_series_dispose(&series);
  sp_encoded_dispose(&part);
}

static void build_both(const sp_mem *mem) {
  sp_settings settings = usual_settings();
  sp_encoded part = sample_pprof(&sp_mem_default, 1, 7, 70, 100);
  sp_pyroscope_request request;
  sp_series series;
  int i;

  settings.labels = two_labels;
  settings.label_count = 2;
  settings.server_address = (char *)"http://server:4040";
  if (!sp_series_init(&series, mem, &settings, &ruby_facts)) {
    for (i = 0; i < 2; i++) {
      settings.protocol = i ? SP_PROTOCOL_INGEST : SP_PROTOCOL_PUSH;
      if (!sp_pyroscope_request_init(&request, mem, &settings, &series, &part))
        sp_pyroscope_request_dispose(&request);
    }
    sp_series_dispose(&series);
  }
  sp_encoded_dispose(&part);
}

static void requests_survive_failing_memory(void) {
  failing_mem_sweep(build_both);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"series_is_sorted_and_complete", series_is_sorted_and_complete},
      {"given_labels_replace_the_librarys_labels",
       given_labels_replace_the_librarys_labels},
      {"names_that_differ_only_in_dots_are_merged",
       names_that_differ_only_in_dots_are_merged},
      {"series_is_read_back_or_refused", series_is_read_back_or_refused},
      {"a_push_request_has_series_and_profile",
       a_push_request_has_series_and_profile},
      {"an_ingest_request_has_labels_in_the_name",
       an_ingest_request_has_labels_in_the_name},
      {"requests_survive_failing_memory", requests_survive_failing_memory},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
