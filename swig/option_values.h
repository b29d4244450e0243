/* Converts a mapping to spanprof_options, and a list to the arguments of a
 * command, in the same way for all languages. lang/ruby_values.h or
 * lang/python_values.h, which must be included before this file, defines the
 * values_ functions and the VALUES_ texts. If a function returns false or NULL,
 * an exception is set (Python). In Ruby the function raises it instead. */
#ifndef OPTION_VALUES_H
#define OPTION_VALUES_H

#include "command/command.h"
#include "control.h"
#include "settings/option_table.h"
#include "util/text/json_string.h"
#include "util/text/nearest.h"

static const struct option_field {
  const char *name;
  size_t offset;
  sp_option_kind kind;
} option_fields[] = {
#define OPTION_FIELD(name, kind, ...) \
  {#name, offsetof(spanprof_options, name), SP_OPTION_##kind},
    SP_OPTION_LIST(OPTION_FIELD)
#undef OPTION_FIELD
};

#define OPTION_FIELDS (sizeof option_fields / sizeof option_fields[0])

static inline bool option_refuse(const char *name, const char *expected,
                                 sp_object value) {
  return values_refuse("%s must be %s, not " VALUES_KIND "%s", name, expected,
                       values_class(value));
}

/* Read an option that is a text. `expected` describes the accepted values in
 * the error message. */
static inline bool option_string(sp_control_options *out, const char *name,
                                 const char *expected, sp_object value,
                                 const char **text) {
  const char *fault = NULL;

  if (!values_is_text(value))
    return option_refuse(name, expected, value);
  *text = values_text(out->kept, value, &fault);
  if (fault)
    return values_refuse("%s %s", name, fault);
  return *text != NULL;
}

static inline bool option_text(sp_control_options *out, const char *name,
                               sp_object value, const char **text) {
  return option_string(out, name, VALUES_TEXT, value, text);
}

static inline bool option_number(const char *name, const char *expected,
                                 sp_object value, int64_t *number) {
  bool over = false;

  if (!values_number(value, number, &over))
    return option_refuse(name, expected, value);
  return !over || values_refuse("%s is out of range", name);
}

/* The pairs of a mapping that is the value of an option. */
typedef struct option_pairs {
  sp_control_options *out;
  const char *option;
  spanprof_label_pair *pairs;
  size_t count;
} option_pairs;

static inline bool option_pair_text(option_pairs *pairs, sp_object value,
                                    const char **text) {
  sp_object printed;

  return values_print(pairs->out->kept, value, &printed) &&
         option_text(pairs->out, pairs->option, printed, text);
}

static inline bool option_pair(void *data, sp_object name, sp_object value) {
  option_pairs *pairs = data;
  spanprof_label_pair *pair = &pairs->pairs[pairs->count++];

  return option_pair_text(pairs, name, &pair->name) &&
         option_pair_text(pairs, value, &pair->value);
}

static inline bool option_pairs_read(option_pairs *out, sp_object mapping) {
  out->pairs = values_allocate(out->out->kept,
                               (values_size(mapping) + 1) * sizeof *out->pairs);
  return out->pairs && values_each(mapping, option_pair, out);
}

static inline bool option_labels(sp_control_options *out, sp_object mapping) {
  option_pairs pairs = {.out = out, .option = "labels"};

  if (!option_pairs_read(&pairs, mapping))
    return false;
  out->core.label_pairs = pairs.pairs;
  out->core.label_pair_count = pairs.count;
  return true;
}

/* Write `text` as a JSON string and return the end of the string. */
static inline char *option_json(char *out, const char *text) {
  char escape[SP_JSON_ESCAPE_BYTES];

  for (*out++ = '"'; *text; text++) {
    const char *written = sp_json_escape(*text, false, escape);

    if (written)
      out = stpcpy(out, written);
    else
      *out++ = *text;
  }
  *out++ = '"';
  return out;
}

/* Write a mapping as a JSON object of texts. */
static inline bool option_headers(sp_control_options *out, const char *option,
                                  sp_object mapping, const char **text) {
  option_pairs pairs = {.out = out, .option = option};
  size_t i, bytes = sizeof "{}";
  char *p;

  if (!option_pairs_read(&pairs, mapping))
    return false;
  for (i = 0; i < pairs.count; i++)
    bytes += sizeof "\"\":\"\"," +
             (SP_JSON_ESCAPE_BYTES - 1) *
                 (strlen(pairs.pairs[i].name) + strlen(pairs.pairs[i].value));
  *text = p = values_allocate(out->kept, bytes);
  if (!p)
    return false;
  *p++ = '{';
  for (i = 0; i < pairs.count; i++) {
    if (i)
      *p++ = ',';
    p = option_json(p, pairs.pairs[i].name);
    *p++ = ':';
    p = option_json(p, pairs.pairs[i].value);
  }
  strcpy(p, "}");
  return true;
}

/* Read the name of a value. A log level may also be a number. */
static inline bool option_name(sp_control_options *out,
                               const struct option_field *field,
                               sp_object value, int64_t *number) {
  char shown[SP_OPTION_SHOWN_BYTES];
  const char *text = NULL;

  if (!values_is_text(value) && field->kind == SP_OPTION_LEVEL)
    return option_number(field->name, VALUES_TEXT, value, number);
  if (!option_string(out, field->name, sp_option_names(field->kind), value,
                     &text))
    return false;
  sp_option_show(text, strlen(text), shown);
  return sp_option_name(field->kind, text, number) ||
         values_refuse("%s is \"%s\", not %s", field->name, shown,
                       sp_option_names(field->kind));
}

static inline bool option_set(sp_control_options *out,
                              const struct option_field *field,
                              sp_object value) {
  void *place = (char *)&out->core + field->offset;

  switch (field->kind) {
  case SP_OPTION_LABELS:
    if (values_is_mapping(value))
      return option_labels(out, value);
    return option_string(out, field->name, VALUES_PAIRS, value, place);
  case SP_OPTION_LINES:
    if (values_is_mapping(value))
      return option_headers(out, field->name, value, place);
    return option_string(out, field->name, VALUES_PAIRS, value, place);
  case SP_OPTION_PATH:
    return option_string(out, field->name, VALUES_PATH, value, place);
  case SP_OPTION_SWITCH:
    return values_switch(value, place) ||
           option_refuse(field->name, VALUES_SWITCH, value);
  case SP_OPTION_LEVEL:
  case SP_OPTION_NATIVE:
    return option_name(out, field, value, place);
  default:
    return SP_OPTION_IS_TEXT(field->kind)
               ? option_text(out, field->name, value, place)
               : option_number(field->name, VALUES_NUMBER, value, place);
  }
}

static inline bool option_entry(void *data, sp_object key, sp_object value) {
  size_t i;

  if (values_is_nothing(value))
    return true;
  for (i = 0; i < OPTION_FIELDS; i++) {
    if (values_is_name(key, option_fields[i].name))
      return option_set(data, &option_fields[i], value);
  }
  return values_is_own(key) || values_refuse_name(key);
}

/* Convert a mapping to options. Each entry has the name of a field; nil and
 * None mean that an option is not set. Raises spanprof.Error with one sentence
 * that names the option. */
static inline bool control_options(sp_object mapping, sp_control_options *out) {
  spanprof_options_init(&out->core, sizeof out->core);
  out->given = mapping;
  out->kept = values_owner_new();
  if (!values_is_mapping(mapping))
    return option_refuse("options", VALUES_MAPPING, mapping);
  return out->kept && values_each(mapping, option_entry, out);
}

/* Convert a list of texts to the arguments of main(). */
static inline char **control_words(sp_object list, sp_object kept, int *count) {
  const size_t size = kept ? values_count(list) : 0;
  char **words =
      kept ? values_allocate(kept, (size + 1) * sizeof *words) : NULL;
  size_t i;

  for (i = 0; words && i < size; i++) {
    const sp_object word = values_item(list, i);
    sp_control_options out = {.kept = kept};
    const char *text = NULL;

    if (!option_text(&out, "an argument", word, &text))
      return NULL;
    words[i] = (char *)text;
  }
  if (words)
    words[size] = NULL;
  *count = (int)size;
  return words;
}

static inline const char *words_name(const void *words, size_t i) {
  return ((char *const *)words)[i];
}

/* Returns the word after words[0] that is most similar to words[0], or NULL if
 * none is similar. */
static inline const char *sp_control_nearest(int count, char **words) {
  return count ? sp_nearest(words[0], words + 1, (size_t)count - 1, words_name)
               : NULL;
}

#endif
