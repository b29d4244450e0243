/* JSON on its way out (RFC 8259). Numbers are written whole, by fprintf(). */
#ifndef SP_JSON_TEXT_H
#define SP_JSON_TEXT_H

#include <stdio.h>

/* A text; the bytes are valid UTF-8. */
void sp_json_text(const char *text, size_t bytes, FILE *out);

/* The same within an element of HTML, which no text ends. */
void sp_json_text_in_html(const char *text, size_t bytes, FILE *out);

#endif
