#include "pprof_writer.h"

/* Pass the pending bytes to the compressor, which makes them final. */
static spanprof_status writer_compress_pending(sp_pprof_writer *writer) {
  sp_buffer *pending = &writer->part.pending;
  spanprof_status st =
      sp_gzip_write(&writer->gzip, pending->data, pending->size);

  writer->raw_bytes += pending->size;
  writer->sums.text_count = writer->part.text_count;
  sp_buffer_clear(pending);
  return st;
}

static spanprof_status writer_text(sp_pprof_writer *writer, const char *text,
                                   int64_t *out) {
  return sp_pprof_part_text(&writer->part, text, strlen(text), out);
}

/* Write the fields that occur once per part. There is only one sample type,
 * because a second one would double the number of series on the server. There
 * is always a period type, because a profile without one can make the server
 * panic (Pyroscope 3fe6a457a, pkg/pprof/pprof.go, visitAllNameReferences()). */
static spanprof_status writer_header(sp_pprof_writer *writer) {
  const sp_window *window = writer->window;
  Perftools__Profiles__Profile profile = PERFTOOLS__PROFILES__PROFILE__INIT;
  Perftools__Profiles__ValueType type = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
  Perftools__Profiles__ValueType *types[1] = {&type};
  int64_t comments[SP_PPROF_COMMENTS_MAX];
  spanprof_status st;
  size_t i;

  st = writer_text(writer, SP_PROFILE_TYPE, &type.type);
  if (!st)
    st = writer_text(writer, SP_PROFILE_UNIT, &type.unit);
  for (i = 0; !st && i < window->comment_count && i < SP_COUNT_OF(comments);
       i++)
    st = writer_text(writer, window->comments[i], &comments[i]);
  if (st)
    return st;
  profile.n_sample_type = SP_COUNT_OF(types);
  profile.sample_type = types;
  profile.period_type = &type;
  profile.period = (int64_t)window->period_ns;
  profile.time_nanos = (int64_t)writer->sums.time_ns;
  profile.duration_nanos = (int64_t)window->duration_ns;
  profile.n_comment = i;
  profile.comment = comments;
  return sp_pprof_part_message(&writer->part, 0, &profile.base);
}

spanprof_status sp_pprof_writer_next(sp_pprof_writer *writer) {
  spanprof_status st;

  writer->sums =
      (sp_encoded){.mem = writer->mem,
                   /* The times of parts must differ, because the server
                    * distinguishes profiles of a series only by their time. */
                   .time_ns = writer->window->time_ns +
                              writer->part_count * SP_PROFILE_TIME_STEP_NS,
                   .duration_ns = writer->window->duration_ns};
  writer->sample_count = 0;
  writer->raw_bytes = 0;
  sp_pprof_labels_begin(&writer->labels);
  st = sp_pprof_part_begin(&writer->part);
  if (!st)
    st = writer_header(writer);
  return st ? st : writer_compress_pending(writer);
}

spanprof_status sp_pprof_writer_open(sp_pprof_writer *writer, const sp_mem *mem,
                                     sp_name_table *names,
                                     const sp_stack_table *stacks,
                                     const sp_label_table *lists,
                                     const sp_window *window) {
  spanprof_status st;

  memset(writer, 0, sizeof *writer);
  writer->mem = mem;
  writer->stacks = stacks;
  writer->window = window;
  sp_pprof_part_init(&writer->part, mem, names, stacks->locations);
  st = sp_pprof_labels_init(&writer->labels, mem, names, lists);
  if (!st)
    st = sp_gzip_open(&writer->gzip, mem);
  return st ? st : sp_pprof_writer_next(writer);
}

void sp_pprof_writer_dispose(sp_pprof_writer *writer) {
  sp_gzip_dispose(&writer->gzip);
  sp_pprof_labels_dispose(&writer->labels);
  sp_pprof_part_dispose(&writer->part);
}

/* Write the objects that no earlier sample of this part uses, then the
 * sample. */
static spanprof_status writer_sample(sp_pprof_writer *writer,
                                     const sp_entry *entry) {
  const sp_stack *stack = &writer->stacks->stacks[entry->stack];
  const uint32_t *frames = writer->stacks->frames + stack->at;
  Perftools__Profiles__Sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT;
  uint64_t locations[SP_PPROF_DEPTH_MAX];
  int64_t values[1] = {(int64_t)entry->cpu_ns};
  spanprof_status st = SPANPROF_OK;
  size_t i;

  for (i = 0; !st && i < stack->count; i++)
    st = sp_pprof_part_location(&writer->part, frames[i], &locations[i]);
  if (!st)
    st = sp_pprof_labels_fill(&writer->labels, &writer->part, entry->labels,
                              entry->span, &sample.n_label);
  if (st)
    return st;
  sample.n_location_id = stack->count;
  sample.location_id = locations;
  sample.n_value = SP_COUNT_OF(values);
  sample.value = values;
  sample.label = writer->labels.pointers;
  return sp_pprof_part_sample(&writer->part, &sample);
}

spanprof_status sp_pprof_writer_add(sp_pprof_writer *writer,
                                    const sp_entry *entry) {
  spanprof_status st;

  if (writer->sample_count == SP_PPROF_SAMPLES_MAX && !writer->window->whole)
    return SPANPROF_ERR_LIMIT;
  st = writer_sample(writer, entry);
  if (st)
    return st;
  /* The pending bytes of this sample would exceed the limit. They are discarded
   * with the part's numbers when the part ends. */
  if (writer->raw_bytes + writer->part.pending.size > SP_PPROF_BYTES_MAX &&
      !writer->window->whole)
    return SPANPROF_ERR_LIMIT;
  st = writer_compress_pending(writer);
  if (st)
    return st;
  writer->sample_count++;
  writer->sums.samples += entry->samples;
  writer->sums.ticks += entry->ticks;
  writer->sums.cpu_ns += entry->cpu_ns;
  return SPANPROF_OK;
}

spanprof_status sp_pprof_writer_finish(sp_pprof_writer *writer,
                                       sp_encoded *out) {
  spanprof_status st;

  *out = writer->sums;
  st = sp_gzip_finish(&writer->gzip, &out->bytes, &out->size);
  if (!st)
    writer->part_count++;
  return st;
}

void sp_encoded_dispose(sp_encoded *encoded) {
  if (encoded->bytes)
    sp_mem_free(encoded->mem, encoded->bytes);
  encoded->bytes = NULL;
  encoded->size = 0;
}
