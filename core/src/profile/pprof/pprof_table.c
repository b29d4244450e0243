#include "pprof_table.h"

static spanprof_status table_read_mapping(void *data,
                                          const sp_wire_field *field) {
  sp_pprof_table *table = data;
  sp_pprof_mapping *out = &table->mappings[table->profile->mapping_count++];
  spanprof_status st;
  const Perftools__Profiles__Mapping *mapping = sp_pprof_source_unpack(
      table->source, field, &perftools__profiles__mapping__descriptor, &st);

  if (!st)
    st = sp_pprof_source_text(table->source, mapping->filename, &out->file);
  if (!st)
    st = sp_pprof_source_text(table->source, mapping->build_id, &out->build_id);
  if (st)
    return st;
  out->start = mapping->memory_start;
  out->limit = mapping->memory_limit;
  out->file_offset = mapping->file_offset;
  out->has_functions = mapping->has_functions;
  return sp_pprof_ids_add(&table->mapping_ids, table->source->kept->mem,
                          mapping->id);
}

static spanprof_status table_read_function(void *data,
                                           const sp_wire_field *field) {
  sp_pprof_table *table = data;
  sp_pprof_function *out = &table->functions[table->profile->function_count++];
  spanprof_status st;
  const Perftools__Profiles__Function *function = sp_pprof_source_unpack(
      table->source, field, &perftools__profiles__function__descriptor, &st);

  if (!st)
    st = sp_pprof_source_text(table->source, function->name, &out->name);
  if (!st)
    st = sp_pprof_source_text(table->source, function->system_name,
                              &out->system_name);
  if (!st)
    st = sp_pprof_source_text(table->source, function->filename, &out->file);
  if (st)
    return st;
  out->start_line = function->start_line;
  return sp_pprof_ids_add(&table->function_ids, table->source->kept->mem,
                          function->id);
}

static spanprof_status table_read_location(void *data,
                                           const sp_wire_field *field) {
  sp_pprof_table *table = data;
  sp_pprof_location *out = &table->locations[table->profile->location_count++];
  spanprof_status st;
  const Perftools__Profiles__Location *location = sp_pprof_source_unpack(
      table->source, field, &perftools__profiles__location__descriptor, &st);
  sp_pprof_line *lines;
  size_t i;

  if (!location)
    return st;
  lines = sp_pprof_source_new(table->source, location->n_line, sizeof *lines);
  if (!lines)
    return sp_pprof_source_memory(table->source);
  for (i = 0; i < location->n_line; i++) {
    lines[i].line = location->line[i]->line;
    lines[i].function =
        sp_pprof_ids_find(&table->function_ids, location->line[i]->function_id);
    if (lines[i].function == SP_PPROF_NONE)
      return sp_pprof_source_broken(
          "a location refers to a function that does not exist");
  }
  out->lines = lines;
  out->line_count = (uint32_t)location->n_line;
  out->address = location->address;
  /* If the mapping does not exist, the location has no mapping, as in go tool
   * pprof. */
  out->mapping = sp_pprof_ids_find(&table->mapping_ids, location->mapping_id);
  return sp_pprof_ids_add(&table->location_ids, table->source->kept->mem,
                          location->id);
}

spanprof_status sp_pprof_table_init(sp_pprof_table *table, sp_pprof *profile,
                                    sp_pprof_source *source,
                                    const size_t *counts) {
  spanprof_status st;

  memset(table, 0, sizeof *table);
  table->profile = profile;
  table->source = source;
  st = sp_pprof_ids_init(&table->location_ids, source,
                         counts[SP_PPROF_FIELD_LOCATION]);
  if (!st)
    st = sp_pprof_ids_init(&table->function_ids, source,
                           counts[SP_PPROF_FIELD_FUNCTION]);
  if (!st)
    st = sp_pprof_ids_init(&table->mapping_ids, source,
                           counts[SP_PPROF_FIELD_MAPPING]);
  if (st)
    return st;
  profile->locations = table->locations = sp_pprof_source_new(
      source, counts[SP_PPROF_FIELD_LOCATION], sizeof *table->locations);
  profile->functions = table->functions = sp_pprof_source_new(
      source, counts[SP_PPROF_FIELD_FUNCTION], sizeof *table->functions);
  profile->mappings = table->mappings = sp_pprof_source_new(
      source, counts[SP_PPROF_FIELD_MAPPING], sizeof *table->mappings);
  return table->locations && table->functions && table->mappings
             ? SPANPROF_OK
             : sp_pprof_source_memory(source);
}

spanprof_status sp_pprof_table_fill(sp_pprof_table *table) {
  const sp_pprof_source *source = table->source;
  spanprof_status st;

  st = sp_pprof_source_each(source, SP_PPROF_FIELD_MAPPING, table_read_mapping,
                            table);
  if (!st)
    st = sp_pprof_source_each(source, SP_PPROF_FIELD_FUNCTION,
                              table_read_function, table);
  if (!st)
    st = sp_pprof_source_each(source, SP_PPROF_FIELD_LOCATION,
                              table_read_location, table);
  return st;
}

void sp_pprof_table_dispose(sp_pprof_table *table, const sp_mem *mem) {
  sp_pprof_ids_dispose(&table->location_ids, mem);
  sp_pprof_ids_dispose(&table->function_ids, mem);
  sp_pprof_ids_dispose(&table->mapping_ids, mem);
}
