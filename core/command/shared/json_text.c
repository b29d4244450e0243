#include "json_text.h"

#include "util/text/json_string.h"

static void json_text(const char *text, size_t bytes, bool in_html, FILE *out) {
  char escape[SP_JSON_ESCAPE_BYTES];
  size_t i;

  putc('"', out);
  for (i = 0; i < bytes; i++) {
    const char *written = sp_json_escape(text[i], in_html, escape);

    if (written)
      fputs(written, out);
    else
      putc(text[i], out);
  }
  putc('"', out);
}

void sp_json_text(const char *text, size_t bytes, FILE *out) {
  json_text(text, bytes, false, out);
}

void sp_json_text_in_html(const char *text, size_t bytes, FILE *out) {
  json_text(text, bytes, true, out);
}
