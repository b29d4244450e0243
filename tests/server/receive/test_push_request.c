/* push.v1.PushRequest. */
#include "message.h"
#include "server/receive/push_request.h"

static spanprof_status visit(void *data, sp_series_labels *labels,
                             sp_view profile, sp_view id) {
  sp_buffer *out = data;

  (void)id;
  sp_series_labels_print(labels, out);
  sp_buffer_format(out, "%.*s|", (int)profile.size, profile.bytes);
  return SPANPROF_OK;
}

/* Set `out` to the profiles of a request as "{labels}profile|…", or to "!" and
 * the message if the request is refused. */
static void read_request(sp_view bytes, sp_buffer *out) {
  sp_refusal refusal;

  sp_refusal_init(&refusal, &sp_mem_default);
  sp_buffer_clear(out);
  sp_buffer_text(out, "");
  if (sp_push_request_each(bytes, &sp_mem_default, visit, out, &refusal)) {
    CHECK_EQUAL(out->size,
                0); /* no profile of a malformed request is visited */
    sp_buffer_format(out, "!%s", sp_refusal_text(&refusal));
  }
  sp_refusal_dispose(&refusal);
}

static message pair(uint32_t field, const char *a, const char *b) {
  message outer = message_new(), m = message_new();

  message_text(&m, 1, a);
  message_text(&m, 2, b);
  message_inner(&outer, field, m);
  return outer;
}

/* Return a request of one series, which has two profiles and, after them, its
 * labels. */
static message request(void) {
  message m = message_new(), series = pair(2, "one", "id"), part;

  part = pair(2, "two", "");
  sp_buffer_append(&series.out, part.out.data, part.out.size);
  message_free(&part);
  part = pair(1, "a", "b");
  sp_buffer_append(&series.out, part.out.data, part.out.size);
  message_free(&part);
  message_text(&series, 3, "annotation");
  message_inner(&m, 1, series);
  message_text(&m, 99, "unknown");
  return m;
}

static void each_profile_has_the_labels_of_its_series(void) {
  message m = request();
  sp_buffer out;

  sp_buffer_init(&out, &sp_mem_default);
  read_request(message_view(&m), &out);
  CHECK_TEXT(out.data, "{a=\"b\"}one|{a=\"b\"}two|");
  read_request(sp_view_of("hello, world", 12), &out);
  CHECK_TEXT(out.data, "!proto: PushRequest: wiretype end group for non-group");
  sp_buffer_dispose(&out);
  message_free(&m);
}

static void no_profile_of_a_truncated_request_is_visited(void) {
  message m = request();
  sp_buffer out;
  size_t size;

  sp_buffer_init(&out, &sp_mem_default);
  for (size = 1; size < m.out.size; size++) {
    char *copy = malloc(size);

    memcpy(copy, m.out.data, size);
    read_request(sp_view_of(copy, size), &out);
    free(copy);
  }
  sp_buffer_dispose(&out);
  message_free(&m);
}

static void json_gives_the_same_result(void) {
  static const char json[] =
      "{\"series\":[{\"labels\":[{\"name\":\"a\",\"value\":\"b\"}],"
      "\"samples\":[{\"ID\":\"x\",\"rawProfile\":\"b25l\"},"
      "{\"raw_profile\":\"dHdv\",\"id\":1}]}],\"colour\":\"red\"}";
  sp_buffer wire, out;
  sp_refusal refusal;

  sp_buffer_init(&wire, &sp_mem_default);
  sp_buffer_init(&out, &sp_mem_default);
  sp_refusal_init(&refusal, &sp_mem_default);
  CHECK(!sp_push_request_json(sp_view_text(json), &wire, &refusal));
  read_request(sp_view_of(wire.data, wire.size), &out);
  CHECK_TEXT(out.data, "{a=\"b\"}one|{a=\"b\"}two|");
  sp_refusal_dispose(&refusal);
  sp_buffer_dispose(&out);
  sp_buffer_dispose(&wire);
}

/* The numbers have limits, because all labels of a series are processed for
 * each profile. */
static void too_many_labels_or_profiles_are_refused(void) {
  message m = message_new(), series = message_new();
  sp_buffer out;
  size_t i;

  sp_buffer_init(&out, &sp_mem_default);
  for (i = 0; i <= SP_PUSH_LABELS_MAX; i++)
    message_bytes(&series, 1, "", 0);
  message_inner(&m, 1, series);
  read_request(message_view(&m), &out);
  CHECK_TEXT(out.data, "!a profile series has more than 256 labels");
  message_free(&m);
  m = message_new();
  for (i = 0; i <= SP_PUSH_PROFILES_MAX; i++) {
    series = message_new();
    message_bytes(&series, 2, "", 0);
    message_inner(&m, 1, series);
  }
  read_request(message_view(&m), &out);
  CHECK_TEXT(out.data, "!the request has more than 10000 profiles: send fewer "
                       "at a time");
  message_free(&m);
  sp_buffer_dispose(&out);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"each_profile_has_the_labels_of_its_series",
       each_profile_has_the_labels_of_its_series},
      {"no_profile_of_a_truncated_request_is_visited",
       no_profile_of_a_truncated_request_is_visited},
      {"json_gives_the_same_result", json_gives_the_same_result},
      {"too_many_labels_or_profiles_are_refused",
       too_many_labels_or_profiles_are_refused},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
