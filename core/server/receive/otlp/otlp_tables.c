#include "otlp_tables.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/receive/profile/raw_profile.h"
#include "util/text/utf8.h"

/* Fields of AnyValue: opentelemetry/proto/common/v1/common.proto. */
enum {
  OTLP_VALUE_TEXT = 1,
  OTLP_VALUE_INT = 3,
  OTLP_VALUE_ARRAY = 5,
  OTLP_VALUE_TEXT_NUMBER = 8
};

/* Field of KeyValue with the number of the key in the table of texts. */
#define OTLP_KEY_NUMBER 3

static const char *const otlp_table_names[SP_OTLP_TABLE_COUNT] = {
    "",           "mapping_table", "location_table",  "function_table",
    "link_table", "string_table",  "attribute_table", "stack_table"};

static spanprof_status otlp_broken_text(sp_refusal *refusal) {
  return sp_refuse(refusal, SP_REFUSAL_BROKEN,
                   "Failed to parse protobuf request: string field contains "
                   "invalid UTF-8");
}

/* Largest size of an attribute or link. It is limited because an attribute or
 * link is decoded again for each sample that refers to it. Labels are shorter.
 */
#define OTLP_ITEM_BYTES_MAX ((size_t)4096)

/* Get the last field of a value, which in protobuf replaces the fields before
 * it. */
static bool otlp_value_parts(sp_view value, sp_wire_field *out) {
  sp_wire wire = sp_wire_of(value);
  sp_wire_field field;

  *out = (sp_wire_field){.number = 0};
  while (sp_wire_next(&wire, &field))
    *out = field;
  return !wire.fault;
}

static spanprof_status otlp_value_int(sp_arena *arena, uint64_t number,
                                      sp_view *out, sp_refusal *refusal) {
  char digits[24], *copy;
  const int size = snprintf(digits, sizeof digits, "%" PRId64, (int64_t)number);
  spanprof_status st;

  st = sp_raw_new(arena, (size_t)size, 1, &copy, refusal);
  if (st)
    return st;
  memcpy(copy, digits, (size_t)size);
  *out = sp_view_of(copy, (size_t)size);
  return SPANPROF_OK;
}

spanprof_status sp_otlp_value_text(const sp_otlp_tables *tables,
                                   sp_arena *arena, sp_view value, sp_view *out,
                                   sp_refusal *refusal) {
  sp_wire_field field, item;
  sp_wire list;

  *out = sp_view_of("", 0);
  if (!otlp_value_parts(value, &field))
    return sp_refuse(refusal, SP_REFUSAL_BROKEN,
                     "Failed to parse protobuf request");
  if (field.number == OTLP_VALUE_ARRAY && field.type == SP_WIRE_BYTES) {
    list = sp_wire_of(field.bytes);
    if (!sp_wire_next(&list, &item) || item.number != 1 ||
        item.type != SP_WIRE_BYTES || list.at != list.end ||
        !otlp_value_parts(item.bytes, &field))
      return SPANPROF_OK;
  }
  if (field.number == OTLP_VALUE_INT && field.type == SP_WIRE_NUMBER)
    return otlp_value_int(arena, field.value, out, refusal);
  if (field.number == OTLP_VALUE_TEXT_NUMBER && field.type == SP_WIRE_NUMBER) {
    sp_otlp_tables_at(tables, SP_OTLP_TEXTS, field.value, out);
    return SPANPROF_OK;
  }
  if (field.number != OTLP_VALUE_TEXT || field.type != SP_WIRE_BYTES)
    return SPANPROF_OK;
  if (!sp_utf8_valid(field.bytes.bytes, field.bytes.size))
    return otlp_broken_text(refusal);
  *out = field.bytes;
  return SPANPROF_OK;
}

bool sp_otlp_key_value(sp_view message, sp_view *key, sp_view *value) {
  sp_wire wire = sp_wire_of(message);
  sp_wire_field field;

  *key = *value = sp_view_of("", 0);
  while (sp_wire_next(&wire, &field)) {
    if (field.number > 2)
      continue;
    if (field.type != SP_WIRE_BYTES)
      return false;
    *(field.number == 1 ? key : value) = field.bytes;
  }
  return !wire.fault;
}

bool sp_otlp_tables_key_value(const sp_otlp_tables *tables, sp_view message,
                              sp_view *key, sp_view *value) {
  sp_wire wire = sp_wire_of(message);
  sp_wire_field field;

  if (!sp_otlp_key_value(message, key, value))
    return false;
  while (!key->size && sp_wire_next(&wire, &field))
    if (field.number == OTLP_KEY_NUMBER && field.type == SP_WIRE_NUMBER)
      sp_otlp_tables_at(tables, SP_OTLP_TEXTS, field.value, key);
  return true;
}

bool sp_otlp_attribute(const sp_otlp_tables *tables, uint64_t number,
                       sp_view *key, sp_view *value) {
  uint64_t text = 0;
  sp_wire_field field;
  sp_view message;
  sp_wire wire;

  *value = sp_view_of("", 0);
  if (!sp_otlp_tables_at(tables, SP_OTLP_ATTRIBUTES, number, &message))
    return false;
  wire = sp_wire_of(message);
  while (sp_wire_next(&wire, &field)) {
    if (field.number == 1 && field.type == SP_WIRE_NUMBER)
      text = field.value;
    else if (field.number == 2 && field.type == SP_WIRE_BYTES)
      *value = field.bytes;
  }
  return sp_otlp_tables_at(tables, SP_OTLP_TEXTS, text, key);
}

bool sp_otlp_tables_at(const sp_otlp_tables *tables, sp_otlp_table table,
                       uint64_t number, sp_view *out) {
  if (number >= tables->counts[table])
    return false;
  *out = tables->items[table][number];
  return true;
}

static spanprof_status otlp_fill(sp_otlp_tables *out, sp_view dictionary,
                                 sp_refusal *refusal) {
  sp_wire wire = sp_wire_of(dictionary);
  sp_wire_field field;

  while (sp_wire_next(&wire, &field)) {
    if (field.number >= SP_OTLP_TABLE_COUNT)
      continue;
    if (field.number == SP_OTLP_TEXTS &&
        !sp_utf8_valid(field.bytes.bytes, field.bytes.size))
      return otlp_broken_text(refusal);
    if ((field.number == SP_OTLP_ATTRIBUTES || field.number == SP_OTLP_LINKS) &&
        field.bytes.size > OTLP_ITEM_BYTES_MAX)
      return sp_refuse(refusal, SP_REFUSAL_BROKEN,
                       "an item of the %s has more than %zu bytes",
                       otlp_table_names[field.number], OTLP_ITEM_BYTES_MAX);
    out->items[field.number][out->counts[field.number]++] = field.bytes;
  }
  return SPANPROF_OK;
}

spanprof_status sp_otlp_tables_read(sp_otlp_tables *out, sp_arena *arena,
                                    sp_view dictionary, sp_refusal *refusal) {
  size_t counts[SP_OTLP_TABLE_COUNT] = {0}, i;
  sp_wire wire = sp_wire_of(dictionary);
  spanprof_status st;
  sp_wire_field field;

  memset(out, 0, sizeof *out);
  out->arena = arena;
  while (sp_wire_next(&wire, &field)) {
    if (field.number >= SP_OTLP_TABLE_COUNT)
      continue;
    if (!sp_wire_require(&wire, &field, SP_WIRE_BYTES,
                         otlp_table_names[field.number]))
      break;
    counts[field.number]++;
  }
  st = sp_wire_status(&wire, "ProfilesDictionary", refusal);
  for (i = 1; !st && i < SP_OTLP_TABLE_COUNT; i++)
    st = sp_raw_new(arena, counts[i], sizeof(sp_view), &out->items[i], refusal);
  return st ? st : otlp_fill(out, dictionary, refusal);
}
