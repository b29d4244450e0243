#include "label_list.h"

#include <stdio.h>
#include <string.h>

#include "util/text/ascii.h"
#include "util/text/clean.h"
#include "util/text/list.h"
#include "util/text/utf8.h"

/* The profiler sets these labels on each sample or series. A static label of
 * the same name would hide them, because on the server a label of the series
 * takes precedence over a label of the sample. */
static const char *const label_list_reserved[] = {
    "service_name", "profile_id", "span_id", "span_name", "trace_id",
};

void sp_label_list_init(sp_label_list *list, const sp_mem *mem) {
  memset(list, 0, sizeof *list);
  list->mem = mem;
}

void sp_label_list_dispose(sp_label_list *list) {
  size_t i;

  for (i = 0; i < list->count; i++) {
    sp_mem_free(list->mem, list->pairs[i].name);
    sp_mem_free(list->mem, list->pairs[i].value);
  }
  sp_mem_free(list->mem, list->pairs);
  sp_label_list_init(list, list->mem);
}

void sp_label_list_next_source(sp_label_list *list) {
  list->fresh = 0;
}

bool sp_label_name_clean(char *name) {
  bool changed = false;
  size_t i;

  for (i = 0; name[i]; i++) {
    if (!sp_clean_name_has(name[i], i)) {
      name[i] = '_';
      changed = true;
    }
  }
  return changed;
}

static spanprof_status label_list_check_name(const sp_option_value *given,
                                             const char *name, size_t bytes) {
  char shown[SP_OPTION_SHOWN_BYTES];
  size_t i;

  sp_option_show(name, bytes, shown);
  if (bytes == 0)
    return sp_option_refuse(given, "has a label without a name");
  if (bytes > SP_LABEL_NAME_MAX_BYTES)
    return sp_option_refuse(given, "has a label name over %d bytes: \"%s\"",
                            SP_LABEL_NAME_MAX_BYTES, shown);
  for (i = 0; i < bytes; i++) {
    if (!sp_clean_name_has(name[i], i))
      return sp_option_refuse(
          given,
          "has the label name \"%s\", which is not [A-Za-z_][A-Za-z0-9_.]*",
          shown);
  }
  if (bytes >= 2 && name[0] == '_' && name[1] == '_')
    return sp_option_refuse(
        given,
        "has the label name \"%s\": names with __ are reserved for the server",
        shown);
  for (i = 0; i < SP_COUNT_OF(label_list_reserved); i++) {
    if (strlen(label_list_reserved[i]) == bytes &&
        memcmp(label_list_reserved[i], name, bytes) == 0)
      return sp_option_refuse(
          given, "has the label name \"%s\", which the profiler sets itself%s",
          shown, i == 0 ? " (to application_name)" : "");
  }
  return SPANPROF_OK;
}

static spanprof_status label_list_check_value(const sp_option_value *given,
                                              const char *name,
                                              size_t name_bytes,
                                              const char *value, size_t bytes) {
  char shown[SP_OPTION_SHOWN_BYTES];

  sp_option_show(name, name_bytes, shown);
  if (bytes > SP_LABEL_VALUE_MAX_BYTES)
    return sp_option_refuse(given,
                            "has a value of %zu bytes for label \"%s\"; the "
                            "server accepts %d",
                            bytes, shown, SP_LABEL_VALUE_MAX_BYTES);
  if (!sp_utf8_valid(value, bytes))
    return sp_option_refuse(
        given, "has a value that is not UTF-8 for label \"%s\"", shown);
  if (sp_ascii_find_control(value, bytes) < bytes)
    return sp_option_refuse(
        given, "has a control character in the value of label \"%s\"", shown);
  return SPANPROF_OK;
}

static size_t label_list_find(const sp_label_list *list, const char *name,
                              size_t bytes) {
  size_t i;

  for (i = 0; i < list->count; i++) {
    if (strlen(list->pairs[i].name) == bytes &&
        memcmp(list->pairs[i].name, name, bytes) == 0)
      break;
  }
  return i;
}

/* Remove bit `at` and move the higher bits down. */
static uint32_t label_bits_remove(uint32_t bits, size_t at) {
  uint32_t low = bits & ((UINT32_C(1) << at) - 1);

  return low | bits >> (at + 1) << at;
}

static void label_list_remove(sp_label_list *list, size_t at) {
  sp_mem_free(list->mem, list->pairs[at].name);
  sp_mem_free(list->mem, list->pairs[at].value);
  list->count--;
  memmove(&list->pairs[at], &list->pairs[at + 1],
          (list->count - at) * sizeof *list->pairs);
  list->fresh = label_bits_remove(list->fresh, at);
  list->dotted = label_bits_remove(list->dotted, at);
}

static spanprof_status label_list_append(sp_label_list *list, const char *name,
                                         size_t name_bytes, char *value) {
  if (sp_mem_reserve(list->mem, (void **)&list->pairs, &list->capacity,
                     list->count + 1, sizeof *list->pairs))
    return sp_option_no_memory();
  list->pairs[list->count].name = sp_mem_text(list->mem, name, name_bytes);
  if (!list->pairs[list->count].name)
    return sp_option_no_memory();
  list->pairs[list->count].value = value;
  list->count++;
  return SPANPROF_OK;
}

static void label_list_note(sp_buffer *notes, const sp_option_value *given,
                            const char *name, size_t bytes, const char *what) {
  char source[SP_OPTION_SHOWN_BYTES], shown[SP_OPTION_SHOWN_BYTES];

  sp_option_origin(given, source, sizeof source);
  sp_option_show(name, bytes, shown);
  sp_buffer_format(notes, "%s: label \"%s\" %s\n", source, shown, what);
}

/* Did the present source set the label at `at`, with a name that had no dots?
 */
static bool label_list_is_plain(const sp_label_list *list, size_t at) {
  return at < list->count && (list->fresh & ~list->dotted) >> at & 1;
}

/* Replace or append a label. On success, takes ownership of `value`. */
static spanprof_status label_list_put(sp_label_list *list,
                                      const sp_option_value *given,
                                      const char *name, size_t name_bytes,
                                      char *value, sp_buffer *notes) {
  size_t at = label_list_find(list, name, name_bytes);
  spanprof_status st = SPANPROF_OK;

  if (at < list->count) {
    if (list->fresh & UINT32_C(1) << at)
      label_list_note(notes, given, name, name_bytes,
                      "is given twice; the last one is used");
    sp_mem_free(list->mem, list->pairs[at].value);
    list->pairs[at].value = value;
  } else if (list->count == SP_LABEL_LIST_MAX) {
    st = sp_option_refuse(given, "exceeds the limit of %d static labels",
                          SP_LABEL_LIST_MAX);
  } else {
    st = label_list_append(list, name, name_bytes, value);
  }
  if (!st)
    list->fresh |= UINT32_C(1) << at;
  return st;
}

static spanprof_status label_list_set(sp_label_list *list,
                                      const sp_option_value *given,
                                      const char *name, size_t name_bytes,
                                      bool dotted, const char *value,
                                      size_t value_bytes, sp_buffer *notes) {
  size_t at = label_list_find(list, name, name_bytes);
  spanprof_status st;
  char *copy;

  if (dotted && label_list_is_plain(list, at)) {
    label_list_note(
        notes, given, name, name_bytes,
        "is given with and without dots; the name without dots is used");
    return SPANPROF_OK;
  }
  if (value_bytes == 0) {
    label_list_note(notes, given, name, name_bytes,
                    "has no value and is omitted");
    if (at < list->count)
      label_list_remove(list, at);
    return SPANPROF_OK;
  }
  copy = sp_mem_text(list->mem, value, value_bytes);
  if (!copy)
    return sp_option_no_memory();
  st = label_list_put(list, given, name, name_bytes, copy, notes);
  if (st)
    sp_mem_free(list->mem, copy);
  else if (dotted)
    list->dotted |= UINT32_C(1) << at;
  else
    list->dotted &= ~(UINT32_C(1) << at);
  return st;
}

static spanprof_status label_list_check(sp_label_list *list,
                                        const sp_option_value *given,
                                        const char *name, size_t name_bytes,
                                        const char *value, size_t value_bytes,
                                        sp_buffer *notes) {
  spanprof_status st = label_list_check_name(given, name, name_bytes);
  char plain[SP_LABEL_NAME_MAX_BYTES];
  bool dotted = false;

  if (!st && !list->keep_dots) {
    memcpy(plain, name, name_bytes);
    dotted = sp_clean_dots(plain, name_bytes);
    name = plain;
  }
  if (dotted)
    st = label_list_check_name(given, name, name_bytes);
  if (!st)
    st = label_list_check_value(given, name, name_bytes, value, value_bytes);
  if (st)
    return st;
  return label_list_set(list, given, name, name_bytes, dotted, value,
                        value_bytes, notes);
}

spanprof_status sp_label_list_set(sp_label_list *list,
                                  const sp_option_value *given,
                                  const char *name, size_t name_bytes,
                                  const char *value, size_t value_bytes,
                                  sp_buffer *notes) {
  spanprof_status st;
  char *clean, what[96];

  if (!list->clean)
    return label_list_check(list, given, name, name_bytes, value, value_bytes,
                            notes);
  clean = sp_mem_text(list->mem, name, name_bytes);
  if (!clean)
    return sp_option_no_memory();
  if (sp_label_name_clean(clean)) {
    list->cleaned++;
    snprintf(what, sizeof what, "becomes \"%.80s\"", clean);
    label_list_note(notes, given, name, name_bytes, what);
  }
  st = label_list_check(list, given, clean, strlen(clean), value, value_bytes,
                        notes);
  sp_mem_free(list->mem, clean);
  return st;
}

spanprof_status sp_label_list_parse(sp_label_list *list,
                                    const sp_option_value *given,
                                    sp_buffer *notes) {
  sp_list items = sp_list_of(given->text, ',');
  char shown[SP_OPTION_SHOWN_BYTES];
  spanprof_status st = SPANPROF_OK;
  sp_name_value pair;

  while (!st && sp_list_next(&items)) {
    if (sp_list_pair(&items, '=', &pair)) {
      st = sp_label_list_set(list, given, pair.name, pair.name_bytes,
                             pair.value, pair.value_bytes, notes);
      continue;
    }
    sp_option_show(items.start, (size_t)(items.end - items.start), shown);
    st = sp_option_refuse(given, "has \"%s\" where name=value is expected",
                          shown);
  }
  return st;
}
