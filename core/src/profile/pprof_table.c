#include "pprof_table.h"

static spanprof_status table_take_mapping(void *data,
                                          const sp_pprof_field *field) {
  sp_pprof_table *table = data;
  sp_pprof_mapping *out = (sp_pprof_mapping *)&table->profile
                              ->mappings[table->profile->mapping_count++];
  const Perftools__Profiles__Mapping *mapping;
  spanprof_status st = sp_pprof_source_unpack(
      table->source, field, &perftools__profiles__mapping__descriptor,
      &mapping);

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
  return sp_pprof_ids_add(&table->mappings, table->source->kept->mem,
                          mapping->id);
}

static spanprof_status table_take_function(void *data,
                                           const sp_pprof_field *field) {
  sp_pprof_table *table = data;
  sp_pprof_function *out = (sp_pprof_function *)&table->profile
                               ->functions[table->profile->function_count++];
  const Perftools__Profiles__Function *function;
  spanprof_status st = sp_pprof_source_unpack(
      table->source, field, &perftools__profiles__function__descriptor,
      &function);

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
  return sp_pprof_ids_add(&table->functions, table->source->kept->mem,
                          function->id);
}

static spanprof_status table_take_location(void *data,
                                           const sp_pprof_field *field) {
  sp_pprof_table *table = data;
  sp_pprof_location *out = (sp_pprof_location *)&table->profile
                               ->locations[table->profile->location_count++];
  const Perftools__Profiles__Location *location;
  sp_pprof_line *lines = NULL;
  spanprof_status st = sp_pprof_source_unpack(
      table->source, field, &perftools__profiles__location__descriptor,
      &location);
  size_t i;

  if (!st)
    st = sp_pprof_source_new(table->source, location->n_line, sizeof *lines,
                             &lines);
  if (st)
    return st;
  for (i = 0; i < location->n_line; i++) {
    lines[i].line = location->line[i]->line;
    lines[i].function =
        sp_pprof_ids_find(&table->functions, location->line[i]->function_id);
    if (lines[i].function == SP_PPROF_NONE)
      return sp_pprof_source_broken("a location names a function that is not "
                                    "there");
  }
  out->lines = lines;
  out->line_count = (uint32_t)location->n_line;
  out->address = location->address;
  /* A mapping that is not there is none, as for go tool pprof. */
  out->mapping = sp_pprof_ids_find(&table->mappings, location->mapping_id);
  return sp_pprof_ids_add(&table->locations, table->source->kept->mem,
                          location->id);
}

spanprof_status sp_pprof_table_init(sp_pprof_table *table, sp_pprof *profile,
                                    sp_pprof_source *source,
                                    const size_t *counts) {
  spanprof_status st;

  memset(table, 0, sizeof *table);
  table->profile = profile;
  table->source = source;
  st = sp_pprof_ids_init(&table->locations, source,
                         counts[SP_PPROF_FIELD_LOCATION]);
  if (!st)
    st = sp_pprof_ids_init(&table->functions, source,
                           counts[SP_PPROF_FIELD_FUNCTION]);
  if (!st)
    st = sp_pprof_ids_init(&table->mappings, source,
                           counts[SP_PPROF_FIELD_MAPPING]);
  if (!st)
    st = sp_pprof_source_new(source, counts[SP_PPROF_FIELD_LOCATION],
                             sizeof *profile->locations, &profile->locations);
  if (!st)
    st = sp_pprof_source_new(source, counts[SP_PPROF_FIELD_FUNCTION],
                             sizeof *profile->functions, &profile->functions);
  if (!st)
    st = sp_pprof_source_new(source, counts[SP_PPROF_FIELD_MAPPING],
                             sizeof *profile->mappings, &profile->mappings);
  return st;
}

spanprof_status sp_pprof_table_fill(sp_pprof_table *table) {
  const sp_pprof_source *source = table->source;
  spanprof_status st;

  st = sp_pprof_source_each(source, SP_PPROF_FIELD_MAPPING, table_take_mapping,
                            table);
  if (!st)
    st = sp_pprof_source_each(source, SP_PPROF_FIELD_FUNCTION,
                              table_take_function, table);
  if (!st)
    st = sp_pprof_source_each(source, SP_PPROF_FIELD_LOCATION,
                              table_take_location, table);
  return st;
}

void sp_pprof_table_dispose(sp_pprof_table *table, const sp_mem *mem) {
  sp_pprof_ids_dispose(&table->locations, mem);
  sp_pprof_ids_dispose(&table->functions, mem);
  sp_pprof_ids_dispose(&table->mappings, mem);
}
