/* Valid and hostile bodies of query calls, as protobuf and JSON. */
#include "check.h"

#include <server/query/wire/query_request.h>
#include <server/query/wire/reply_writer.h>

static spanprof_status read_json(const sp_message *message, const char *text,
                                 sp_query_request *out, sp_arena *arena,
                                 sp_query_fault *fault) {
  memset(out, 0, sizeof *out);
  memset(fault, 0, sizeof *fault);
  sp_arena_init(arena, &sp_mem_default, 1 << 20);
  return sp_query_request_json(out, message, arena, text, strlen(text), fault);
}

static void json_names_are_read_in_camel_and_snake_case(void) {
  sp_query_request request;
  sp_query_fault fault;
  sp_arena arena;

  CHECK(!read_json(&sp_message_stacktraces,
                   "{\"profile_typeID\":\"cpu\",\"labelSelector\":\"{}\","
                   "\"start\":\"1795434000001\",\"end\":1795434000002,"
                   "\"max_nodes\":\"100\",\"format\":\"PROFILE_FORMAT_DOT\","
                   "\"spanSelector\":[\"a\",\"b\"],\"unknown\":{\"x\":[1]},"
                   "\"stackTraceSelector\":{\"callSite\":[{\"name\":\"m\"}],"
                   "\"goPgo\":{\"keepLocations\":5,"
                   "\"aggregateCallees\":true}},"
                   "\"profileIdSelector\":null}",
                   &request, &arena, &fault));
  CHECK_TEXT(request.profile_type, "cpu");
  CHECK_EQUAL(INT64_C(1795434000001), request.start_ms);
  CHECK_EQUAL(INT64_C(1795434000002), request.end_ms);
  CHECK_EQUAL(100, request.max_nodes);
  CHECK_EQUAL(SP_FORMAT_DOT, request.format);
  CHECK_EQUAL(2, request.spans.count);
  CHECK_TEXT(request.spans.texts[1], "b");
  CHECK_TEXT(request.call_sites.texts[0], "m");
  CHECK(request.has_go_pgo && request.aggregate_callees);
  CHECK_EQUAL(5, request.keep_locations);
  CHECK_EQUAL(0, request.profiles.count);
  sp_arena_dispose(&arena);
}

static void json_of_the_wrong_kind_is_refused(void) {
  static const char *const bodies[] = {
      "",
      "{",
      "[]",
      "7",
      "{\"start\":99999999999999999999}",
      "{\"start\":1.5}",
      "{\"start\":\"\"}",
      "{\"start\":\"1x\"}",
      "{\"start\":{}}",
      "{\"matchers\":\"x\"}",
      "{\"matchers\":[1]}",
      "{\"matchers\":{\"a\":\"b\"}}",
  };
  sp_query_request request;
  sp_query_fault fault;
  sp_arena arena;
  size_t i;

  for (i = 0; i < SP_COUNT_OF(bodies); i++) {
    CHECK_EQUAL(SPANPROF_ERR_ARGUMENT,
                read_json(&sp_message_label_names, bodies[i], &request, &arena,
                          &fault));
    CHECK_TEXT(fault.code, SP_CODE_INVALID);
    sp_arena_dispose(&arena);
  }
}

static spanprof_status read_proto(const sp_message *message, const void *bytes,
                                  size_t size, sp_query_request *out,
                                  sp_arena *arena) {
  sp_query_fault fault = {0};

  memset(out, 0, sizeof *out);
  sp_arena_init(arena, &sp_mem_default, 1 << 20);
  return sp_query_request_proto(out, message, arena, bytes, size, &fault);
}

/* The request is written with the writer of replies, which uses the same
 * encoding. */
static void protobuf_is_read_field_by_field(void) {
  static const char *const spans[] = {"aa", "bb"};
  sp_query_request request;
  sp_buffer bytes;
  sp_reply reply;
  sp_arena arena;
  size_t cut;

  sp_buffer_init(&bytes, &sp_mem_default);
  sp_reply_begin(&reply, &bytes, false);
  sp_reply_open(&reply, 1, "left");
  sp_reply_text(&reply, 1, "profileTypeID", "cpu");
  sp_reply_int(&reply, 3, "start", INT64_C(1795434000001));
  sp_reply_int(&reply, 4, "end", -5);
  sp_reply_open(&reply, 7, "stackTraceSelector");
  sp_reply_item(&reply, 1);
  sp_reply_text(&reply, 1, "name", "main");
  sp_reply_close(&reply);
  sp_reply_open(&reply, 2, "goPgo");
  sp_reply_int(&reply, 1, "keepLocations", 5);
  sp_reply_close(&reply);
  sp_reply_close(&reply);
  sp_reply_texts(&reply, 11, "spanSelector", spans, 2);
  sp_reply_text(&reply, 999, "unknown", "skipped");
  sp_reply_close(&reply);
  sp_reply_end(&reply);
  CHECK(
      !read_proto(&sp_message_diff, bytes.data, bytes.size, &request, &arena));
  CHECK(request.left && !request.right);
  CHECK_TEXT(request.left->profile_type, "cpu");
  CHECK_EQUAL(INT64_C(1795434000001), request.left->start_ms);
  CHECK_EQUAL(-5, request.left->end_ms);
  CHECK_TEXT(request.left->call_sites.texts[0], "main");
  CHECK(request.left->has_go_pgo && !request.left->aggregate_callees);
  CHECK_EQUAL(5, request.left->keep_locations);
  CHECK_EQUAL(2, request.left->spans.count);
  sp_arena_dispose(&arena);
  for (cut = 1; cut < bytes.size; cut++) {
    CHECK_EQUAL(SPANPROF_ERR_ARGUMENT, read_proto(&sp_message_diff, bytes.data,
                                                  cut, &request, &arena));
    sp_arena_dispose(&arena);
  }
  sp_buffer_dispose(&bytes);
}

static void hostile_protobuf_is_refused(void) {
  static const char zero_tag[] = "\0\1", group[] = "\x0b",
                    text[] = "\x0a\1\xff", nul[] = "\x0a\1\0",
                    number[] = "\x08\1";
  const struct {
    const char *bytes;
    size_t size;
  } bodies[] = {{zero_tag, 2}, {group, 1}, {text, 3}, {nul, 3}, {number, 2}};
  sp_query_request request;
  sp_arena arena;
  size_t i;

  for (i = 0; i < SP_COUNT_OF(bodies); i++) {
    CHECK_EQUAL(SPANPROF_ERR_ARGUMENT,
                read_proto(&sp_message_label_names, bodies[i].bytes,
                           bodies[i].size, &request, &arena));
    sp_arena_dispose(&arena);
  }
}

/* The arena limits the size of a request. */
static void the_length_of_a_list_is_limited(void) {
  const size_t size = 400000;
  char *bytes = malloc(size);
  sp_query_request request;
  sp_arena arena;
  size_t i;

  CHECK(bytes);
  for (i = 0; i < size; i += 2)
    memcpy(bytes + i, "\x0a\0", 2);
  CHECK_EQUAL(SPANPROF_ERR_LIMIT, read_proto(&sp_message_label_names, bytes,
                                             size, &request, &arena));
  sp_arena_dispose(&arena);
  free(bytes);
}

static void a_reply_is_the_same_in_protobuf_and_json(void) {
  static const int64_t numbers[] = {0, -1, 300};
  sp_buffer out;
  sp_reply reply;

  sp_buffer_init(&out, &sp_mem_default);
  sp_reply_begin(&reply, &out, true);
  sp_reply_text(&reply, 1, "empty", "");
  sp_reply_text(&reply, 1, "text", "a\"\n\x01");
  sp_reply_int(&reply, 2, "number", INT64_MIN);
  sp_reply_ints(&reply, 3, "list", numbers, 3);
  sp_reply_double(&reply, 4, "half", 0.1);
  sp_reply_bytes(&reply, 5, "bytes", "ab", 2);
  sp_reply_open(&reply, 6, "inside");
  sp_reply_close(&reply);
  sp_reply_end(&reply);
  CHECK_TEXT(out.data, "{\"text\":\"a\\\"\\n\\u0001\","
                       "\"number\":\"-9223372036854775808\","
                       "\"list\":[\"0\",\"-1\",\"300\"],\"half\":0.1,"
                       "\"bytes\":\"YWI=\",\"inside\":{}}");
  sp_buffer_clear(&out);
  sp_reply_begin(&reply, &out, false);
  sp_reply_text(&reply, 1, "text", "ab");
  sp_reply_ints(&reply, 3, "list", numbers + 2, 1);
  sp_reply_open(&reply, 6, "inside");
  sp_reply_close(&reply);
  sp_reply_end(&reply);
  CHECK_EQUAL(10, out.size);
  CHECK(memcmp(out.data, "\x0a\2ab\x1a\2\xac\2\x32\0", 10) == 0);
  sp_buffer_dispose(&out);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"json_names_are_read_in_camel_and_snake_case",
       json_names_are_read_in_camel_and_snake_case},
      {"json_of_the_wrong_kind_is_refused", json_of_the_wrong_kind_is_refused},
      {"protobuf_is_read_field_by_field", protobuf_is_read_field_by_field},
      {"hostile_protobuf_is_refused", hostile_protobuf_is_refused},
      {"the_length_of_a_list_is_limited", the_length_of_a_list_is_limited},
      {"a_reply_is_the_same_in_protobuf_and_json",
       a_reply_is_the_same_in_protobuf_and_json},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
