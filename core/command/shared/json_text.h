/* Writes JSON texts (RFC 8259). Numbers are written by fprintf(). */
#ifndef SP_JSON_TEXT_H
#define SP_JSON_TEXT_H

#include <stdio.h>

/* Write a text; the bytes must be valid UTF-8. */
void sp_json_text(const char *text, size_t bytes, FILE *out);

/* Write a text like sp_json_text(), but escape it so that it cannot close the
 * HTML element that contains the JSON. */
void sp_json_text_in_html(const char *text, size_t bytes, FILE *out);

#endif
