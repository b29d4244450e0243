/* The files of a multipart form. */
#include "check.h"
#include "server/receive/wire/multipart.h"

#define TYPE "multipart/form-data; boundary=B"
#define FILE_OF(name, content)                          \
  "--B\r\nContent-Disposition: form-data; name=\"" name \
  "\"; filename=\"x\"\r\nContent-Type: "                \
  "application/octet-stream\r\n\r\n" content "\r\n"

static bool visit(void *data, sp_view name, sp_view content) {
  sp_buffer *out = data;

  sp_buffer_format(out, "%.*s=%.*s|", (int)name.size, name.bytes,
                   (int)content.size, content.bytes);
  return true;
}

/* Set `out` to the files of a form as "name=content|…", or to "!" if the form
 * is refused. */
static void read_form(const char *type, const char *body, size_t size,
                      sp_buffer *out) {
  char *copy = malloc(size + 1);
  sp_refusal refusal;

  memcpy(copy, body, size);
  sp_refusal_init(&refusal, &sp_mem_default);
  sp_buffer_clear(out);
  sp_buffer_text(out, "");
  if (sp_multipart_files(type, sp_view_of(copy, size), visit, out, &refusal)) {
    sp_buffer_clear(out);
    sp_buffer_text(out, "!");
    CHECK(refusal.kind == SP_REFUSAL_BROKEN);
  }
  sp_refusal_dispose(&refusal);
  free(copy);
}

static void files_are_found(void) {
  static const char *const cases[][3] = {
      {TYPE, FILE_OF("profile", "abc") "--B--\r\n", "profile=abc|"},
      {"multipart/form-data; charset=x; boundary=\"B\"",
       FILE_OF("a", "") FILE_OF("b", "1\r\n2") "--B--", "a=|b=1\r\n2|"},
      {TYPE, "preamble\r\n" FILE_OF("a", "--Bx") "--B--\r\n", "!"},
      {TYPE, FILE_OF("a", "x--B") "--B--\r\n", "a=x--B|"},
      {TYPE,
       "--B\r\nContent-Disposition: form-data; "
       "name=\"p\"\r\n\r\nx\r\n--B--\r\n",
       ""},
      {TYPE,
       "--B\r\ncontent-disposition: form-data; filename=f; name=p\r\n\r\n"
       "x\r\n--B--\r\n",
       "p=x|"},
      {TYPE, "--B--\r\n", ""},
      {TYPE, FILE_OF("a", "x"), "!"},
      {TYPE, "", "!"},
      {"multipart/form-data", FILE_OF("a", "x") "--B--\r\n", "!"},
      {"multipart/form-data; boundary=", FILE_OF("a", "x") "--B--\r\n", "!"},
      {"multipart/form-data; boundary=OTHER", FILE_OF("a", "x") "--B--", "!"},
  };
  sp_buffer out;
  size_t i;

  sp_buffer_init(&out, &sp_mem_default);
  for (i = 0; i < SP_COUNT_OF(cases); i++) {
    read_form(cases[i][0], cases[i][1], strlen(cases[i][1]), &out);
    CHECK_TEXT(out.data, cases[i][2]);
  }
  sp_buffer_dispose(&out);
}

static void a_truncated_form_is_refused(void) {
  static const char form[] = FILE_OF("profile", "abc") "--B--";
  sp_buffer out;
  size_t size;

  sp_buffer_init(&out, &sp_mem_default);
  for (size = 0; size < sizeof form - 1; size++) {
    read_form(TYPE, form, size, &out);
    CHECK_TEXT(out.data, "!");
  }
  sp_buffer_dispose(&out);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"files_are_found", files_are_found},
      {"a_truncated_form_is_refused", a_truncated_form_is_refused},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
