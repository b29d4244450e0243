#include "sample_fold.h"

#include <string.h>

#include "../sampler/runtime.h"
#include "../unwind/unwinder.h"
#include "../util/counters.h"
#include "merge.h"
#include "readable_stack.h"
#include "runtime_names.h"
#include "thread_labels.h"

#define FOLD_NATIVE_MAX 1024
#define FOLD_FRAMES_MAX (FOLD_NATIVE_MAX + SP_WALK_FRAMES_MAX)

/* Of a stack deeper than 1000 Pyroscope drops the innermost frames
 * (validation.max-profile-stacktrace-depth): cut the outer end here instead. */
#define FOLD_DEPTH_MAX 900

struct sp_fold {
  const sp_mem *mem;
  uint64_t interval_ns;
  bool native_frames; /* the session's options */
  bool full_native_stacks;
  sp_unwinder *unwinder;
  const sp_settings *settings;
  sp_profile *profile;
  sp_span_set spans;
  sp_fold_side *sides;
  sp_thread_labels thread_labels;
  sp_namer namer;
  sp_native_frame native[FOLD_NATIVE_MAX];
  bool evaluates[FOLD_NATIVE_MAX];
  spanprof_frame walked[SP_WALK_FRAMES_MAX];
  sp_frame frames[FOLD_FRAMES_MAX + 1];
  sp_readable readable;
};

static bool fold_named(void *data, uint32_t module, uint64_t code) {
  const sp_fold *fold = data;

  return sp_unwinder_named(fold->unwinder, module, code);
}

/* "libz.so.1": what stands for all of a module that has no names. */
static void module_name(const sp_module *module, sp_frame_name *out) {
  const char *slash = strrchr(module->path, '/');

  out->function = slash && slash[1] ? slash + 1 : module->path;
  out->function_bytes = strlen(out->function);
}

static spanprof_status native_name(sp_unwinder *unwinder, const sp_frame *frame,
                                   sp_frame_name *out) {
  const sp_module *module = sp_unwinder_module(unwinder, frame->module);

  *out = (sp_frame_name){0};
  if (!module)
    return SPANPROF_OK;
  out->mapped = true;
  out->mapping = (sp_mapping_view){.path = module->path,
                                   .build_id = module->build_id,
                                   .start = module->start,
                                   .limit = module->limit,
                                   .file_offset = module->file_offset};
  if (frame->kind == SP_FRAME_MODULE)
    module_name(module, out);
  else if (sp_unwinder_symbol(unwinder, frame->module, frame->code,
                              &out->function, &out->code_start))
    out->function_bytes = strlen(out->function);
  else if (sp_unwinder_lacks(unwinder, frame->module))
    return SPANPROF_ERR_STATE;
  else
    out->function = NULL;
  return SPANPROF_OK;
}

static spanprof_status fold_name(void *data, const sp_frame *frame,
                                 sp_frame_name *out) {
  sp_fold *fold = data;

  if (frame->kind == SP_FRAME_RUNTIME)
    return sp_runtime_name(frame, out);
  return native_name(fold->unwinder, frame, out);
}

spanprof_status sp_fold_new(sp_fold **out, const sp_mem *mem,
                            const sp_settings *settings, uint64_t interval_ns) {
  sp_fold *fold = sp_mem_zero(mem, sizeof *fold);
  spanprof_status st;

  *out = NULL;
  if (!fold)
    return SPANPROF_ERR_NOMEM;
  fold->mem = mem;
  fold->settings = settings;
  fold->interval_ns = interval_ns;
  fold->native_frames = settings->native_frames;
  fold->full_native_stacks = settings->full_native_stacks;
  fold->readable.named = fold_named;
  fold->readable.data = fold;
  sp_span_set_init(&fold->spans, mem);
  sp_thread_labels_init(&fold->thread_labels, settings);
  fold->namer = (sp_namer){.name = fold_name, .data = fold};
  st = sp_unwinder_new(&fold->unwinder, mem);
  if (!st)
    st = sp_profile_new(&fold->profile, mem, &fold->namer, settings);
  if (st) {
    sp_fold_free(fold);
    return st;
  }
  *out = fold;
  return SPANPROF_OK;
}

spanprof_status sp_fold_side_open(sp_fold *fold, sp_fold_side **out) {
  sp_fold_side *side = sp_mem_zero(fold->mem, sizeof *side);
  spanprof_status st;

  *out = NULL;
  if (!side)
    return SPANPROF_ERR_NOMEM;
  sp_span_set_init(&side->spans, fold->mem);
  st = sp_profile_new(&side->profile, fold->mem, &fold->namer, fold->settings);
  if (st) {
    sp_mem_free(fold->mem, side);
    return st;
  }
  side->next = fold->sides;
  *out = fold->sides = side;
  return SPANPROF_OK;
}

void sp_fold_side_close(sp_fold *fold, sp_fold_side *side) {
  sp_fold_side **at = &fold->sides;

  while (*at != side)
    at = &(*at)->next;
  *at = side->next;
  sp_span_set_clear(&side->spans);
  sp_span_set_dispose(&side->spans);
  sp_profile_free(side->profile);
  sp_mem_free(fold->mem, side);
}

void sp_fold_sides_close(sp_fold *fold) {
  while (fold->sides)
    sp_fold_side_close(fold, fold->sides);
}

void sp_fold_free(sp_fold *fold) {
  if (!fold)
    return;
  sp_fold_sides_close(fold);
  sp_span_set_clear(&fold->spans);
  sp_span_set_dispose(&fold->spans);
  sp_profile_free(fold->profile);
  sp_unwinder_free(fold->unwinder);
  sp_mem_free(fold->mem, fold);
}

void sp_fold_refresh(sp_fold *fold) {
  sp_unwinder_refresh(fold->unwinder);
}

void sp_fold_scan(sp_fold *fold) {
  sp_unwinder_scan(fold->unwinder);
}

void sp_fold_reset(sp_fold *fold) {
  sp_unwinder_close_files(fold->unwinder);
  sp_readable_forget(&fold->readable);
  sp_profile_reset(fold->profile);
  sp_span_set_clear(&fold->spans);
  sp_thread_labels_forget(&fold->thread_labels);
}

sp_profile *sp_fold_profile(sp_fold *fold) {
  return fold->profile;
}

static size_t stack_unwind(sp_fold *fold, const sp_sample *sample,
                           const void *stack, bool *whole) {
  sp_stack_slice slice = {.registers = sample->registers,
                          .base = sample->stack_base,
                          .bytes = stack,
                          .size = sample->stack_bytes,
                          .whole = sample->flags & SP_SAMPLE_STACK_WHOLE};
  sp_unwind_end end;
  size_t count = sp_unwinder_walk(fold->unwinder, &slice, fold->native,
                                  FOLD_NATIVE_MAX, &end);

  /* What lies beyond the end that the runtime gave is not missed. */
  if (end == SP_UNWIND_CUT && (sample->flags & SP_SAMPLE_STACK_END))
    end = SP_UNWIND_COMPLETE;
  if (end == SP_UNWIND_NO_INFO && sample->stack_bytes > 0)
    sp_count(&sp_counts.stacks_no_unwind_info, 1);
  if (end == SP_UNWIND_CUT && sample->stack_bytes > 0)
    sp_count(&sp_counts.stacks_truncated, 1);
  *whole = end == SP_UNWIND_COMPLETE;
  return count;
}

/* Leave out the code by which the runtime's eval loop calls, and say which
 * frames are the loop's; returns how many are left. */
static size_t native_sort(sp_fold *fold, size_t count) {
  const spanprof_runtime *runtime = sp_runtime_enter();
  size_t kept = 0, i;

  for (i = 0; i < count; i++) {
    uint64_t pc = fold->native[i].pc;

    if (runtime && sp_runtime_calls(runtime, pc))
      continue;
    fold->evaluates[kept] = runtime && sp_runtime_evaluates(runtime, pc);
    fold->native[kept++] = fold->native[i];
  }
  sp_runtime_leave();
  return kept;
}

/* The sample's language frames, as the runtime wants them compared. */
static const spanprof_frame *frames_settle(sp_fold *fold,
                                           const sp_sample *sample) {
  const spanprof_frame *walked = (const spanprof_frame *)(sample + 1);
  const spanprof_runtime *runtime = sp_runtime_enter();

  if (runtime && runtime->settle && sample->frame_count > 0) {
    memcpy(fold->walked, walked, sample->frame_count * sizeof *walked);
    runtime->settle(runtime->data, fold->walked, sample->frame_count);
    walked = fold->walked;
  }
  sp_runtime_leave();
  return walked;
}

static size_t stack_fold(sp_fold *fold, const sp_sample *sample) {
  const spanprof_frame *raw = (const spanprof_frame *)(sample + 1);
  const spanprof_frame *walked = frames_settle(fold, sample);
  sp_merge_input input = {.walked = walked,
                          .walked_count = sample->frame_count,
                          .walk_cut = sample->flags & SP_SAMPLE_WALK_CUT,
                          .native = fold->native,
                          .evaluates = fold->evaluates};
  bool cut;
  size_t count, i;

  if (sample->flags & SP_SAMPLE_THREAD_END) {
    fold->frames[0] =
        (sp_frame){.kind = SP_FRAME_NOTE, .code = SP_NOTE_THREAD_END};
    return 1;
  }
  /* Where they are not wanted, the function that ran stands for a stack that
   * has no frame of the language. */
  if (fold->native_frames || sample->frame_count == 0)
    input.native_count =
        native_sort(fold, stack_unwind(fold, sample, raw + sample->frame_count,
                                       &input.native_whole));
  for (i = 0; i < sample->frame_count; i++)
    sp_runtime_note(&walked[i]);
  count = sp_merge(&input, fold->frames, FOLD_FRAMES_MAX);
  if (!fold->full_native_stacks)
    count = sp_readable_stack(&fold->readable, fold->frames, count);
  cut = sample->stack_bytes > 0 && !input.native_whole &&
        input.native_count > 0 && sample->frame_count == 0;
  if (count > FOLD_DEPTH_MAX) {
    count = FOLD_DEPTH_MAX;
    cut = true;
  }
  if (cut || count == 0)
    fold->frames[count++] =
        (sp_frame){.kind = SP_FRAME_NOTE, .code = SP_NOTE_TRUNCATED};
  return count;
}

static void sides_add(sp_fold *fold, const sp_sample *sample, size_t count,
                      spanprof_label_set labels) {
  sp_fold_side *side;

  for (side = fold->sides; side; side = side->next) {
    spanprof_status st =
        sp_profile_add(side->profile, fold->frames, count, labels, sample->span,
                       1, sample->ticks, sample->ticks * fold->interval_ns);

    if (st)
      side->st = st;
    else
      sp_span_set_add(&side->spans, sample->span);
  }
}

void sp_fold_sample(sp_fold *fold, const sp_sample *sample) {
  size_t count = stack_fold(fold, sample);
  spanprof_label_set labels =
      sp_thread_labels_get(&fold->thread_labels, sample->tid, sample->labels);

  if (sample->flags & SP_SAMPLE_FOREIGN)
    sp_count(&sp_counts.stacks_foreign, 1);
  if (sample->flags & SP_SAMPLE_WALK_CUT)
    sp_count(&sp_counts.stacks_walk_cut, 1);
  sides_add(fold, sample, count, labels);
  if (!sp_profile_add(fold->profile, fold->frames, count, labels, sample->span,
                      1, sample->ticks, sample->ticks * fold->interval_ns)) {
    sp_span_set_add(&fold->spans, sample->span);
    return;
  }
  sp_count(&sp_counts.samples_dropped_memory, 1);
  sp_count(&sp_counts.ticks_dropped, sample->ticks);
}
