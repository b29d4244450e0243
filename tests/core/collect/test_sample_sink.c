#include "collect/samples/sample_sink.h"

#include "check.h"
#include "collector_settings.h"
#include "failing_mem.h"
#include "span/span.h"

static spanprof_status frame_name(void *data, const sp_frame *frame,
                                  sp_frame_name *out) {
  (void)data;
  (void)frame;
  *out = (sp_frame_name){.function = "f", .function_bytes = 1};
  return SPANPROF_OK;
}

static const sp_namer namer = {.name = frame_name};
static const sp_frame frame = {.kind = SP_FRAME_RUNTIME, .code = 1};

static sp_sink *sink_new(const sp_mem *mem, sp_selection selection) {
  sp_sink *sink;

  CHECK_EQUAL(sp_sink_new(&sink, mem, &namer, &collector_settings, &selection),
              SPANPROF_OK);
  return sink;
}

static bool sink_selects(sp_selection selection, sp_sample sample) {
  sp_sink *sink = sink_new(&sp_mem_default, selection);
  bool wants = sp_sink_selects(sink, &sample);

  sp_sink_free(sink);
  return wants;
}

static void a_thread_is_selected_by_its_id(void) {
  const sp_selection thread = {.scope = SPANPROF_RECORDING_THREAD, .tid = 7};
  const sp_selection all = {.scope = SPANPROF_RECORDING_ALL};

  CHECK(sink_selects(thread, (sp_sample){.tid = 7}));
  CHECK(!sink_selects(thread, (sp_sample){.tid = 8}));
  CHECK(sink_selects(all, (sp_sample){.tid = 8}));
}

static spanprof_span span_new(const spanprof_span_rules *rules, uint8_t id,
                              uint8_t parent) {
  spanprof_span_info info = {.struct_size = sizeof info,
                             .trace_id = {1},
                             .span_id = {id},
                             .parent_id = {parent},
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = "span",
                             .name_bytes = 4};
  spanprof_span span;

  CHECK_EQUAL(spanprof_span_start(rules, &info, &span), SPANPROF_OK);
  return span;
}

static void a_span_includes_its_descendants(void) {
  spanprof_span_rules_options options;
  spanprof_span_rules *rules;
  spanprof_span root, child, grandchild, other;
  sp_selection selection = {.scope = SPANPROF_RECORDING_SPAN};

  spanprof_span_rules_options_init(&options, sizeof options);
  options.root_span_only = 0;
  CHECK_EQUAL(spanprof_span_rules_new(&options, &rules), SPANPROF_OK);
  root = span_new(rules, 1, 0);
  child = span_new(rules, 2, 1);
  grandchild = span_new(rules, 3, 2);
  other = span_new(rules, 4, 1);
  selection.carried = spanprof_span_carried(child);
  CHECK(sink_selects(selection, (sp_sample){.span = child}));
  CHECK(sink_selects(selection, (sp_sample){.span = grandchild}));
  CHECK(!sink_selects(selection, (sp_sample){.span = root}));
  CHECK(!sink_selects(selection, (sp_sample){.span = other}));
  CHECK(!sink_selects(selection, (sp_sample){.span = 0}));
  spanprof_span_end(grandchild);
  spanprof_span_end(other);
  spanprof_span_end(child);
  spanprof_span_end(root);
  spanprof_span_rules_free(rules);
}

static void sink_sweep(const sp_mem *mem) {
  const sp_selection selection = {.scope = SPANPROF_RECORDING_ALL};
  const sp_sample sample = {.ticks = 3};
  sp_sink *sink;
  spanprof_status st =
      sp_sink_new(&sink, mem, &namer, &collector_settings, &selection);

  if (st) {
    CHECK(sink == NULL);
    return;
  }
  st = sp_sink_add(sink, &frame, 1, &sample, 0, 3000000);
  CHECK_EQUAL(sink->st, st);
  CHECK_EQUAL(sp_profile_samples(sink->profile), st ? 0 : 1);
  sp_sink_reset(sink);
  CHECK_EQUAL(sp_profile_samples(sink->profile), 0);
  sp_sink_free(sink);
}

static void without_memory_the_sink_has_a_status(void) {
  failing_mem_sweep(sink_sweep);
}

static void a_full_profile_keeps_the_time_of_new_stacks(void) {
  sp_sink *sink = sink_new(&sp_mem_default, (sp_selection){0});
  sp_frame stack = frame;

  CHECK_EQUAL(sp_sink_add(sink, &stack, 1, &(sp_sample){.ticks = 1}, 0, 1),
              SPANPROF_OK);
  sp_profile_full_set(sink->profile, true);
  stack.code = 2;
  CHECK_EQUAL(sp_sink_add(sink, &stack, 1, &(sp_sample){.ticks = 1}, 0, 1),
              SPANPROF_OK);
  CHECK_EQUAL(sp_profile_samples(sink->profile), 2);
  CHECK_EQUAL(sp_profile_notes_get(sink->profile).overflow_samples, 1);
  sp_profile_full_set(sink->profile, false);
  stack.code = 3;
  CHECK_EQUAL(sp_sink_add(sink, &stack, 1, &(sp_sample){.ticks = 1}, 0, 1),
              SPANPROF_OK);
  CHECK_EQUAL(sp_profile_notes_get(sink->profile).overflow_samples, 1);
  sp_sink_free(sink);
}

static const check_test tests[] = {
    {"a_thread_is_selected_by_its_id", a_thread_is_selected_by_its_id},
    {"a_span_includes_its_descendants", a_span_includes_its_descendants},
    {"without_memory_the_sink_has_a_status",
     without_memory_the_sink_has_a_status},
    {"a_full_profile_keeps_the_time_of_new_stacks",
     a_full_profile_keeps_the_time_of_new_stacks},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
