#include <string.h>

#include "../../util/status.h"
#include "columns.h"
#include "store_inside.h"

/* A profile on its way into the file. */
typedef struct put_profile {
  sp_store *store;
  sp_writer *writer;
  const sp_received *from;
  uint32_t *texts; /* of the store, for those of the profile; 0: not asked */
  uint32_t *functions;
  uint32_t *locations;
  uint32_t *stacks;
  uint32_t *series; /* numbers in the block plus 1, by label set */
  uint32_t *path;   /* the stack at hand */
  sp_block block;
  sp_buffer bytes;
  sp_buffer frame;
} put_profile;

typedef struct put_call {
  sp_store *store;
  const sp_received *const *profiles;
  size_t count;
  bool *repeated; /* of each; may be NULL */
} put_call;

static spanprof_status put_text(put_profile *put, uint32_t text, uint32_t *id) {
  const sp_received_text *bytes = &put->from->texts[text];
  spanprof_status st = SPANPROF_OK;

  if (!put->texts[text])
    st = sp_intern_bytes(&put->writer->intern, SP_INTERN_TEXT, 0, bytes->bytes,
                         bytes->size, &put->texts[text]);
  *id = put->texts[text];
  return st;
}

static spanprof_status put_function(put_profile *put, uint32_t number,
                                    uint32_t *id) {
  const sp_received_function *function = &put->from->functions[number];
  uint32_t name, file;
  spanprof_status st = SPANPROF_OK;

  if (!put->functions[number]) {
    st = put_text(put, function->name, &name);
    if (!st)
      st = put_text(put, function->file, &file);
    if (!st)
      st = sp_intern_numbers(&put->writer->intern, SP_INTERN_FUNCTION, name,
                             file, function->start_line,
                             &put->functions[number]);
  }
  *id = put->functions[number];
  return st;
}

static void put_frame_text(put_profile *put, uint32_t text) {
  const sp_received_text *of = &put->from->texts[text];

  sp_put_number(&put->frame, of->size);
  sp_buffer_append(&put->frame, of->bytes, of->size);
}

/* All that tells a location, into put->frame: found so, its names need not be
 * looked for one by one. */
static spanprof_status put_frame(put_profile *put,
                                 const sp_received_location *location) {
  uint32_t i;

  sp_buffer_clear(&put->frame);
  sp_put_number(&put->frame, location->address);
  for (i = 0; i < location->line_count; i++) {
    const sp_received_line *line = &put->from->lines[location->first_line + i];
    const sp_received_function *function =
        &put->from->functions[line->function];

    sp_put_signed(&put->frame, line->line);
    sp_put_signed(&put->frame, function->start_line);
    put_frame_text(put, function->name);
    put_frame_text(put, function->file);
  }
  return sp_buffer_status(&put->frame);
}

/* Its address, then a function and a line for each of its lines. */
static spanprof_status put_new_location(put_profile *put,
                                        const sp_received_location *location,
                                        uint32_t *id) {
  spanprof_status st = SPANPROF_OK;
  uint32_t i, function;

  sp_buffer_clear(&put->bytes);
  sp_put_number(&put->bytes, location->address);
  for (i = 0; !st && i < location->line_count; i++) {
    const sp_received_line *line = &put->from->lines[location->first_line + i];

    st = put_function(put, line->function, &function);
    sp_put_number(&put->bytes, function);
    sp_put_signed(&put->bytes, line->line);
  }
  if (!st)
    st = sp_buffer_status(&put->bytes);
  if (!st)
    st = sp_intern_bytes(&put->writer->intern, SP_INTERN_LOCATION, 0,
                         put->bytes.data, put->bytes.size, id);
  return st;
}

static spanprof_status put_location(put_profile *put, uint32_t number,
                                    uint32_t *id) {
  const sp_received_location *location = &put->from->locations[number];
  sp_intern *intern = &put->writer->intern;
  spanprof_status st = SPANPROF_OK;

  if (!put->locations[number]) {
    st = put_frame(put, location);
    if (!st && !sp_intern_recall(intern, SP_INTERN_FRAME, put->frame.data,
                                 put->frame.size, &put->locations[number])) {
      st = put_new_location(put, location, &put->locations[number]);
      if (!st)
        sp_intern_remember(intern, SP_INTERN_FRAME, put->frame.data,
                           put->frame.size, put->locations[number]);
    }
  }
  *id = put->locations[number];
  return st;
}

/* From the outermost frame inwards. */
static spanprof_status put_stack(put_profile *put, uint32_t number,
                                 uint32_t *id) {
  const sp_received_stack *stack = &put->from->stacks[number];
  spanprof_status st = SPANPROF_OK;
  uint32_t i;

  if (number && !put->stacks[number]) {
    for (i = 0; !st && i < stack->count; i++)
      st = put_location(
          put, put->from->stack_frames[stack->first + stack->count - 1 - i],
          &put->path[i]);
    if (!st)
      st = sp_intern_stack(&put->writer->intern, put->path, stack->count,
                           &put->stacks[number]);
  }
  *id = put->stacks[number];
  return st;
}

static spanprof_status put_labels(put_profile *put, uint32_t set) {
  const sp_received_labels *labels = &put->from->label_sets[set];
  spanprof_status st = SPANPROF_OK;
  uint32_t i, name, value;

  sp_put_number(&put->bytes, labels->count);
  for (i = 0; !st && i < labels->count; i++) {
    const sp_received_pair *pair = &put->from->pairs[labels->first + i];

    st = put_text(put, pair->name, &name);
    if (!st)
      st = put_text(put, pair->value, &value);
    sp_put_number(&put->bytes, name);
    sp_put_number(&put->bytes, value);
  }
  return st ? st : sp_buffer_status(&put->bytes);
}

/* What all of an upload has in common: types, period and labels. */
static spanprof_status put_source(put_profile *put, uint32_t *id) {
  const sp_received *from = put->from;
  spanprof_status st = SPANPROF_OK;
  uint32_t type, unit;
  size_t i;

  sp_buffer_clear(&put->bytes);
  sp_put_number(&put->bytes, from->type_count);
  for (i = 0; !st && i <= from->type_count; i++) {
    const sp_received_type *of =
        i < from->type_count ? &from->types[i] : &from->period_type;

    st = put_text(put, of->type, &type);
    if (!st)
      st = put_text(put, of->unit, &unit);
    sp_put_number(&put->bytes, type);
    sp_put_number(&put->bytes, unit);
  }
  if (!st)
    st = put_labels(put, from->series);
  sp_put_signed(&put->bytes, from->period);
  if (!st)
    st = sp_intern_bytes(&put->writer->intern, SP_INTERN_SOURCE, 0,
                         put->bytes.data, put->bytes.size, id);
  return st;
}

static spanprof_status put_series(put_profile *put, uint32_t source,
                                  uint32_t set, uint32_t *number) {
  spanprof_status st = SPANPROF_OK;
  uint32_t id;

  if (!put->series[set]) {
    sp_buffer_clear(&put->bytes);
    st = put_labels(put, set);
    if (!st)
      st = sp_intern_bytes(&put->writer->intern, SP_INTERN_SERIES, source,
                           put->bytes.data, put->bytes.size, &id);
    if (!st)
      st = sp_block_add_series(&put->block, id);
    if (!st)
      put->series[set] = (uint32_t)put->block.series_count;
  }
  *number = put->series[set] - 1;
  return st;
}

static spanprof_status put_samples(put_profile *put, uint32_t source) {
  const sp_received *from = put->from;
  const sp_block_profile profile = {.time_ns = from->time_ns,
                                    .duration_ns = from->duration_ns};
  spanprof_status st = sp_block_add_profile(&put->block, &profile);
  size_t i;

  for (i = 0; !st && i < from->sample_count; i++) {
    const sp_received_sample *sample = &from->samples[i];
    const sp_block_span span = {.span_id = sample->span_id,
                                .trace_hi = sample->trace_hi,
                                .trace_lo = sample->trace_lo};
    sp_block_sample kept = {0};

    st = put_stack(put, sample->stack, &kept.stack);
    if (!st)
      st = put_series(put, source, sample->labels, &kept.series);
    if (!st && (span.span_id || span.trace_hi || span.trace_lo)) {
      st = sp_block_add_span(&put->block, &span);
      kept.span = (uint32_t)put->block.span_count;
    }
    if (!st)
      st = sp_block_add_sample(&put->block, &kept,
                               &from->values[sample->values]);
  }
  return st ? st : sp_block_sort(&put->block);
}

/* Whether the store has a profile of that source, time and content. */
static spanprof_status put_is_there(sp_writer *writer, sp_store *store,
                                    uint32_t source,
                                    const sp_block_profile *profile,
                                    bool *there) {
  sqlite3_stmt *find;
  sp_block head;
  spanprof_status st;
  int code = SQLITE_DONE;
  size_t i;

  *there = false;
  st = sp_database_prepare(writer->db, &writer->find_blocks,
                           "SELECT head FROM block WHERE source=?1 AND "
                           "until_ns>=?2 AND from_ns<=?2");
  if (st)
    return st;
  find = writer->find_blocks;
  sqlite3_bind_int64(find, 1, source);
  sqlite3_bind_int64(find, 2, profile->time_ns);
  sp_block_init(&head, store->mem);
  while (!st && !(st = sp_database_step(find, &code)) && code == SQLITE_ROW) {
    st = sp_block_read_head(&head, sqlite3_column_blob(find, 0),
                            (size_t)sqlite3_column_bytes(find, 0));
    for (i = 0; !st && i < head.profile_count; i++)
      *there |= head.profiles[i].time_ns == profile->time_ns &&
                head.profiles[i].hash == profile->hash;
  }
  sp_block_dispose(&head);
  sqlite3_reset(find);
  return st;
}

static spanprof_status put_tables(put_profile *put) {
  const sp_received *from = put->from;
  size_t count = from->text_count + from->function_count +
                 from->location_count + from->stack_count +
                 from->label_set_count;
  uint32_t deepest = 0;
  size_t i;

  if (from->type_count > SP_BLOCK_TYPES_MAX)
    return sp_fail(SPANPROF_ERR_LIMIT,
                   "the profile has more than %d sample types",
                   SP_BLOCK_TYPES_MAX);
  for (i = 0; i < from->stack_count; i++)
    if (from->stacks[i].count > deepest)
      deepest = from->stacks[i].count;
  count += deepest;
  put->texts = sp_mem_zero(put->store->mem, count * sizeof *put->texts);
  if (!put->texts)
    return SPANPROF_ERR_NOMEM;
  put->functions = put->texts + from->text_count;
  put->locations = put->functions + from->function_count;
  put->stacks = put->locations + from->location_count;
  put->series = put->stacks + from->stack_count;
  put->path = put->series + from->label_set_count;
  put->block.type_count = from->type_count;
  return SPANPROF_OK;
}

static spanprof_status put_one(sp_writer *writer, sp_store *store,
                               const sp_received *from, bool *repeated) {
  put_profile put = {.store = store, .writer = writer, .from = from};
  sp_block_parts parts;
  uint32_t source;
  bool there = false;
  spanprof_status st;

  sp_block_init(&put.block, store->mem);
  sp_buffer_init(&put.bytes, store->mem);
  sp_buffer_init(&put.frame, store->mem);
  sp_block_parts_init(&parts, store->mem);
  st = put_tables(&put);
  if (!st)
    st = put_source(&put, &source);
  if (!st)
    st = put_samples(&put, source);
  if (!st)
    st = sp_block_write(&put.block, &parts);
  if (!st)
    st = put_is_there(writer, store, source, &put.block.profiles[0], &there);
  if (!st && there)
    sp_count(&store->repeated_profiles, 1);
  else if (!st)
    st = sp_store_insert_block(writer, source, &put.block, &parts);
  *repeated = there;
  sp_block_parts_dispose(&parts);
  sp_buffer_dispose(&put.frame);
  sp_buffer_dispose(&put.bytes);
  sp_block_dispose(&put.block);
  sp_mem_free(store->mem, put.texts);
  return st;
}

static spanprof_status put_all(sp_writer *writer, void *data) {
  const put_call *call = data;
  spanprof_status st = SPANPROF_OK;
  bool repeated;
  size_t i;

  for (i = 0; !st && i < call->count; i++) {
    st = put_one(writer, call->store, call->profiles[i], &repeated);
    if (call->repeated)
      call->repeated[i] = repeated;
  }
  return st;
}

spanprof_status sp_store_put(sp_store *store,
                             const sp_received *const *profiles, size_t count,
                             bool *repeated) {
  put_call call = {.store = store,
                   .profiles = profiles,
                   .count = count,
                   .repeated = repeated};

  return count ? sp_writer_call(&store->writer, put_all, &call) : SPANPROF_OK;
}
