#include "ingest_query.h"

#include <stdlib.h>
#include <string.h>

#include "settings/unix_time.h"
#include "util/text/number.h"

static bool ingest_is_label_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '.';
}

static bool ingest_is_app_char(char c) {
  return ingest_is_label_char(c) || c == '-' || c == '/';
}

/* Returns the number of bytes of the first character of a text, for an error
 * message. */
static int ingest_char_bytes(sp_view text) {
  size_t size = 1;

  while (size < text.size && ((uint8_t)text.bytes[size] & 0xc0) == 0x80)
    size++;
  return (int)size;
}

static spanprof_status ingest_check(sp_view text, const char *what,
                                    bool (*allows)(char), sp_refusal *refusal) {
  size_t i;

  if (!text.size)
    return sp_refuse(refusal, SP_REFUSAL_INVALID, "name: %s name is required",
                     what);
  for (i = 0; i < text.size && allows(text.bytes[i]); i++)
    ;
  if (i == text.size)
    return SPANPROF_OK;
  return sp_refuse(
      refusal, SP_REFUSAL_INVALID,
      "name: invalid %s name: %.*s: character is not allowed: '%.*s'", what,
      (int)text.size, text.bytes,
      ingest_char_bytes(sp_view_of(text.bytes + i, text.size - i)),
      text.bytes + i);
}

/* Add a label. If a name occurs several times, the last label counts. */
static spanprof_status ingest_add(sp_series_labels *labels, sp_view name,
                                  sp_view value) {
  size_t i;

  for (i = 0; i < labels->count; i++)
    if (sp_view_equal(labels->labels[i].name, name)) {
      labels->labels[i].value = value;
      return SPANPROF_OK;
    }
  return sp_series_labels_add(labels, name, value);
}

/* Set *out to the text before the first character that is in `ends`, and
 * advance *remaining after this character. Returns false if no such character
 * occurs. */
static bool ingest_read_until(sp_view *remaining, const char *ends,
                              sp_view *out, char *end) {
  size_t i;

  for (i = 0; i < remaining->size; i++)
    if (remaining->bytes[i] && strchr(ends, remaining->bytes[i])) {
      *out = sp_view_of(remaining->bytes, i);
      *end = remaining->bytes[i];
      *remaining =
          sp_view_of(remaining->bytes + i + 1, remaining->size - i - 1);
      return true;
    }
  return false;
}

/* Read the labels after the opening brace. An unterminated label and any text
 * after the closing brace are ignored. */
static spanprof_status ingest_labels(sp_ingest_name *out, sp_view remaining,
                                     sp_refusal *refusal) {
  sp_view name, value;
  spanprof_status st = SPANPROF_OK;
  char end;

  while (!st && ingest_read_until(&remaining, "=}", &name, &end) &&
         end == '=') {
    if (!ingest_read_until(&remaining, ",}", &value, &end))
      break;
    name = sp_view_trim(name);
    st = ingest_check(name, "label", ingest_is_label_char, refusal);
    if (!st && sp_view_is(name, "__name__"))
      out->app = sp_view_trim(value);
    else if (!st)
      st = ingest_add(&out->labels, name, sp_view_trim(value));
  }
  return st;
}

spanprof_status sp_ingest_name_read(sp_ingest_name *out, const sp_mem *mem,
                                    sp_view name, sp_refusal *refusal) {
  spanprof_status st;
  sp_view remaining = name, app;
  char brace;

  sp_series_labels_init(&out->labels, mem);
  if (!ingest_read_until(&remaining, "{", &app, &brace)) {
    app = name;
    remaining = sp_view_of("", 0);
  }
  out->app = sp_view_trim(app);
  st = ingest_check(out->app, "service", ingest_is_app_char, refusal);
  return st ? st : ingest_labels(out, remaining, refusal);
}

void sp_ingest_name_dispose(sp_ingest_name *name) {
  sp_series_labels_dispose(&name->labels);
}

uint32_t sp_ingest_rate(const char *text) {
  uint64_t rate;

  return text && sp_number_is(text, UINT32_MAX, &rate) ? (uint32_t)rate
                                                       : SP_INGEST_RATE_DEFAULT;
}

int64_t sp_ingest_time(const char *text, int64_t now_ns) {
  const char *start = text ? text + strspn(text, " \t") : "";
  const bool number = *start && !start[strspn(start, "0123456789 \t")];
  int64_t time_ns;

  if (!number && strncmp(start, "now", 3) != 0)
    return now_ns;
  if (sp_unix_time_parse(start, now_ns, NULL, &time_ns))
    return number ? INT64_MAX : now_ns;
  return time_ns;
}
