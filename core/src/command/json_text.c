#include "json_text.h"

#include <stdbool.h>

static void json_text(const char *text, size_t bytes, bool in_html, FILE *out) {
  size_t i;

  putc('"', out);
  for (i = 0; i < bytes; i++) {
    if ((unsigned char)text[i] < 0x20 ||
        (in_html && (text[i] == '<' || text[i] == '>' || text[i] == '&'))) {
      fprintf(out, "\\u%04x", (unsigned)text[i]);
      continue;
    }
    if (text[i] == '"' || text[i] == '\\')
      putc('\\', out);
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
