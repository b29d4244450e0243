#include "ingest_query.h"

#include <stdlib.h>
#include <time.h>

#include "util/text/number.h"

#define INGEST_DAY_DIGITS 8

static bool ingest_is_label_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '.';
}

static bool ingest_is_app_char(char c) {
  return ingest_is_label_char(c) || c == '-' || c == '/';
}

/* How many bytes the character takes, for showing it. */
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

/* The last of a name counts. */
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

/* Up to the first of `ends`; false: there is none. */
static bool ingest_until(sp_view *rest, const char *ends, sp_view *out,
                         char *end) {
  size_t i;

  for (i = 0; i < rest->size; i++)
    if (rest->bytes[i] && strchr(ends, rest->bytes[i])) {
      *out = sp_view_of(rest->bytes, i);
      *end = rest->bytes[i];
      *rest = sp_view_of(rest->bytes + i + 1, rest->size - i - 1);
      return true;
    }
  return false;
}

/* A label that is not closed is left out, and all behind the brace, too. */
static spanprof_status ingest_labels(sp_ingest_name *out, sp_view rest,
                                     sp_refusal *refusal) {
  sp_view name, value;
  spanprof_status st = SPANPROF_OK;
  char end;

  while (!st && ingest_until(&rest, "=}", &name, &end) && end == '=') {
    if (!ingest_until(&rest, ",}", &value, &end))
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
  sp_view rest = name, app;
  char brace;

  sp_series_labels_init(&out->labels, mem);
  if (!ingest_until(&rest, "{", &app, &brace)) {
    app = name;
    rest = sp_view_of("", 0);
  }
  out->app = sp_view_trim(app);
  st = ingest_check(out->app, "service", ingest_is_app_char, refusal);
  return st ? st : ingest_labels(out, rest, refusal);
}

void sp_ingest_name_dispose(sp_ingest_name *name) {
  sp_series_labels_dispose(&name->labels);
}

/* Seconds of one unit, as in "10min". */
static int64_t ingest_unit(const char *unit) {
  static const struct {
    const char *start;
    int64_t seconds;
  } units[] = {{"s", 1},     {"mon", 2592000}, {"M", 2592000},
               {"min", 60},  {"m", 60},        {"h", 3600},
               {"d", 86400}, {"w", 604800},    {"y", 31536000}};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(units); i++)
    if (strncmp(unit, units[i].start, strlen(units[i].start)) == 0)
      return units[i].seconds;
  return 0;
}

/* "-1h30m" */
static int64_t ingest_offset_ns(const char *text) {
  const int64_t sign = *text == '-' ? -1 : 1;
  int64_t sum = 0, part;
  uint64_t number;

  text++;
  while (*text) {
    if (sp_number_read(&text, NULL, &number) || number > INT64_MAX ||
        __builtin_mul_overflow((int64_t)number, ingest_unit(text) * sign,
                               &part) ||
        __builtin_mul_overflow(part, (int64_t)SP_NS_PER_S, &part) ||
        __builtin_add_overflow(sum, part, &sum))
      return 0;
    text += strcspn(text, "0123456789+-");
    if (*text == '+' || *text == '-')
      break;
  }
  return sum;
}

static bool ingest_day(const char *text, int64_t *out) {
  struct tm day = {0};
  const char *end = strptime(text, "%Y%m%d", &day);

  if (!end || *end || day.tm_year <= 0)
    return false;
  *out = (int64_t)timegm(&day) * (int64_t)SP_NS_PER_S;
  return true;
}

static int64_t ingest_unix(const char *text) {
  int64_t scale = (int64_t)SP_NS_PER_S, time_ns;
  uint64_t number;

  switch (strlen(text)) {
  case 13:
    scale = (int64_t)SP_NS_PER_MS;
    break;
  case 16:
    scale = 1000;
    break;
  case 19:
    scale = 1;
    break;
  }
  if (!sp_number_is(text, INT64_MAX, &number) ||
      __builtin_mul_overflow((int64_t)number, scale, &time_ns))
    return INT64_MAX;
  return time_ns;
}

int64_t sp_ingest_time(const char *text, int64_t now_ns) {
  int64_t time_ns;
  const char *sign;

  if (!text || !*text)
    return now_ns;
  if (text[strspn(text, "0123456789")] == '\0') {
    if (strlen(text) == INGEST_DAY_DIGITS && ingest_day(text, &time_ns))
      return time_ns;
    return ingest_unix(text);
  }
  sign = strpbrk(text, "+");
  if (!sign)
    sign = strpbrk(text, "-");
  if (!sign || __builtin_add_overflow(now_ns, ingest_offset_ns(sign), &time_ns))
    return now_ns;
  return time_ns;
}

uint32_t sp_ingest_rate(const char *text) {
  uint64_t rate;

  return text && sp_number_is(text, UINT32_MAX, &rate) ? (uint32_t)rate
                                                       : SP_INGEST_RATE_DEFAULT;
}
