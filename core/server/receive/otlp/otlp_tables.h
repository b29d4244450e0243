/* The dictionary of an OTLP profiles request: tables of messages, decoded on
 * demand. The numbers of fields are those of opentelemetry-proto v1.10.0,
 * opentelemetry/proto/profiles/v1development/profiles.proto. */
#ifndef SP_OTLP_TABLES_H
#define SP_OTLP_TABLES_H

#include "profile/tables/arena.h"
#include "server/receive/wire/refusal.h"

typedef enum sp_otlp_table {
  SP_OTLP_MAPPINGS = 1,
  SP_OTLP_LOCATIONS,
  SP_OTLP_FUNCTIONS,
  SP_OTLP_LINKS,
  SP_OTLP_TEXTS,
  SP_OTLP_ATTRIBUTES,
  SP_OTLP_STACKS,
  SP_OTLP_TABLE_COUNT
} sp_otlp_table;

typedef struct sp_otlp_tables {
  sp_arena *arena;
  sp_view *items[SP_OTLP_TABLE_COUNT];
  size_t counts[SP_OTLP_TABLE_COUNT];
} sp_otlp_tables;

/* Read the dictionary. Refuses malformed messages and invalid UTF-8 with
 * SP_REFUSAL_BROKEN. */
spanprof_status sp_otlp_tables_read(sp_otlp_tables *out, sp_arena *arena,
                                    sp_view dictionary, sp_refusal *refusal);

/* Get an item by its number. Returns false if the number is invalid. */
bool sp_otlp_tables_at(const sp_otlp_tables *tables, sp_otlp_table table,
                       uint64_t number, sp_view *out);

/* Convert a value to text. Supported values are texts, also those that are in
 * the table of texts, integers, and lists with one of these. For all other
 * values, the result is empty. */
spanprof_status sp_otlp_value_text(const sp_otlp_tables *tables,
                                   sp_arena *arena, sp_view value, sp_view *out,
                                   sp_refusal *refusal);

/* Read the key and the value (the bytes of an AnyValue) of a KeyValue. Returns
 * false if the message is malformed. The key may be invalid UTF-8. */
bool sp_otlp_key_value(sp_view message, sp_view *key, sp_view *value);

/* Read the key and the value of a KeyValue whose key may be in the table of
 * texts. Returns false if the message is malformed. The key is empty if its
 * number is invalid. */
bool sp_otlp_tables_key_value(const sp_otlp_tables *tables, sp_view message,
                              sp_view *key, sp_view *value);

/* Read the key and the value of an entry of the table of attributes, which is a
 * KeyValueAndUnit with a key in the table of texts. Returns false if a number
 * is invalid. */
bool sp_otlp_attribute(const sp_otlp_tables *tables, uint64_t number,
                       sp_view *key, sp_view *value);

#endif
