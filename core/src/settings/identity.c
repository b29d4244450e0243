#include "identity.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"
#include "util/text/hex.h"
#include "util/text/list.h"
#include "util/text/utf8.h"

#define IDENTITY_VARIABLE "OTEL_RESOURCE_ATTRIBUTES"

/* Percent-decode into a new text. Returns SPANPROF_ERR_FORMAT if there is an
 * invalid escape, or if the result is not UTF-8 or has control characters. */
static spanprof_status identity_decode(const sp_mem *mem, const char *start,
                                       size_t bytes, char **out) {
  const char *end = start + bytes;
  char *text = sp_mem_new(mem, bytes + 1);
  size_t used = 0, i;
  bool good = true;

  *out = NULL;
  if (!text)
    return sp_option_no_memory();
  while (start < end && good) {
    uint64_t byte = '%';

    if (*start != '%') {
      text[used++] = *start++;
      continue;
    }
    good = end - start > 2 && sp_hex_read(start + 1, 2, &byte);
    text[used++] = (char)byte;
    start += 3;
  }
  for (i = 0; i < used && good; i++)
    good = (unsigned char)text[i] >= 0x20;
  if (!good || !sp_utf8_valid(text, used)) {
    sp_mem_free(mem, text);
    return SPANPROF_ERR_FORMAT;
  }
  text[used] = '\0';
  *out = text;
  return SPANPROF_OK;
}

static spanprof_status identity_put(sp_identity *identity, char *name,
                                    char *value) {
  size_t i;

  for (i = 0; i < identity->count; i++) {
    if (strcmp(identity->attributes[i].name, name) == 0) {
      sp_mem_free(identity->mem, identity->attributes[i].value);
      sp_mem_free(identity->mem, name);
      identity->attributes[i].value = value;
      return SPANPROF_OK;
    }
  }
  if (sp_mem_reserve(identity->mem, (void **)&identity->attributes,
                     &identity->capacity, identity->count + 1,
                     sizeof *identity->attributes))
    return sp_option_no_memory();
  identity->attributes[identity->count].name = name;
  identity->attributes[identity->count].value = value;
  identity->count++;
  return SPANPROF_OK;
}

static spanprof_status identity_item(sp_identity *identity,
                                     const sp_list *items) {
  char *name = NULL, *value = NULL;
  spanprof_status st;
  sp_name_value pair;

  if (!sp_list_pair(items, '=', &pair) || pair.name_bytes == 0)
    return SPANPROF_ERR_FORMAT;
  st = identity_decode(identity->mem, pair.name, pair.name_bytes, &name);
  if (!st)
    st = identity_decode(identity->mem, pair.value, pair.value_bytes, &value);
  if (!st)
    st = identity_put(identity, name, value);
  if (st) {
    sp_mem_free(identity->mem, name);
    sp_mem_free(identity->mem, value);
  }
  return st;
}

spanprof_status sp_identity_read(sp_identity *out, const sp_mem *mem,
                                 char *const *environment, sp_buffer *notes) {
  sp_list items =
      sp_list_of(sp_environment_get(environment, IDENTITY_VARIABLE), ',');
  spanprof_status st = SPANPROF_OK;

  memset(out, 0, sizeof *out);
  out->mem = mem;
  while (!st && sp_list_next(&items))
    st = identity_item(out, &items);
  if (st == SPANPROF_ERR_FORMAT) {
    sp_identity_dispose(out);
    sp_buffer_text(notes, IDENTITY_VARIABLE
                   " is ignored: it is not name=value,name=value with "
                   "percent-encoded UTF-8\n");
    st = SPANPROF_OK;
  }
  return st;
}

void sp_identity_dispose(sp_identity *identity) {
  size_t i;

  for (i = 0; i < identity->count; i++) {
    sp_mem_free(identity->mem, identity->attributes[i].name);
    sp_mem_free(identity->mem, identity->attributes[i].value);
  }
  sp_mem_free(identity->mem, identity->attributes);
  identity->attributes = NULL;
  identity->count = identity->capacity = 0;
}

const char *sp_identity_attribute(const sp_identity *identity,
                                  const char *name) {
  size_t i;

  for (i = 0; i < identity->count; i++) {
    if (strcmp(identity->attributes[i].name, name) == 0)
      return identity->attributes[i].value;
  }
  return NULL;
}

void sp_identity_service_name(const sp_identity *identity,
                              char *const *environment,
                              sp_option_value *given) {
  const char *name = sp_environment_get(environment, "OTEL_SERVICE_NAME");

  if (name) {
    given->text = name;
    given->variable = "OTEL_SERVICE_NAME";
    return;
  }
  name = sp_identity_attribute(identity, "service.name");
  if (name && *name) {
    given->text = name;
    given->variable = IDENTITY_VARIABLE;
  }
}

char *sp_identity_default_name(const sp_mem *mem) {
  static const char unknown[] = "unknown_service";
  char path[PATH_MAX], name[sizeof unknown + 1 + SP_OPTION_SHOWN_BYTES];
  ssize_t bytes = readlink("/proc/self/exe", path, sizeof path);
  const char *base = bytes > 0 ? memrchr(path, '/', (size_t)bytes) : NULL;
  size_t used = sizeof unknown - 1;

  memcpy(name, unknown, used);
  if (base) {
    name[used++] = ':';
    base++;
    used += sp_utf8_printable(base, (size_t)(path + bytes - base), name + used,
                              SP_OPTION_SHOWN_BYTES);
  }
  return sp_mem_text(mem, name, used);
}

/* Set the label `name` to the attribute's value. `name` is allocated memory and
 * may be cleaned in place. */
static spanprof_status identity_label(const sp_option_value *given,
                                      const char *attribute, char *name,
                                      const char *value, sp_label_list *labels,
                                      sp_buffer *notes) {
  char shown[SP_OPTION_SHOWN_BYTES];

  if (sp_label_name_clean(name)) {
    labels->cleaned++;
    sp_option_show(attribute, strlen(attribute), shown);
    sp_buffer_format(notes, "%s: attribute \"%s\" becomes label \"%.80s\"\n",
                     given->option, shown, name);
  }
  return sp_label_list_set(labels, given, name, strlen(name), value,
                           strlen(value), notes);
}

static spanprof_status identity_requested(const sp_identity *identity,
                                          const sp_option_value *given,
                                          const sp_list *items,
                                          sp_label_list *labels,
                                          sp_buffer *notes) {
  const size_t bytes = (size_t)(items->end - items->start);
  char shown[SP_OPTION_SHOWN_BYTES];
  char *attribute, *name = NULL;
  const char *value;
  spanprof_status st = SPANPROF_OK;

  attribute = sp_mem_text(identity->mem, items->start, bytes);
  name = sp_mem_text(identity->mem, items->start, bytes);
  if (!attribute || !name) {
    st = sp_option_no_memory();
    goto cleanup;
  }
  value = sp_identity_attribute(identity, attribute);
  if (value) {
    st = identity_label(given, attribute, name, value, labels, notes);
  } else {
    sp_option_show(attribute, strlen(attribute), shown);
    sp_buffer_format(notes, "%s: " IDENTITY_VARIABLE " has no \"%s\"\n",
                     given->option, shown);
  }
cleanup:
  sp_mem_free(identity->mem, attribute);
  sp_mem_free(identity->mem, name);
  return st;
}

spanprof_status sp_identity_labels(const sp_identity *identity,
                                   const sp_option_value *resource_labels,
                                   sp_label_list *labels, sp_buffer *notes) {
  static const sp_option_value attributes = {.option = IDENTITY_VARIABLE};
  const char *namespace_value =
      sp_identity_attribute(identity, "service.namespace");
  sp_list items = sp_list_of(resource_labels->text, ',');
  spanprof_status st = SPANPROF_OK;

  if (namespace_value && *namespace_value)
    st = sp_label_list_set(labels, &attributes, "service_namespace",
                           strlen("service_namespace"), namespace_value,
                           strlen(namespace_value), notes);
  while (!st && sp_list_next(&items))
    st = identity_requested(identity, resource_labels, &items, labels, notes);
  return st;
}
