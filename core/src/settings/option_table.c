#include "option_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "duration.h"
#include "environment.h"
#include "util/text/ascii.h"
#include "util/text/list.h"
#include "util/text/number.h"
#include "util/text/utf8.h"

#define OPTION_VARIABLES_MAX 2

typedef struct option_row {
  const char *name;
  size_t offset; /* offset in spanprof_options */
  size_t value;  /* offset in sp_option_values */
  sp_option_kind kind;
  int64_t least;
  int64_t most;
  int64_t standard;
  const char *variables[OPTION_VARIABLES_MAX];
} option_row;

static const option_row option_rows[] = {
#define OPTION_ROW(field, kind, least, most, standard, what, ...) \
  {#field,                                                        \
   offsetof(spanprof_options, field),                             \
   offsetof(sp_option_values, field),                             \
   SP_OPTION_##kind,                                              \
   least,                                                         \
   most,                                                          \
   standard,                                                      \
   {__VA_ARGS__}},
    SP_OPTION_LIST(OPTION_ROW)
#undef OPTION_ROW
};

static const struct option_name {
  sp_option_kind kind;
  const char *name;
  int64_t value;
} option_names[] = {
    {SP_OPTION_LEVEL, "trace", SPANPROF_LOG_DEBUG},
    {SP_OPTION_LEVEL, "debug", SPANPROF_LOG_DEBUG},
    {SP_OPTION_LEVEL, "info", SPANPROF_LOG_INFO},
    {SP_OPTION_LEVEL, "warn", SPANPROF_LOG_WARN},
    {SP_OPTION_LEVEL, "warning", SPANPROF_LOG_WARN},
    {SP_OPTION_LEVEL, "error", SPANPROF_LOG_ERROR},
    {SP_OPTION_LEVEL, "off", SPANPROF_LOG_OFF},
    {SP_OPTION_LEVEL, "none", SPANPROF_LOG_OFF},
    {SP_OPTION_NATIVE, "none", SPANPROF_NATIVE_FRAMES_NONE},
    {SP_OPTION_NATIVE, "libraries", SPANPROF_NATIVE_FRAMES_LIBRARIES},
    {SP_OPTION_NATIVE, "all", SPANPROF_NATIVE_FRAMES_ALL},
};

static bool option_is_text(const option_row *row) {
  return SP_OPTION_IS_TEXT(row->kind);
}

static size_t option_size(const option_row *row) {
  return option_is_text(row) ? sizeof(const char *) : sizeof(int64_t);
}

static sp_option_value *option_value(sp_option_values *values,
                                     const option_row *row) {
  return (sp_option_value *)((char *)values + row->value);
}

void sp_option_table_unset(spanprof_options *options, size_t struct_size) {
  const int64_t unset = SPANPROF_UNSET;
  size_t i;

  for (i = 0; i < SP_COUNT_OF(option_rows); i++) {
    const option_row *row = &option_rows[i];

    if (!option_is_text(row) && row->offset + option_size(row) <= struct_size)
      memcpy((char *)options + row->offset, &unset, sizeof unset);
  }
}

bool sp_option_table_knows(const char *variable, size_t bytes) {
  static const char enabled[] = "PYROSCOPE_AGENT_ENABLED";
  size_t i, k;

  for (i = 0; i < SP_COUNT_OF(option_rows); i++) {
    for (k = 0; k < OPTION_VARIABLES_MAX; k++) {
      const char *known = option_rows[i].variables[k];

      if (known && strlen(known) == bytes && !memcmp(known, variable, bytes))
        return true;
    }
  }
  return bytes == sizeof enabled - 1 && !memcmp(enabled, variable, bytes);
}

/* Read the value that the caller's structure gives. If it gives none,
 * given->number stays SPANPROF_UNSET. */
static void option_from_call(const option_row *row,
                             const spanprof_options *options,
                             sp_option_value *given) {
  if (!options || row->offset + option_size(row) > options->struct_size)
    return;
  if (option_is_text(row))
    memcpy(&given->text, (const char *)options + row->offset,
           sizeof given->text);
  else
    memcpy(&given->number, (const char *)options + row->offset,
           sizeof given->number);
}

/* In the Java agent, PYROSCOPE_SAMPLING_RATE is the fraction of time, between 0
 * and 1, in which the agent profiles (pyroscope-java, Config.java, commit
 * 03b0e389). */
static bool option_is_java_fraction(const option_row *row, const char *text) {
  return row->kind == SP_OPTION_RATE && strchr(text, '.') &&
         strspn(text, "0.") > 0 && strspn(text, "0123456789.") == strlen(text);
}

static void option_from_environment(const option_row *row,
                                    char *const *environment,
                                    sp_option_value *given, sp_buffer *notes) {
  bool empty_counts =
      row->kind == SP_OPTION_PROXY || row->kind == SP_OPTION_NO_PROXY;
  size_t i;

  for (i = 0; i < OPTION_VARIABLES_MAX && row->variables[i]; i++) {
    const char *text = sp_environment_find(environment, row->variables[i]);

    if (!text || (!*text && !empty_counts))
      continue;
    if (option_is_java_fraction(row, text)) {
      sp_buffer_format(notes,
                       "%s is a fraction of time, not a rate, and is ignored\n",
                       row->variables[i]);
      continue;
    }
    given->text = text;
    given->variable = row->variables[i];
    return;
  }
}

/* Parse a whole number. *over is set to whether the number does not fit 64
 * bits. */
static bool option_parse_number(const char *text, int64_t *out, bool *over) {
  const char *end = text + strlen(text);
  spanprof_status st;

  sp_list_trim(&text, &end);
  st = sp_number_signed(text, end, out);
  *over = st == SPANPROF_ERR_LIMIT;
  return st != SPANPROF_ERR_FORMAT;
}

static bool option_parse_duration(const option_row *row, const char *text,
                                  int64_t *out, bool *over) {
  uint64_t unit_ns = row->kind == SP_OPTION_MS ? SP_NS_PER_MS : SP_NS_PER_S;
  uint64_t ns;
  spanprof_status st = sp_duration_parse(text, SP_NS_PER_S, &ns);

  *over = st == SPANPROF_ERR_LIMIT;
  *out = (int64_t)(ns / unit_ns);
  return st != SPANPROF_ERR_FORMAT;
}

bool sp_option_name(sp_option_kind kind, const char *text, int64_t *out) {
  size_t i;

  for (i = 0; i < SP_COUNT_OF(option_names); i++) {
    if (option_names[i].kind == kind &&
        strcasecmp(option_names[i].name, text) == 0) {
      *out = option_names[i].value;
      return true;
    }
  }
  return false;
}

const char *sp_option_names(sp_option_kind kind) {
  return kind == SP_OPTION_LEVEL ? "debug, info, warn, error or off"
                                 : "none, libraries or all";
}

/* PYROSCOPE_NATIVE_FRAMES was a switch in earlier versions. */
static bool option_parse_name(sp_option_kind kind, const char *text,
                              int64_t *out) {
  bool on;

  if (sp_option_name(kind, text, out))
    return true;
  if (kind != SP_OPTION_NATIVE || sp_environment_switch(text, &on))
    return false;
  *out = on ? SPANPROF_NATIVE_FRAMES_LIBRARIES : SPANPROF_NATIVE_FRAMES_NONE;
  return true;
}

static const char *option_expected(const option_row *row) {
  switch (row->kind) {
  case SP_OPTION_SWITCH:
    return "true or false";
  case SP_OPTION_LEVEL:
  case SP_OPTION_NATIVE:
    return sp_option_names(row->kind);
  case SP_OPTION_MS:
  case SP_OPTION_SECONDS:
    return "a duration such as 10, 10s, 500ms or 1m";
  default:
    return "a whole number";
  }
}

static spanprof_status option_refuse_range(const option_row *row,
                                           const sp_option_value *given,
                                           const char *shown) {
  const char *unit = row->kind == SP_OPTION_MS        ? " ms"
                     : row->kind == SP_OPTION_SECONDS ? " s"
                                                      : "";

  return sp_option_refuse(given,
                          "is %s, not within %" PRId64 " to %" PRId64 "%s",
                          shown, row->least, row->most, unit);
}

/* Parse and check an option that is a number. */
static spanprof_status option_number(const option_row *row,
                                     sp_option_value *given) {
  char shown[SP_OPTION_SHOWN_BYTES];
  bool good = true, over = false, on = false;

  if (given->text) {
    sp_option_show(given->text, strlen(given->text), shown);
    switch (row->kind) {
    case SP_OPTION_SWITCH:
      good = !sp_environment_switch(given->text, &on);
      given->number = on;
      break;
    case SP_OPTION_LEVEL:
    case SP_OPTION_NATIVE:
      good = option_parse_name(row->kind, given->text, &given->number);
      break;
    case SP_OPTION_MS:
    case SP_OPTION_SECONDS:
      good = option_parse_duration(row, given->text, &given->number, &over);
      break;
    default:
      good = option_parse_number(given->text, &given->number, &over);
      break;
    }
    if (!good)
      return sp_option_refuse(given, "is \"%s\", not %s", shown,
                              option_expected(row));
  } else {
    snprintf(shown, sizeof shown, "%" PRId64, given->number);
  }
  if (over || given->number < row->least || given->number > row->most)
    return option_refuse_range(row, given, shown);
  return SPANPROF_OK;
}

static spanprof_status option_text(const option_row *row,
                                   const sp_option_value *given) {
  size_t bytes = given->text ? strlen(given->text) : 0, control;

  if (!sp_utf8_valid(given->text, bytes))
    return sp_option_refuse(given, "is not valid UTF-8");
  control = sp_ascii_find_control(given->text, bytes);
  if (control < bytes && row->kind != SP_OPTION_LINES)
    return sp_option_refuse(given, "has a control character at byte %zu",
                            control + 1);
  return SPANPROF_OK;
}

static spanprof_status option_read(const option_row *row,
                                   const spanprof_options *options,
                                   char *const *environment,
                                   sp_option_value *given, sp_buffer *notes) {
  given->option = row->name;
  given->number = SPANPROF_UNSET;
  option_from_call(row, options, given);
  if (!given->text && given->number == SPANPROF_UNSET)
    option_from_environment(row, environment, given, notes);
  if (option_is_text(row))
    return option_text(row, given);
  if (!given->text && given->number == SPANPROF_UNSET) {
    given->number = row->standard;
    return SPANPROF_OK;
  }
  return option_number(row, given);
}

spanprof_status sp_option_table_read(sp_option_values *out,
                                     const spanprof_options *options,
                                     char *const *environment,
                                     sp_buffer *notes) {
  spanprof_status st = SPANPROF_OK;
  size_t i;

  memset(out, 0, sizeof *out);
  for (i = 0; i < SP_COUNT_OF(option_rows) && !st; i++)
    st = option_read(&option_rows[i], options, environment,
                     option_value(out, &option_rows[i]), notes);
  return st;
}
