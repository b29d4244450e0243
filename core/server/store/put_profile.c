#include "put_profile.h"

#include "put_labels.h"
#include "server/store/block/columns.h"
#include "util/system/status.h"

/* Largest number of items that the writer looks up or inserts for one profile
 * in one transaction. This takes about 10 ms. */
#define PUT_QUERIES_MAX 4096

static spanprof_status put_function(sp_put *put, uint32_t number,
                                    sp_row_id *id) {
  const sp_received_function *function = &put->from->functions[number];
  sp_row_id name, file;
  spanprof_status st = SPANPROF_OK;

  if (!put->functions[number]) {
    st = sp_put_text(put, function->name, &name);
    if (!st)
      st = sp_put_text(put, function->file, &file);
    if (!st)
      st = sp_intern_function(put->intern, name, file, function->start_line,
                              &put->functions[number]);
  }
  *id = put->functions[number];
  return st;
}

static void put_frame_text(sp_put *put, uint32_t text) {
  const sp_received_text *of = &put->from->texts[text];

  sp_put_number(&put->frame, of->size);
  sp_buffer_append(&put->frame, of->bytes, of->size);
}

/* Write all properties of a location into put->frame, as its key in memory. If
 * the location is found by this key, its names need no lookups. */
static spanprof_status put_frame(sp_put *put,
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

/* Get the id of a location. Its bytes are the address, then a function and a
 * line number for each of its lines. */
static spanprof_status put_new_location(sp_put *put,
                                        const sp_received_location *location,
                                        sp_row_id *id) {
  spanprof_status st = SPANPROF_OK;
  sp_row_id function;
  uint32_t i;

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
    st = sp_intern_bytes(put->intern, SP_INTERN_LOCATION, 0, put->bytes.data,
                         put->bytes.size, id);
  return st;
}

static spanprof_status put_location(sp_put *put, uint32_t number,
                                    sp_row_id *id) {
  const sp_received_location *location = &put->from->locations[number];
  sp_row_id *place = &put->locations[number];
  spanprof_status st = SPANPROF_OK;

  if (!*place) {
    st = put_frame(put, location);
    if (!st && !put->may_insert) {
      st = sp_put_bytes(put, SP_INTERN_FRAME, 0, put->frame.data,
                        put->frame.size, place);
    } else if (!st &&
               !sp_intern_recall(put->intern, SP_INTERN_FRAME, put->frame.data,
                                 put->frame.size, place)) {
      st = put_new_location(put, location, place);
      if (!st)
        sp_intern_remember(put->intern, SP_INTERN_FRAME, put->frame.data,
                           put->frame.size, *place);
    }
  }
  *id = put->locations[number];
  return st;
}

/* Write the ids of the current stack's locations into put->bytes. */
static spanprof_status put_path_key(sp_put *put, uint32_t count) {
  uint32_t i;

  sp_buffer_clear(&put->bytes);
  for (i = 0; i < count; i++)
    sp_put_number(&put->bytes, put->path[i]);
  return sp_buffer_status(&put->bytes);
}

/* Get the id of a stack, whose frames are looked up from the outermost inwards.
 */
static spanprof_status put_stack(sp_put *put, uint32_t number) {
  const sp_received_stack *stack = &put->from->stacks[number];
  spanprof_status st = SPANPROF_OK;
  uint32_t i;

  if (number && !put->stacks[number]) {
    for (i = 0; !st && i < stack->count; i++)
      st = put_location(
          put, put->from->stack_frames[stack->first + stack->count - 1 - i],
          &put->path[i]);
    if (!st)
      st = put_path_key(put, stack->count);
    if (!st && put->may_insert)
      st = sp_intern_stack(put->intern, put->path, stack->count, &put->bytes,
                           &put->stacks[number]);
    else if (!st)
      st = sp_put_bytes(put, SP_INTERN_PATH, 0, put->bytes.data,
                        put->bytes.size, &put->stacks[number]);
  }
  return st;
}

/* Find the ids of everything that the samples refer to. The writer's thread
 * adds new items; on other threads, SPANPROF_ERR_STATE is returned if there are
 * any. */
static spanprof_status put_find(sp_put *put) {
  const sp_received *from = put->from;
  spanprof_status st = sp_put_source(put), series;
  size_t i, missing = 0;

  for (i = 0; !st && i < from->sample_count; i++) {
    const sp_received_sample *sample = &from->samples[i];

    st = put_stack(put, sample->stack);
    series = !st || st == SPANPROF_ERR_STATE
                 ? sp_put_series(put, sample->labels)
                 : SPANPROF_OK;
    missing += st == SPANPROF_ERR_STATE || series == SPANPROF_ERR_STATE;
    if (st == SPANPROF_ERR_STATE)
      st = SPANPROF_OK;
    if (!st && series != SPANPROF_ERR_STATE)
      st = series;
  }
  return !st && missing ? SPANPROF_ERR_STATE : st;
}

static spanprof_status put_samples(sp_put *put, sp_block *block) {
  const sp_received *from = put->from;
  spanprof_status st = SPANPROF_OK;
  size_t i;

  for (i = 0; !st && i < from->sample_count; i++) {
    const sp_received_sample *sample = &from->samples[i];
    const sp_block_span span = {.span_id = sample->span_id,
                                .trace_hi = sample->trace_hi,
                                .trace_lo = sample->trace_lo};
    uint32_t *number = &put->numbers[sample->labels];
    sp_block_sample stored = {.stack = put->stacks[sample->stack]};

    if (!*number) {
      st = sp_block_add_series(block, put->series[sample->labels]);
      *number = (uint32_t)block->series_count;
    }
    stored.series = *number - 1;
    if (!st && (span.span_id || span.trace_hi || span.trace_lo)) {
      st = sp_block_add_span(block, &span);
      stored.span = (uint32_t)block->span_count;
    }
    if (!st)
      st = sp_block_add_sample(block, &stored, &from->values[sample->values]);
  }
  return st;
}

/* Frees the ids when the block is encoded. */
spanprof_status sp_put_pack(sp_put *put) {
  sp_block block;
  spanprof_status st;

  sp_block_init(&block, put->mem);
  block.type_count = put->from->type_count;
  block.upload_id = put->from->upload_id;
  put->profile = (sp_block_profile){.time_ns = put->from->time_ns,
                                    .duration_ns = put->from->duration_ns};
  st = sp_block_add_profile(&block, &put->profile);
  if (!st)
    st = put_samples(put, &block);
  if (!st)
    st = sp_block_sort(&block);
  if (!st)
    st = sp_block_write(&block, &put->parts);
  if (!st)
    put->profile = block.profiles[0];
  sp_block_dispose(&block);
  sp_mem_free(put->mem, put->texts);
  put->texts = NULL;
  put->packed = !st;
  return st;
}

static spanprof_status put_tables(sp_put *put) {
  const sp_received *from = put->from;
  const size_t count = from->text_count + from->function_count +
                       from->location_count + from->stack_count;
  const size_t sets = 2 * from->label_set_count * sizeof *put->series;
  uint32_t deepest = 0;
  size_t i;

  for (i = 0; i < from->stack_count; i++)
    if (from->stacks[i].count > deepest)
      deepest = from->stacks[i].count;
  sp_mem_free(put->mem, put->texts);
  put->texts =
      sp_mem_zero(put->mem, (count + deepest) * sizeof *put->texts + sets);
  if (!put->texts)
    return SPANPROF_ERR_NOMEM;
  put->functions = put->texts + from->text_count;
  put->locations = put->functions + from->function_count;
  put->stacks = put->locations + from->location_count;
  put->path = put->stacks + from->stack_count;
  put->series = (uint32_t *)(put->path + deepest);
  put->numbers = put->series + from->label_set_count;
  put->source = 0;
  return SPANPROF_OK;
}

void sp_put_init(sp_put *put, const sp_mem *mem, sp_intern *intern,
                 const sp_received *from) {
  *put = (sp_put){.mem = mem, .intern = intern, .from = from};
  sp_buffer_init(&put->bytes, mem);
  sp_buffer_init(&put->frame, mem);
  sp_block_parts_init(&put->parts, mem);
}

void sp_put_dispose(sp_put *put) {
  sp_block_parts_dispose(&put->parts);
  sp_buffer_dispose(&put->frame);
  sp_buffer_dispose(&put->bytes);
  sp_mem_free(put->mem, put->texts);
}

spanprof_status sp_put_prepare(sp_put *put) {
  spanprof_status st;

  if (put->from->type_count > SP_BLOCK_TYPES_MAX)
    return sp_fail(SPANPROF_ERR_LIMIT,
                   "the profile has more than %d sample types",
                   SP_BLOCK_TYPES_MAX);
  st = put_tables(put);
  if (st)
    return st;
  put->generation = sp_intern_lock(put->intern);
  st = put_find(put);
  sp_intern_unlock(put->intern);
  if (!st)
    st = sp_put_pack(put);
  return st == SPANPROF_ERR_STATE ? SPANPROF_OK : st;
}

bool sp_put_is_large(const sp_put *put) {
  size_t frames = 0, i;

  for (i = 0; !put->packed && i < put->from->stack_count; i++)
    if (!put->stacks[i])
      frames += put->from->stacks[i].count;
  return frames > PUT_QUERIES_MAX;
}

/* Allow new items to get ids. If the ids that sp_put_prepare() found have
 * become invalid, forget them. */
static spanprof_status put_allow_inserts(sp_put *put) {
  put->may_insert = true;
  if (put->generation == put->intern->generation)
    return SPANPROF_OK;
  put->generation = put->intern->generation;
  put->packed = false;
  sp_block_parts_dispose(&put->parts);
  return put_tables(put);
}

spanprof_status sp_put_learn(sp_put *put, bool *more) {
  const uint64_t queries_max = put->intern->queries + PUT_QUERIES_MAX;
  const sp_received *from = put->from;
  spanprof_status st = put_allow_inserts(put);
  size_t i;

  *more = false;
  if (!st)
    st = sp_put_source(put);
  for (i = 0; !st && !*more && i < from->sample_count; i++) {
    st = put_stack(put, from->samples[i].stack);
    if (!st)
      st = sp_put_series(put, from->samples[i].labels);
    *more = put->intern->queries > queries_max;
  }
  return st;
}

spanprof_status sp_put_finish(sp_put *put) {
  spanprof_status st = put_allow_inserts(put);

  if (!st && put->packed)
    return SPANPROF_OK;
  if (!st)
    st = put_find(put);
  return st ? st : sp_put_pack(put);
}
