/* Makes external texts acceptable to the server. Reports whether a text
 * changed, so that callers can count the changes. */
#ifndef SP_CLEAN_H
#define SP_CLEAN_H

#include "util/base.h"

/* Pyroscope's defaults for validation.max-length-label-name and -value
 * (pkg/validation/limits.go, v2.2). The server rejects longer names and values
 * with 400. */
#define SP_CLEAN_NAME_MAX 1024
#define SP_CLEAN_TEXT_MAX 2048

/* Is the text already clean, so that sp_clean_text() or sp_clean_name() would
 * not change it? Callers check this first, because most texts are clean, and
 * the buffers of those functions would cost every thread a page of its
 * stack. */
bool sp_clean_text_is(const char *text, size_t bytes);
bool sp_clean_name_is(const char *text, size_t bytes);

/* Clean a label value or span name: valid UTF-8 without control characters.
 * `out` has SP_CLEAN_TEXT_MAX bytes. Returns the length. */
size_t sp_clean_text(const char *text, size_t bytes, char *out, bool *changed);

/* May `c` be at index `place` of a label name, [A-Za-z_][A-Za-z0-9_.]*? All
 * names that spanprof sends have this form. */
bool sp_clean_name_has(char c, size_t place);

/* Clean a label name to [A-Za-z_][A-Za-z0-9_.]*: each other character becomes
 * `_`, and an empty name "_". `out` has SP_CLEAN_NAME_MAX bytes. Returns the
 * length. */
size_t sp_clean_name(const char *text, size_t bytes, char *out, bool *changed);

/* Replace each dot of a label name by `_`, in place, because Grafana does not
 * show labels with dots. Names that begin with otel.scope. or process.runtime.
 * keep their dots: Pyroscope identifies its clients by them. Returns true if
 * the name changed. */
bool sp_clean_dots(char *name, size_t bytes);

#endif
