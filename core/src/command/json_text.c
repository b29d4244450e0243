#include "json_text.h"

void sp_json_text(const char *text, size_t bytes, FILE *out) {
  size_t i;

  putc('"', out);
  for (i = 0; i < bytes; i++) {
    if ((unsigned char)text[i] < 0x20) {
      fprintf(out, "\\u%04x", (unsigned)text[i]);
      continue;
    }
    if (text[i] == '"' || text[i] == '\\')
      putc('\\', out);
    putc(text[i], out);
  }
  putc('"', out);
}
