/* Writes JSON texts (RFC 8259). Numbers are written by fprintf(). */
#ifndef SP_JSON_TEXT_H
#define SP_JSON_TEXT_H

#include <stdio.h>

/* Write a text; the bytes must be valid UTF-8. */
void sp_json_text(const char *text, size_t bytes, FILE *out);

/* As sp_json_text(), for JSON within an HTML element: the text cannot close the
 * element. */
void sp_json_text_in_html(const char *text, size_t bytes, FILE *out);

#endif
