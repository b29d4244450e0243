/* Making texts from outside fit for the server: what is changed is reported, so
 * that callers count it. */
#ifndef SP_CLEAN_H
#define SP_CLEAN_H

#include "util/base.h"

/* Pyroscope's defaults for validation.max-length-label-name and -value
 * (pkg/validation/limits.go, v2.2): longer ones are refused with 400. */
#define SP_CLEAN_NAME_MAX 1024
#define SP_CLEAN_TEXT_MAX 2048

/* Would sp_clean_text() or sp_clean_name() leave the text as it is? Asked
 * first, because it mostly is, and their buffers would cost every thread a page
 * of its stack. */
bool sp_clean_text_is(const char *text, size_t bytes);
bool sp_clean_name_is(const char *text, size_t bytes);

/* A label value or span name: valid UTF-8 without control characters. `out` has
 * SP_CLEAN_TEXT_MAX bytes; returns the length. */
size_t sp_clean_text(const char *text, size_t bytes, char *out, bool *changed);

/* May the character stand at this place of a label name,
 * [A-Za-z_][A-Za-z0-9_.]*? The one rule of the names that we send. */
bool sp_clean_name_has(char c, size_t place);

/* A label name: [A-Za-z_][A-Za-z0-9_.]*, `_` for each other character, "_" for
 * nothing. `out` has SP_CLEAN_NAME_MAX bytes; returns the length. */
size_t sp_clean_name(const char *text, size_t bytes, char *out, bool *changed);

/* Make `_` of each dot of a label's name, in place: Grafana shows no label that
 * has one. Left are otel.scope.* and process.runtime.*, by which Pyroscope
 * knows its clients. True: it was changed. */
bool sp_clean_dots(char *name, size_t bytes);

#endif
