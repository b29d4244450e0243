#include "aggregator.h"

#include <string.h>

#include "interpreter.h"
#include "mark_table.h"
#include "merge.h"
#include "native_functions.h"
#include "readable_stack.h"
#include "runtime_names.h"
#include "sampler/handler/runtime.h"
#include "thread_labels.h"
#include "unwind/unwinder.h"
#include "util/system/counters.h"

#define AGGREGATOR_NATIVE_MAX 1024
#define AGGREGATOR_FRAMES_MAX (AGGREGATOR_NATIVE_MAX + SP_WALK_FRAMES_MAX)

struct sp_aggregator {
  const sp_mem *mem;
  uint64_t interval_ns;
  int64_t native_frames; /* spanprof_native_frames of the session */
  sp_unwinder *unwinder;
  const sp_settings *settings;
  sp_sink *window;
  sp_sink *sinks; /* sinks of recordings without a mark */
  sp_mark_table marks;
  sp_thread_labels thread_labels;
  sp_namer namer;
  /* Number of the registration of the runtime that resolves the names. */
  uint32_t registrations;
  sp_native_frame native[AGGREGATOR_NATIVE_MAX];
  bool evaluates[AGGREGATOR_NATIVE_MAX];
  uint64_t functions[AGGREGATOR_NATIVE_MAX];
  spanprof_frame walked[SP_WALK_FRAMES_MAX];
  sp_frame frames[AGGREGATOR_FRAMES_MAX + 1];
  /* The present sample's stack without native frames, for recordings that omit
   * them. If language_count is 0, this stack is not computed yet. */
  sp_frame language[AGGREGATOR_FRAMES_MAX + 1];
  size_t language_count;
  sp_readable readable;
  sp_native_functions native_functions;
};

static sp_readable_kind address_kind(void *data, uint32_t module,
                                     uint64_t code) {
  const sp_aggregator *aggregator = data;
  const spanprof_runtime *runtime = sp_runtime_enter();
  const bool interpreter =
      runtime && sp_interpreter_has(runtime, aggregator->unwinder, module);

  sp_runtime_leave();
  if (interpreter)
    return SP_READABLE_INTERPRETER;
  return sp_unwinder_named(aggregator->unwinder, module, code)
             ? SP_READABLE_NAMED
             : SP_READABLE_NAMELESS;
}

/* Write the name of a frame that stands for a whole module, "libz.so.1". */
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
  else if (sp_unwinder_incomplete(unwinder, frame->module))
    return SPANPROF_ERR_STATE;
  else
    out->function = NULL;
  return SPANPROF_OK;
}

/* Find the name of a frame. Recordings also use this function: the window's
 * profile has the names for them, because the window receives all samples. */
static spanprof_status frame_name(void *data, const sp_frame *frame,
                                  sp_frame_name *out) {
  sp_aggregator *aggregator = data;

  if (sp_frame_of_runtime(frame))
    return sp_frame_table_name_get(
        sp_profile_frames(aggregator->window->profile), frame, out);
  return native_name(aggregator->unwinder, frame, out);
}

static spanprof_status name_request(void *data, const sp_frame *frame) {
  (void)data;
  return sp_runtime_names_add(frame);
}

/* Request the name of a frame of a recording if the window does not have that
 * frame, because a window at its memory limit omits new frames. */
static spanprof_status recording_name_request(void *data,
                                              const sp_frame *frame) {
  const sp_sink *window = data;

  if (sp_frame_table_find(sp_profile_frames(window->profile), frame))
    return SPANPROF_OK;
  return sp_runtime_names_add(frame);
}

static void name_set(void *data, const sp_frame *frame,
                     const sp_frame_name *name) {
  const sp_aggregator *aggregator = data;
  sp_sink *sink;

  for (sink = aggregator->window; sink; sink = sink->next_open)
    sp_frame_table_name_set(sp_profile_frames(sink->profile), frame, name);
}

/* Request the names of all unnamed frames again, because another runtime was
 * registered. */
static void requests_restart(sp_aggregator *aggregator) {
  sp_sink *sink;

  for (sink = aggregator->window; sink; sink = sink->next_open)
    sp_frame_table_restart(sp_profile_frames(sink->profile));
  sp_runtime_names_clear();
  sp_readable_clear(&aggregator->readable);
  sp_native_functions_clear(&aggregator->native_functions);
}

static void functions_refresh(sp_aggregator *aggregator) {
  const spanprof_runtime *runtime = sp_runtime_enter();

  if (runtime && runtime->native_function)
    sp_native_functions_refresh(&aggregator->native_functions, runtime);
  sp_runtime_leave();
}

size_t sp_aggregator_name_frames(sp_aggregator *aggregator) {
  const uint32_t registrations = sp_runtime_registrations();
  sp_sink *sink = aggregator->window;

  if (aggregator->registrations != registrations)
    requests_restart(aggregator);
  aggregator->registrations = registrations;
  functions_refresh(aggregator);
  sp_frame_table_unnamed(sp_profile_frames(sink->profile), name_request, NULL);
  while ((sink = sink->next_open))
    sp_frame_table_unnamed(sp_profile_frames(sink->profile),
                           recording_name_request, aggregator->window);
  return sp_runtime_names_deliver(name_set, aggregator);
}

spanprof_status sp_aggregator_new(sp_aggregator **out, const sp_mem *mem,
                                  const sp_settings *settings,
                                  uint64_t interval_ns) {
  const sp_selection everything = {.scope = SPANPROF_RECORDING_ALL};
  sp_aggregator *aggregator = sp_mem_zero(mem, sizeof *aggregator);
  spanprof_status st;

  *out = NULL;
  if (!aggregator)
    return SPANPROF_ERR_NOMEM;
  aggregator->mem = mem;
  aggregator->settings = settings;
  aggregator->interval_ns = interval_ns;
  aggregator->native_frames = settings->native_frames;
  aggregator->readable.kind = address_kind;
  aggregator->readable.data = aggregator;
  sp_thread_labels_init(&aggregator->thread_labels, settings);
  aggregator->namer = (sp_namer){.name = frame_name, .data = aggregator};
  st = sp_unwinder_new(&aggregator->unwinder, mem);
  aggregator->native_functions.unwinder = aggregator->unwinder;
  if (!st)
    st = sp_sink_new(&aggregator->window, mem, &aggregator->namer, settings,
                     &everything);
  if (st) {
    sp_aggregator_free(aggregator);
    return st;
  }
  *out = aggregator;
  return SPANPROF_OK;
}

spanprof_status sp_aggregator_open_sink(sp_aggregator *aggregator,
                                        const sp_selection *selection,
                                        sp_sink **out) {
  spanprof_status st = sp_sink_new(out, aggregator->mem, &aggregator->namer,
                                   aggregator->settings, selection);

  if (st)
    return st;
  if (sp_sink_is_marked(*out))
    st = sp_mark_table_add(&aggregator->marks, aggregator->mem,
                           &(sp_mark_entry){.mark = selection->mark,
                                            .outer = selection->outer,
                                            .sink = *out});
  if (st) {
    sp_sink_free(*out);
    *out = NULL;
    return st;
  }
  (*out)->next_open = aggregator->window->next_open;
  aggregator->window->next_open = *out;
  if (!sp_sink_is_marked(*out)) {
    (*out)->next = aggregator->sinks;
    aggregator->sinks = *out;
  }
  return SPANPROF_OK;
}

void sp_aggregator_close_sink(sp_aggregator *aggregator, sp_sink *sink) {
  sp_sink **at = &aggregator->window->next_open;

  while (*at != sink)
    at = &(*at)->next_open;
  *at = sink->next_open;
  if (sp_sink_is_marked(sink)) {
    sp_mark_table_end(&aggregator->marks, sink->selection.mark);
    return;
  }
  for (at = &aggregator->sinks; *at != sink; at = &(*at)->next)
    continue;
  *at = sink->next;
}

void sp_aggregator_close_sinks(sp_aggregator *aggregator) {
  sp_sink *sink;

  while ((sink = aggregator->window->next_open)) {
    aggregator->window->next_open = sink->next_open;
    sp_sink_free(sink);
  }
  aggregator->sinks = NULL;
  sp_mark_table_dispose(&aggregator->marks, aggregator->mem);
}

void sp_aggregator_free(sp_aggregator *aggregator) {
  if (!aggregator)
    return;
  if (aggregator->window)
    sp_aggregator_close_sinks(aggregator);
  sp_sink_free(aggregator->window);
  sp_unwinder_free(aggregator->unwinder);
  sp_mem_free(aggregator->mem, aggregator);
}

void sp_aggregator_refresh_modules(sp_aggregator *aggregator) {
  sp_unwinder_refresh(aggregator->unwinder);
}

void sp_aggregator_scan_modules(sp_aggregator *aggregator) {
  sp_unwinder_scan(aggregator->unwinder);
}

/* Name the frames of recordings now, because the window is about to drop the
 * names. */
static void names_restart(sp_aggregator *aggregator) {
  sp_sink *sink;

  for (sink = aggregator->window->next_open; sink; sink = sink->next_open)
    sp_profile_name(sink->profile);
  requests_restart(aggregator);
}

void sp_aggregator_reset(sp_aggregator *aggregator) {
  names_restart(aggregator);
  sp_unwinder_close_files(aggregator->unwinder);
  sp_sink_reset(aggregator->window);
  sp_thread_labels_clear(&aggregator->thread_labels);
}

sp_profile *sp_aggregator_profile(sp_aggregator *aggregator) {
  return aggregator->window->profile;
}

static size_t stack_unwind(sp_aggregator *aggregator, const sp_sample *sample,
                           const void *stack, bool *whole) {
  sp_stack_slice slice = {.registers = sample->registers,
                          .base = sample->stack_base,
                          .bytes = stack,
                          .size = sample->stack_bytes,
                          .whole = sample->flags & SP_SAMPLE_STACK_WHOLE};
  sp_unwind_end end;
  size_t count =
      sp_unwinder_walk(aggregator->unwinder, &slice, aggregator->native,
                       AGGREGATOR_NATIVE_MAX, &end);

  /* If the runtime's stack_end was used, the native frames beyond it do not
   * count as missing. */
  if (end == SP_UNWIND_CUT && (sample->flags & SP_SAMPLE_STACK_END))
    end = SP_UNWIND_COMPLETE;
  if (end == SP_UNWIND_NO_INFO && sample->stack_bytes > 0)
    sp_count(&sp_counts.stacks_no_unwind_info, 1);
  if (end == SP_UNWIND_CUT && sample->stack_bytes > 0)
    sp_count(&sp_counts.stacks_truncated, 1);
  *whole = end == SP_UNWIND_COMPLETE;
  return count;
}

/* Mark the native frames of the eval loop and of C functions of the
 * language. */
static void native_mark(sp_aggregator *aggregator, size_t count) {
  const spanprof_runtime *runtime = sp_runtime_enter();
  size_t i;

  for (i = 0; i < count; i++)
    aggregator->evaluates[i] =
        runtime && sp_runtime_evaluates(runtime, aggregator->native[i].pc);
  if (runtime && runtime->native_function &&
      aggregator->native_frames != SPANPROF_NATIVE_FRAMES_NONE)
    sp_native_functions_find(&aggregator->native_functions, runtime,
                             aggregator->native, count, aggregator->functions);
  else
    memset(aggregator->functions, 0, count * sizeof *aggregator->functions);
  sp_runtime_leave();
}

/* Return the sample's language frames after the runtime's `normalize`. */
static const spanprof_frame *frames_normalize(sp_aggregator *aggregator,
                                              const sp_sample *sample) {
  const spanprof_frame *walked = (const spanprof_frame *)(sample + 1);
  const spanprof_runtime *runtime = sp_runtime_enter();

  if (runtime && runtime->normalize && sample->frame_count > 0) {
    memcpy(aggregator->walked, walked, sample->frame_count * sizeof *walked);
    runtime->normalize(runtime->data, aggregator->walked, sample->frame_count);
    walked = aggregator->walked;
  }
  sp_runtime_leave();
  return walked;
}

/* Get the note, an artificial frame, that stands for the stack of a sample
 * without a stack. Returns false if the sample has a stack. */
static bool sample_note(const sp_sample *sample, sp_note *out) {
  static const struct {
    uint32_t flag;
    sp_note note;
  } notes[] = {{SP_SAMPLE_BLOCKED, SP_NOTE_BLOCKED},
               {SP_SAMPLE_THREAD_START, SP_NOTE_THREAD_START},
               {SP_SAMPLE_THREAD_END, SP_NOTE_THREAD_END},
               {SP_SAMPLE_NO_TIMER, SP_NOTE_NO_TIMER},
               {SP_SAMPLE_RING_FULL, SP_NOTE_TRUNCATED}};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(notes); i++)
    if (sample->flags & notes[i].flag) {
      *out = notes[i].note;
      return true;
    }
  return false;
}

static size_t stack_build(sp_aggregator *aggregator, const sp_sample *sample) {
  const spanprof_frame *raw = (const spanprof_frame *)(sample + 1);
  const spanprof_frame *walked = frames_normalize(aggregator, sample);
  sp_merge_input input = {.walked = walked,
                          .walked_count = sample->frame_count,
                          .walk_cut = sample->flags & SP_SAMPLE_WALK_CUT,
                          .native = aggregator->native,
                          .evaluates = aggregator->evaluates,
                          .functions = aggregator->functions};
  size_t count;
  sp_note note;
  bool cut;

  if (sample_note(sample, &note)) {
    aggregator->frames[0] = (sp_frame){.kind = SP_FRAME_NOTE, .code = note};
    return 1;
  }
  /* If native frames are omitted, a stack without language frames has one
   * frame, the running function. */
  if (aggregator->native_frames != SPANPROF_NATIVE_FRAMES_NONE ||
      sample->frame_count == 0)
    input.native_count = stack_unwind(
        aggregator, sample, raw + sample->frame_count, &input.native_whole);
  native_mark(aggregator, input.native_count);
  count = sp_merge(&input, aggregator->frames, AGGREGATOR_FRAMES_MAX);
  if (aggregator->native_frames != SPANPROF_NATIVE_FRAMES_ALL)
    count = sp_readable_stack(&aggregator->readable, aggregator->frames, count);
  cut = sample->stack_bytes > 0 && !input.native_whole &&
        input.native_count > 0 && sample->frame_count == 0;
  if (cut || count == 0)
    aggregator->frames[count++] =
        (sp_frame){.kind = SP_FRAME_NOTE, .code = SP_NOTE_TRUNCATED};
  return count;
}

/* Copy the language frames of the present stack to aggregator->language. If
 * there are none, copy only the running function. Returns the number. */
static size_t frames_of_language(sp_aggregator *aggregator, size_t count) {
  size_t kept = 0, i;
  bool found = false;

  for (i = 0; i < count; i++)
    found = found || aggregator->frames[i].kind == SP_FRAME_RUNTIME;
  for (i = 0; i < count; i++)
    if (aggregator->frames[i].kind == SP_FRAME_RUNTIME ||
        aggregator->frames[i].kind == SP_FRAME_NOTE || (!found && kept == 0))
      aggregator->language[kept++] = aggregator->frames[i];
  return kept;
}

static spanprof_status sample_add(sp_aggregator *aggregator, sp_sink *sink,
                                  const sp_sample *sample, size_t count,
                                  spanprof_labels labels) {
  const sp_frame *frames = aggregator->frames;

  if (sink->selection.no_native_frames) {
    if (aggregator->language_count == 0)
      aggregator->language_count = frames_of_language(aggregator, count);
    frames = aggregator->language;
    count = aggregator->language_count;
  }
  return sp_sink_add(sink, frames, count, sample, labels,
                     sample->ticks * aggregator->interval_ns);
}

/* Add the present sample to the recordings that select it. */
static void recordings_add(sp_aggregator *aggregator, const sp_sample *sample,
                           size_t count, spanprof_labels labels) {
  const sp_mark_entry *entry =
      sp_mark_table_find(&aggregator->marks, sample->mark);
  sp_sink *sink;

  for (; entry; entry = sp_mark_table_find(&aggregator->marks, entry->outer))
    if (entry->sink)
      sample_add(aggregator, entry->sink, sample, count, labels);
  for (sink = aggregator->sinks; sink; sink = sink->next)
    if (sp_sink_selects(sink, sample))
      sample_add(aggregator, sink, sample, count, labels);
}

void sp_aggregator_add(sp_aggregator *aggregator, const sp_sample *sample) {
  size_t count = stack_build(aggregator, sample);
  spanprof_labels labels = sp_thread_labels_get(&aggregator->thread_labels,
                                                sample->tid, sample->labels);

  aggregator->language_count = 0;
  if (sample->flags & SP_SAMPLE_UNREADABLE)
    sp_count(&sp_counts.stacks_foreign, 1);
  if (sample->flags & SP_SAMPLE_RING_FULL)
    sp_count(&sp_counts.stacks_truncated, 1);
  if (sample->flags & SP_SAMPLE_WALK_CUT)
    sp_count(&sp_counts.stacks_walk_cut, 1);
  recordings_add(aggregator, sample, count, labels);
  if (!sample_add(aggregator, aggregator->window, sample, count, labels))
    return;
  sp_count(&sp_counts.samples_dropped_memory, 1);
  sp_count(&sp_counts.ticks_dropped, sample->ticks);
}
