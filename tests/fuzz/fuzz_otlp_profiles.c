/* Reads requests with OTLP profiles: JSON if the input begins with a brace,
 * otherwise protobuf. Each profile of each resource is converted with the
 * request's dictionary. */
#include <stdlib.h>

#include "server/receive/otlp/otlp_json.h"
#include "server/receive/otlp/otlp_profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Convert every message that is reached by following field 2 `depth` times. */
static void convert(const sp_otlp_tables *tables, sp_view message, int depth) {
  sp_wire wire = sp_wire_of(message);
  sp_otlp_profile *profiles;
  sp_wire_field field;
  sp_refusal refusal;
  spanprof_status st;
  size_t count;

  if (depth == 0) {
    sp_refusal_init(&refusal, &sp_mem_default);
    st = sp_otlp_profile_convert(&profiles, &count, tables, message, &refusal);
    if ((st == SPANPROF_ERR_FORMAT) != (refusal.kind != SP_REFUSAL_NONE))
      abort();
    sp_refusal_dispose(&refusal);
    return;
  }
  while (sp_wire_next(&wire, &field))
    if (field.number == 2 && field.type == SP_WIRE_BYTES)
      convert(tables, field.bytes, depth - 1);
}

static spanprof_status take(sp_view request, sp_arena *arena,
                            sp_refusal *refusal) {
  sp_view dictionary = sp_view_of("", 0);
  sp_wire wire = sp_wire_of(request);
  sp_otlp_tables tables;
  spanprof_status st;
  sp_wire_field field;

  while (sp_wire_next(&wire, &field))
    if (field.number == 2 && field.type == SP_WIRE_BYTES)
      dictionary = field.bytes;
  st = sp_otlp_tables_read(&tables, arena, dictionary, refusal);
  wire = sp_wire_of(request);
  while (!st && sp_wire_next(&wire, &field))
    if (field.number == 1 && field.type == SP_WIRE_BYTES)
      convert(&tables, field.bytes, 2);
  return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const sp_json_rules rules = {.refuse_unknown = true};
  sp_view request = sp_view_of(data, size);
  spanprof_status st = SPANPROF_OK;
  sp_refusal refusal;
  sp_buffer wire;
  sp_arena arena;

  sp_refusal_init(&refusal, &sp_mem_default);
  sp_buffer_init(&wire, &sp_mem_default);
  sp_arena_init(&arena, &sp_mem_default, (size_t)64 << 20);
  if (size && data[0] == '{') {
    st = sp_json_wire(request, sp_otlp_json_profiles, &rules, &wire, &refusal);
    request = sp_view_of(wire.data, wire.size);
  }
  if (!st)
    st = take(request, &arena, &refusal);
  if ((st == SPANPROF_ERR_FORMAT) != (refusal.kind != SP_REFUSAL_NONE))
    abort();
  sp_arena_dispose(&arena);
  sp_buffer_dispose(&wire);
  sp_refusal_dispose(&refusal);
  return 0;
}
