/* JSON converted to protobuf. */
#include "check.h"
#include "server/receive/wire/json_wire.h"

static const sp_json_field inner[] = {SP_JSON_ONE("text", 1, SP_JSON_TEXT),
                                      SP_JSON_LAST};

static const sp_json_field colours[] = {SP_JSON_VALUE("DARK_RED", 7),
                                        SP_JSON_LAST};

static const sp_json_field outer[] = {
    SP_JSON_ONE("bigNumber", 1, SP_JSON_NUMBER),
    SP_JSON_ONE("raw", 2, SP_JSON_BASE64),
    SP_JSON_ONE("id", 3, SP_JSON_HEX),
    SP_JSON_LIST("list", 4, inner),
    SP_JSON_ONE("flag", 5, SP_JSON_BOOL),
    SP_JSON_ONE("time", 6, SP_JSON_FIXED64),
    SP_JSON_ENUM("colour", 7, colours),
    SP_JSON_ONE("real", 8, SP_JSON_DOUBLE),
    SP_JSON_LAST};

/* Convert JSON to protobuf, and set `out` to its bytes in hexadecimal, or to
 * "!" and the message if the JSON is refused. */
static void rewrite(const char *json, bool strict, sp_buffer *out) {
  const sp_json_rules rules = {.refuse_unknown = strict};
  sp_refusal refusal;
  sp_buffer wire;
  size_t i;

  sp_buffer_init(&wire, &sp_mem_default);
  sp_refusal_init(&refusal, &sp_mem_default);
  sp_buffer_clear(out);
  sp_buffer_text(out, "");
  if (sp_json_wire(sp_view_text(json), outer, &rules, &wire, &refusal))
    sp_buffer_format(out, "!%s", sp_refusal_text(&refusal));
  else
    for (i = 0; i < wire.size; i++)
      sp_buffer_format(out, "%02x", (uint8_t)wire.data[i]);
  sp_refusal_dispose(&refusal);
  sp_buffer_dispose(&wire);
}

static void values_become_fields(void) {
  static const char *const cases[][2] = {
      {"{}", ""},
      {"{\"bigNumber\":\"9223372036854775807\"}", "08ffffffffffffffff7f"},
      {"{\"big_number\":9223372036854775807}", "08ffffffffffffffff7f"},
      {"{\"bignumber\":1,\"big_\":1,\"big__number\":1}", ""},
      {"{\"colour\":\"DARK_RED\"}", "3807"},
      {"{\"colour\":8}", "3808"},
      {"{\"colour\":\"PINK\"}", ""},
      {"{\"colour\":true}", "!proto: invalid value for field colour"},
      {"{\"real\":\"0.5\"}", "41000000000000e03f"},
      {"{\"real\":\"\"}", "!proto: invalid value for field real"},
      {"{\"bigNumber\":\"-1\"}", "08ffffffffffffffffff01"},
      {"{\"bigNumber\":\"18446744073709551615\"}", "08ffffffffffffffffff01"},
      {"{\"bigNumber\":null,\"unknown\":[1]}", ""},
      {"{\"raw\":\"aGk=\"}", "12026869"},
      {"{\"raw\":\"_-8\"}", "1202ffef"},
      {"{\"id\":\"0aFf\"}", "1a020aff"},
      {"{\"list\":[{\"text\":\"a\"},{}]}", "22030a01612200"},
      {"{\"flag\":true}", "2801"},
      {"{\"time\":\"1\"}", "310100000000000000"},
      {"{\"raw\":\"@@@@\"}", "!proto: invalid value for field raw"},
      {"{\"id\":\"abc\"}", "!proto: invalid value for field id"},
      {"{\"bigNumber\":1.5}", "!proto: invalid value for field bigNumber"},
      {"{\"bigNumber\":\"1x\"}", "!proto: invalid value for field bigNumber"},
      {"{\"bigNumber\":\"99999999999999999999\"}",
       "!proto: invalid value for field bigNumber"},
      {"{\"list\":{}}", "!proto: invalid value for field list"},
      {"{\"list\":[1]}", "!proto: syntax error: an object was expected"},
      {"[]", "!proto: syntax error: an object was expected"},
  };
  sp_buffer out;
  size_t i;

  sp_buffer_init(&out, &sp_mem_default);
  for (i = 0; i < SP_COUNT_OF(cases); i++) {
    rewrite(cases[i][0], false, &out);
    CHECK_TEXT(out.data ? out.data : "", cases[i][1]);
  }
  rewrite("{\"shape\":\"round\"}", true, &out);
  CHECK_TEXT(out.data, "!proto: unknown field \"shape\"");
  rewrite("{\"colour\":\"PINK\"}", true, &out);
  CHECK_TEXT(out.data, "!proto: invalid value for field colour");
  rewrite("hello", false, &out);
  CHECK(out.data[0] == '!');
  rewrite("{\"flag\":true,\"flag\":false}", false, &out);
  CHECK(out.data[0] == '!');
  sp_buffer_dispose(&out);
}

static void json_that_needs_much_memory_is_refused(void) {
  const size_t size = 1 << 20;
  const sp_mem *mem = &sp_mem_default;
  char *text = malloc(size + 1);
  sp_refusal refusal;
  void *placeholder;

  memset(text, '[', size);
  text[size] = '\0';
  sp_refusal_init(&refusal, &sp_mem_default);
  CHECK(sp_json_bounded(sp_view_of(text, size), mem, &placeholder, &refusal));
  CHECK(!placeholder);
  CHECK(refusal.kind == SP_REFUSAL_LARGE);
  sp_refusal_dispose(&refusal);
  sp_refusal_init(&refusal, &sp_mem_default);
  text[0] = '"'; /* brackets inside a text do not count as values */
  CHECK(!sp_json_bounded(sp_view_of(text, size), mem, &placeholder, &refusal));
  sp_mem_free(mem, placeholder);
  CHECK(sp_json_bounded(sp_view_of(text, SP_JSON_BYTES_MAX + 1), mem,
                        &placeholder, &refusal));
  sp_refusal_dispose(&refusal);
  free(text);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"values_become_fields", values_become_fields},
      {"json_that_needs_much_memory_is_refused",
       json_that_needs_much_memory_is_refused},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
