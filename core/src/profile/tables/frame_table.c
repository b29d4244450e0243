#include "frame_table.h"

#include <inttypes.h>
#include <stdio.h>

#include "util/system/counters.h"

/* Names that are shown for frames without a name. A native frame may be in JIT
 * code or in an unloaded module. A runtime's frame may not be resolvable. */
static const char frame_unknown_native[] = "[unknown]";
static const char frame_unknown_runtime[] = "(unknown)";

void sp_frame_table_init(sp_frame_table *table, const sp_mem *mem,
                         sp_name_table *names, const char *main_path) {
  memset(table, 0, sizeof *table);
  table->mem = mem;
  table->names = names;
  table->main_path = main_path;
}

void sp_frame_table_dispose(sp_frame_table *table) {
  sp_mem_free(table->mem, table->locations);
  sp_index_dispose(&table->location_index, table->mem);
  sp_mem_free(table->mem, table->functions);
  sp_index_dispose(&table->function_index, table->mem);
  sp_mem_free(table->mem, table->mappings);
  sp_frame_table_init(table, table->mem, table->names, table->main_path);
}

static uint64_t frame_table_hash(const sp_frame *frame) {
  return sp_hash_mix(sp_hash_mix(frame->code, frame->position),
                     ((uint64_t)frame->module << 32) | frame->kind);
}

/* The number of the frame, or SP_INDEX_NONE. */
static uint32_t frame_table_number(const sp_frame_table *table,
                                   const sp_frame *frame, uint64_t hash) {
  uint32_t at, number = sp_index_first(&table->location_index, hash, &at);

  while (number != SP_INDEX_NONE &&
         !sp_frame_equal(&table->locations[number].frame, frame))
    number = sp_index_next(&table->location_index, hash, &at);
  return number;
}

const sp_location *sp_frame_table_find(const sp_frame_table *table,
                                       const sp_frame *frame) {
  const uint32_t number =
      frame_table_number(table, frame, frame_table_hash(frame));

  return number == SP_INDEX_NONE ? NULL : &table->locations[number];
}

spanprof_status sp_frame_table_intern(sp_frame_table *table,
                                      const sp_frame *frame, uint32_t *out) {
  const uint64_t hash = frame_table_hash(frame);
  spanprof_status st;

  *out = frame_table_number(table, frame, hash);
  if (*out != SP_INDEX_NONE)
    return SPANPROF_OK;
  st = sp_index_reserve(&table->location_index, table->mem);
  if (!st)
    st = sp_mem_reserve(table->mem, (void **)&table->locations,
                        &table->location_capacity, table->location_count + 1,
                        sizeof *table->locations);
  if (st)
    return st;
  *out = (uint32_t)table->location_count++;
  table->locations[*out] = (sp_location){.frame = *frame};
  sp_index_add(&table->location_index, hash, *out);
  return SPANPROF_OK;
}

/* Find or add a function; *out is its number, from 1. */
static spanprof_status frame_table_function(sp_frame_table *table,
                                            const sp_function *function,
                                            uint32_t *out) {
  const uint64_t hash =
      sp_hash_mix(((uint64_t)function->name << 32) | function->file,
                  (uint64_t)function->start_line);
  spanprof_status st;
  uint32_t i, at;

  for (i = sp_index_first(&table->function_index, hash, &at);
       i != SP_INDEX_NONE;
       i = sp_index_next(&table->function_index, hash, &at)) {
    const sp_function *known = &table->functions[i];

    if (known->name == function->name && known->file == function->file &&
        known->start_line == function->start_line) {
      *out = i + 1;
      return SPANPROF_OK;
    }
  }
  st = sp_index_reserve(&table->function_index, table->mem);
  if (!st)
    st = sp_mem_reserve(table->mem, (void **)&table->functions,
                        &table->function_capacity, table->function_count + 1,
                        sizeof *table->functions);
  if (st)
    return st;
  sp_index_add(&table->function_index, hash, (uint32_t)table->function_count);
  table->functions[table->function_count++] = *function;
  *out = (uint32_t)table->function_count;
  return SPANPROF_OK;
}

static spanprof_status frame_table_function_named(sp_frame_table *table,
                                                  const char *name,
                                                  uint32_t *out) {
  sp_function function = {0};
  spanprof_status st = sp_name_table_clean(table->names, name, strlen(name),
                                           SP_NAME_BYTES_MAX, &function.name);

  return st ? st : frame_table_function(table, &function, out);
}

static bool frame_table_mapping_equal(const sp_frame_mapping *a,
                                      const sp_frame_mapping *b) {
  return a->path == b->path && a->build_id == b->build_id &&
         a->start == b->start && a->limit == b->limit &&
         a->file_offset == b->file_offset;
}

/* Find or add a mapping; *out is its number, from 1. A linear search is enough:
 * there are at most hundreds of mappings, one per module. */
static spanprof_status frame_table_mapping(sp_frame_table *table,
                                           const sp_mapping_view *view,
                                           uint32_t *out) {
  sp_frame_mapping mapping = {.start = view->start,
                              .limit = view->limit,
                              .file_offset = view->file_offset};
  spanprof_status st;
  uint32_t i;

  st = sp_name_table_clean(table->names, view->path, strlen(view->path),
                           SP_NAME_BYTES_MAX, &mapping.path);
  if (!st)
    st = sp_name_table_clean(table->names, view->build_id,
                             strlen(view->build_id), SP_BUILD_ID_MAX,
                             &mapping.build_id);
  if (st)
    return st;
  if (table->last_mapping &&
      frame_table_mapping_equal(&table->mappings[table->last_mapping - 1],
                                &mapping)) {
    *out = table->last_mapping;
    return SPANPROF_OK;
  }
  for (i = 0; i < table->mapping_count; i++)
    if (frame_table_mapping_equal(&table->mappings[i], &mapping))
      break;
  if (i == table->mapping_count) {
    st = sp_mem_reserve(table->mem, (void **)&table->mappings,
                        &table->mapping_capacity, table->mapping_count + 1,
                        sizeof *table->mappings);
    if (st)
      return st;
    table->mappings[table->mapping_count++] = mapping;
    if (!table->main_mapping && table->main_path &&
        !strcmp(view->path, table->main_path))
      table->main_mapping = i + 1;
  }
  *out = table->last_mapping = i + 1;
  return SPANPROF_OK;
}

static const char *const frame_notes[] = {
#define NOTE_TEXT(name, text) [SP_NOTE_##name] = text,
    SP_NOTES(NOTE_TEXT)
#undef NOTE_TEXT
};

bool sp_note_is(const char *name, size_t bytes) {
  size_t i;

  for (i = 0; i < SP_COUNT_OF(frame_notes); i++)
    if (i != SP_NOTE_INTERPRETER && strlen(frame_notes[i]) == bytes &&
        memcmp(frame_notes[i], name, bytes) == 0)
      return true;
  return false;
}

/* Name an address without a symbol: "libfoo.so+0x1a2b". */
static spanprof_status frame_table_name_address(sp_frame_table *table,
                                                const char *path,
                                                uint64_t address,
                                                uint32_t *out) {
  const char *slash = strrchr(path, '/');
  char name[256];

  snprintf(name, sizeof name, "%.200s+0x%" PRIx64, slash ? slash + 1 : path,
           address);
  return frame_table_function_named(table, name, out);
}

/* Add the functions that stand for frames without a name. */
static spanprof_status frame_table_unknown(sp_frame_table *table) {
  spanprof_status st = SPANPROF_OK;

  if (!table->unknown_native)
    st = frame_table_function_named(table, frame_unknown_native,
                                    &table->unknown_native);
  if (!st && !table->unknown_runtime)
    st = frame_table_function_named(table, frame_unknown_runtime,
                                    &table->unknown_runtime);
  return st;
}

static spanprof_status frame_table_name_known(sp_frame_table *table,
                                              sp_location *location,
                                              const sp_frame_name *known) {
  sp_function function = {.start_line = known->start_line};
  uint32_t mapping = 0, number = 0;
  spanprof_status st = SPANPROF_OK;

  if (known->mapped)
    st = frame_table_mapping(table, &known->mapping, &mapping);
  if (!st && known->file)
    st = sp_name_table_clean(table->names, known->file, known->file_bytes,
                             SP_NAME_BYTES_MAX, &function.file);
  if (!st && known->function)
    st = sp_name_table_clean(table->names, known->function,
                             known->function_bytes, SP_NAME_BYTES_MAX,
                             &function.name);
  if (st)
    return st;
  if (function.name) {
    st = frame_table_function(table, &function, &number);
  } else if (sp_frame_of_runtime(&location->frame)) {
    sp_count(&sp_counts.frames_unnamed, 1);
    number = table->unknown_runtime;
  } else if (mapping) {
    st = frame_table_name_address(
        table, known->mapping.path,
        known->code_start ? known->code_start : location->frame.code, &number);
  } else {
    number = table->unknown_native;
  }
  if (st)
    return st;
  location->line = known->line > 0 ? known->line : 0;
  location->mapping = mapping;
  location->function = number;
  return SPANPROF_OK;
}

void sp_frame_table_unnamed(sp_frame_table *table, sp_frame_fn *fn,
                            void *data) {
  for (; table->visited < table->location_count; table->visited++) {
    const sp_location *location = &table->locations[table->visited];

    if (sp_frame_of_runtime(&location->frame) && !location->function &&
        fn(data, &location->frame))
      return;
  }
}

void sp_frame_table_restart(sp_frame_table *table) {
  table->visited = table->unnamed;
}

void sp_frame_table_name_set(sp_frame_table *table, const sp_frame *frame,
                             const sp_frame_name *name) {
  const uint32_t number =
      frame_table_number(table, frame, frame_table_hash(frame));

  if (number != SP_INDEX_NONE && !table->locations[number].function &&
      !frame_table_unknown(table))
    frame_table_name_known(table, &table->locations[number], name);
}

spanprof_status sp_frame_table_name_get(const sp_frame_table *table,
                                        const sp_frame *frame,
                                        sp_frame_name *out) {
  const sp_location *location = sp_frame_table_find(table, frame);
  const sp_function *function;

  *out = (sp_frame_name){0};
  if (!location || !location->function)
    return SPANPROF_ERR_STATE;
  if (location->function == table->unknown_runtime)
    return SPANPROF_OK;
  function = &table->functions[location->function - 1];
  out->function =
      sp_name_table_get(table->names, function->name, &out->function_bytes);
  out->file = sp_name_table_get(table->names, function->file, &out->file_bytes);
  out->start_line = function->start_line;
  out->line = location->line;
  return SPANPROF_OK;
}

static spanprof_status frame_table_name_one(sp_frame_table *table,
                                            const sp_namer *namer,
                                            sp_location *location) {
  sp_frame_name known = {0};
  spanprof_status st;

  if (location->frame.kind == SP_FRAME_NOTE)
    return frame_table_function_named(table, frame_notes[location->frame.code],
                                      &location->function);
  st = namer->name(namer->data, &location->frame, &known);
  if (st == SPANPROF_ERR_STATE || st == SPANPROF_ERR_NOMEM)
    return st;
  if (st)
    known = (sp_frame_name){0};
  return frame_table_name_known(table, location, &known);
}

spanprof_status sp_frame_table_name(sp_frame_table *table,
                                    const sp_namer *namer) {
  spanprof_status st = frame_table_unknown(table);
  bool waiting = false;
  uint32_t i;

  if (st)
    return st;
  for (i = table->unnamed; i < table->location_count; i++) {
    sp_location *location = &table->locations[i];

    if (!location->function && frame_table_name_one(table, namer, location)) {
      waiting = true;
      if (sp_frame_of_runtime(&location->frame))
        sp_count(&sp_counts.frames_unnamed, 1);
    }
    if (!waiting)
      table->unnamed = i + 1;
  }
  return SPANPROF_OK;
}

uint32_t sp_frame_table_function(const sp_frame_table *table,
                                 const sp_location *location) {
  if (location->function)
    return location->function;
  return sp_frame_of_runtime(&location->frame) ? table->unknown_runtime
                                               : table->unknown_native;
}

size_t sp_frame_table_bytes(const sp_frame_table *table) {
  return table->location_capacity * sizeof *table->locations +
         table->function_capacity * sizeof *table->functions +
         table->mapping_capacity * sizeof *table->mappings +
         sp_index_bytes(&table->location_index) +
         sp_index_bytes(&table->function_index);
}
