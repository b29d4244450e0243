#include "merge.h"

typedef struct merge_state {
  const sp_merge_input *input;
  sp_frame *out;
  size_t count;
  size_t max;
  size_t walked; /* index of the next language frame */
} merge_state;

static void merge_emit(merge_state *state, sp_frame frame) {
  if (state->count < state->max)
    state->out[state->count++] = frame;
}

/* Emit the language frames of one run of the eval loop, up to and including the
 * frame with SPANPROF_FRAME_ENTRY. */
static void run_emit(merge_state *state) {
  while (state->walked < state->input->walked_count) {
    const spanprof_frame *frame = &state->input->walked[state->walked++];

    merge_emit(state, (sp_frame){.kind = SP_FRAME_RUNTIME,
                                 .code = frame->code,
                                 .position = frame->offset});
    if (frame->flags & SPANPROF_FRAME_ENTRY)
      return;
  }
}

static size_t runs_count(const sp_merge_input *input) {
  size_t runs = 0, i;

  for (i = 0; i < input->walked_count; i++)
    if ((input->walked[i].flags & SPANPROF_FRAME_ENTRY) ||
        i + 1 == input->walked_count)
      runs++;
  return runs;
}

static size_t evals_count(const sp_merge_input *input) {
  size_t evals = 0, i;

  for (i = 0; i < input->native_count; i++)
    evals += input->evaluates[i];
  return evals;
}

/* Return the index of the innermost native frame that belongs to the merged
 * stack. */
static size_t native_first(const sp_merge_input *input) {
  size_t first = 0;

  if (input->walked_count == 0 ||
      !(input->walked[0].flags & SPANPROF_FRAME_LEAF))
    return 0;
  while (first < input->native_count && !input->evaluates[first])
    first++;
  return first;
}

static sp_frame native_frame(const sp_native_frame *native, uint64_t function) {
  if (function)
    return (sp_frame){.kind = SP_FRAME_FUNCTION, .code = function};
  return (sp_frame){.kind = SP_FRAME_NATIVE,
                    .module = native->module,
                    .code = native->address};
}

size_t sp_merge(const sp_merge_input *input, sp_frame *out, size_t max) {
  merge_state state = {.input = input, .out = out, .max = max};
  size_t runs = runs_count(input), evals = evals_count(input);
  bool whole = input->native_whole && !input->walk_cut;
  size_t evals_without_run, extra_runs, i;

  evals_without_run = whole && evals > runs ? evals - runs : 0;
  extra_runs = whole && runs > evals ? runs - evals : 0;
  for (i = native_first(input); i < input->native_count; i++) {
    const sp_native_frame *native = &input->native[i];

    if (!input->evaluates[i]) {
      merge_emit(&state, native_frame(native, input->functions[i]));
    } else if (evals_without_run > 0) {
      evals_without_run--;
    } else {
      for (; evals > 0 && extra_runs > 0; extra_runs--)
        run_emit(&state);
      run_emit(&state);
    }
  }
  while (state.walked < input->walked_count)
    run_emit(&state);
  return state.count;
}
