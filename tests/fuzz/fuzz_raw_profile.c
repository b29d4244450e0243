/* Reads an uploaded pprof profile, compressed or not: it is decompressed, read,
 * checked against every rule, and converted to the stored form. A refusal must
 * have a message; stored numbers must refer to existing objects. */
#include <stdlib.h>

#include "server/receive/profile/build.h"
#include "server/receive/profile/raw_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const sp_received *profile) {
  size_t i, k;

  for (i = 0; i < profile->sample_count; i++) {
    const sp_received_sample *sample = &profile->samples[i];
    const sp_received_stack *stack = &profile->stacks[sample->stack];

    for (k = 0; k < stack->count; k++)
      if (profile->stack_frames[stack->first + k] >= profile->location_count)
        abort();
    if (sample->labels >= profile->label_set_count ||
        sample->values + profile->type_count > profile->value_count)
      abort();
  }
}

static spanprof_status take(sp_view bytes, sp_arena *arena, sp_buffer *unpacked,
                            sp_series_labels *labels, sp_refusal *refusal) {
  const sp_raw_window window = {1, INT64_MIN, INT64_MAX};
  sp_received *received = NULL;
  sp_raw_profile profile;
  sp_limits limits = sp_limits_pyroscope;
  size_t next = 0, negative = 0;
  spanprof_status st;
  bool large;

  /* The smallest allowed memory of a part, and space for a few samples. */
  limits.part_bytes = (size_t)68 << 10;
  st = sp_raw_unpack(bytes, unpacked, (size_t)1 << 20, &bytes, &large, refusal);
  if (st || large)
    return st;
  st = sp_raw_read(&profile, arena, bytes, refusal);
  if (!st)
    st = sp_raw_check(&profile, &window, &sp_limits_pyroscope, labels, refusal);
  do {
    if (!st)
      st = sp_build(&received, &profile, labels, &limits, &next, &negative,
                    refusal);
    if (received)
      look_at(received);
    sp_received_free(received);
    received = NULL;
  } while (!st && next < profile.sample_count);
  return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  sp_series_labels labels;
  sp_refusal refusal;
  sp_buffer unpacked;
  sp_arena arena;
  spanprof_status st;

  sp_series_labels_init(&labels, &sp_mem_default);
  sp_series_labels_add(&labels, sp_view_text("__name__"), sp_view_text("a"));
  sp_series_labels_add(&labels, sp_view_text("service_name"),
                       sp_view_text("b"));
  sp_refusal_init(&refusal, &sp_mem_default);
  sp_buffer_init(&unpacked, &sp_mem_default);
  sp_arena_init(&arena, &sp_mem_default, (size_t)64 << 20);
  st = take(sp_view_of(data, size), &arena, &unpacked, &labels, &refusal);
  if ((st == SPANPROF_ERR_FORMAT) != (refusal.kind != SP_REFUSAL_NONE) ||
      (st && !*sp_refusal_text(&refusal)))
    abort();
  sp_arena_dispose(&arena);
  sp_buffer_dispose(&unpacked);
  sp_refusal_dispose(&refusal);
  sp_series_labels_dispose(&labels);
  return 0;
}
