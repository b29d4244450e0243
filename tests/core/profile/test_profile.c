#include "profile_fixture.h"

#include "counting_mem.h"
#include "label/label_set.h"
#include "span/span.h"
#include "util/system/counters.h"

/* Push the label name=value and return the label set. The label stays until
 * pop_all(). */
static spanprof_labels push(const char *name, const char *value) {
  spanprof_label_token token;

  CHECK_EQUAL(spanprof_label_push_bytes(name, strlen(name), value,
                                        strlen(value), &token),
              SPANPROF_OK);
  return spanprof_labels_get();
}

static void pop_all(void) {
  spanprof_labels_set(0);
}

static spanprof_span start_span(const char *name) {
  spanprof_span_info info = {.struct_size = sizeof info,
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = name,
                             .name_bytes = strlen(name)};
  spanprof_span span;

  CHECK_EQUAL(spanprof_span_start(NULL, &info, &span), SPANPROF_OK);
  CHECK(span != 0);
  return span;
}

static void equal_stacks_add_up(void) {
  const sp_frame stack[] = {fixture_native(FIXTURE_LIBRARY, 0x1234),
                            fixture_method(1, 10), fixture_method(2, 20)};
  profile_fixture fixture;
  const sp_pprof *profile;

  fixture_open(&fixture);
  CHECK_EQUAL(fixture_start(&fixture, &sp_mem_default), SPANPROF_OK);
  CHECK_EQUAL(sp_profile_add(fixture.profile, stack, 3, 0, 0, 1, 1, 10),
              SPANPROF_OK);
  CHECK_EQUAL(sp_profile_add(fixture.profile, stack, 3, 0, 0, 2, 5, 50),
              SPANPROF_OK);
  CHECK_EQUAL(sp_profile_add(fixture.profile, stack, 2, 0, 0, 1, 1, 7),
              SPANPROF_OK);
  CHECK_EQUAL(sp_profile_samples(fixture.profile), 4);
  CHECK_EQUAL(fixture_encode(&fixture), SPANPROF_OK);
  CHECK_EQUAL(fixture.part_count, 1);
  CHECK_EQUAL(fixture.samples, 4);
  CHECK_EQUAL(fixture.ticks, 7);
  CHECK_EQUAL(fixture.cpu_ns, 67);
  profile = fixture.parts[0];
  CHECK_EQUAL(profile->sample_count, 2);
  CHECK_EQUAL(profile->samples[0].values[0], 60);
  CHECK_EQUAL(profile->samples[0].location_count, 3);
  CHECK_TEXT(fixture_function(profile, &profile->samples[0], 0),
             "function_4660");
  CHECK_TEXT(fixture_function(profile, &profile->samples[0], 2), "method_2");
  CHECK_EQUAL(profile->samples[1].values[0], 7);
  CHECK_EQUAL(profile->samples[1].location_count, 2);
  CHECK_EQUAL(profile->location_count, 3);
  CHECK_EQUAL(profile->period, 10000000);
  CHECK_EQUAL(profile->duration_ns, 10000000000);
  CHECK_EQUAL(profile->comment_count, 2);
  CHECK_TEXT(profile->comments[1], "samples_taken=1");
  fixture_close(&fixture);
}

static void empty_samples_are_refused(void) {
  const sp_frame frame = fixture_method(1, 1);
  profile_fixture fixture;

  fixture_open(&fixture);
  CHECK_EQUAL(fixture_start(&fixture, &sp_mem_default), SPANPROF_OK);
  CHECK_EQUAL(sp_profile_add(fixture.profile, &frame, 1, 0, 0, 1, 1, 0),
              SPANPROF_ERR_ARGUMENT);
  CHECK_EQUAL(sp_profile_add(fixture.profile, &frame, 0, 0, 0, 1, 1, 1),
              SPANPROF_ERR_ARGUMENT);
  CHECK_EQUAL(fixture_encode(&fixture), SPANPROF_OK);
  CHECK_EQUAL(fixture.part_count, 0);
  fixture_close(&fixture);
}

static void many_samples_become_parts_with_the_same_sums(void) {
  profile_fixture fixture;
  size_t i;

  fixture_open(&fixture);
  CHECK_EQUAL(fixture_start(&fixture, &sp_mem_default), SPANPROF_OK);
  for (i = 0; i < 40000; i++) {
    const sp_frame stack[] = {fixture_method(i % 200, i % 7),
                              fixture_method(i / 200, 1)};

    CHECK_EQUAL(sp_profile_add(fixture.profile, stack, 2, 0, 0, 1 + i % 3,
                               2 + i % 5, 1 + i),
                SPANPROF_OK);
  }
  CHECK_EQUAL(fixture_encode(&fixture), SPANPROF_OK);
  CHECK_EQUAL(fixture.part_count, 3);
  CHECK_EQUAL(fixture.parts[0]->sample_count, 15000);
  CHECK_EQUAL(fixture.parts[1]->sample_count, 15000);
  CHECK_EQUAL(fixture.parts[2]->sample_count, 10000);
  CHECK_EQUAL(fixture.samples, sp_profile_samples(fixture.profile));
  CHECK_EQUAL(fixture.cpu_ns, 40000ull * 40001 / 2);
  CHECK_EQUAL(fixture.ticks, 40000ull * 4);
  fixture_close(&fixture);
}

static void parts_stay_below_the_servers_size_limit(void) {
  char value[1500];
  profile_fixture fixture;
  size_t i;

  fixture_open(&fixture);
  CHECK_EQUAL(fixture_start(&fixture, &sp_mem_default), SPANPROF_OK);
  for (i = 0; i < 900; i++) {
    sp_frame stack[500];
    size_t j;

    memset(value, 'x', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    snprintf(value, 20, "%zu", i);
    value[strlen(value)] = '-';
    for (j = 0; j < SP_COUNT_OF(stack); j++)
      stack[j] = fixture_method(i * 7 + j, 1);
    CHECK_EQUAL(fixture_add(&fixture, stack, SP_COUNT_OF(stack),
                            push("payload", value), 0),
                SPANPROF_OK);
    pop_all();
  }
  CHECK_EQUAL(fixture_encode(&fixture), SPANPROF_OK);
  CHECK(fixture.part_count >= 2);
  CHECK_EQUAL(fixture.samples, 900);
  CHECK_EQUAL(fixture.cpu_ns, 9000000000);
  for (i = 0; i < fixture.part_count; i++) {
    CHECK(fixture.raw_bytes[i] <= 1900000);
    /* A part ends when the next sample, which has at most 4 KB, does not
     * fit. */
    CHECK(i + 1 == fixture.part_count || fixture.raw_bytes[i] > 1880000);
  }
  fixture_close(&fixture);
}

static void the_same_samples_give_the_same_bytes(void) {
  uint64_t checksums[2];
  size_t run, i;

  for (run = 0; run < 2; run++) {
    profile_fixture fixture;

    fixture_open(&fixture);
    CHECK_EQUAL(fixture_start(&fixture, &sp_mem_default), SPANPROF_OK);
    for (i = 0; i < 1000; i++) {
      const sp_frame stack[] = {fixture_method(i % 50, i % 3),
                                fixture_native(FIXTURE_LIBRARY, i)};

      CHECK_EQUAL(fixture_add(&fixture, stack, 2, 0, 0), SPANPROF_OK);
    }
    CHECK_EQUAL(fixture_encode(&fixture), SPANPROF_OK);
    checksums[run] = fixture.checksum;
    fixture_close(&fixture);
  }
  CHECK(checksums[0] == checksums[1]);
}

static void deep_stack_loses_its_outermost_frames(void) {
  const uint64_t before = sp_counted(&sp_counts.stacks_truncated);
  sp_frame stack[700];
  profile_fixture fixture;
  const sp_pprof *profile;
  size_t i;

  for (i = 0; i < SP_COUNT_OF(stack); i++)
    stack[i] = fixture_method(i, 1);
  fixture_open(&fixture);
  CHECK_EQUAL(fixture_start(&fixture, &sp_mem_default), SPANPROF_OK);
  CHECK_EQUAL(fixture_add(&fixture, stack, 700, 0, 0), SPANPROF_OK);
  CHECK_EQUAL(fixture_add(&fixture, stack, 513, 0, 0), SPANPROF_OK);
  CHECK_EQUAL(fixture_encode(&fixture), SPANPROF_OK);
  CHECK_EQUAL(sp_counted(&sp_counts.stacks_truncated) - before, 1);
  profile = fixture.parts[0];
  CHECK_EQUAL(profile->samples[0].location_count, 513);
  CHECK_TEXT(fixture_function(profile, &profile->samples[0], 0), "method_0");
  CHECK_TEXT(fixture_function(profile, &profile->samples[0], 512),
             "[truncated]");
  CHECK_EQUAL(profile->samples[1].location_count, 513);
  CHECK_TEXT(fixture_function(profile, &profile->samples[1], 512),
             "method_512");
  fixture_close(&fixture);
}

static void a_stack_is_cut_at_the_configured_depth(void) {
  sp_frame stack[64];
  profile_fixture fixture;
  const sp_pprof_sample *sample;
  uint32_t i;

  for (i = 0; i < 64; i++)
    stack[i] = fixture_method(i, 1);
  fixture_open(&fixture);
  fixture.settings.stack_depth_max = 16;
  CHECK_EQUAL(fixture_start(&fixture, &sp_mem_default), SPANPROF_OK);
  CHECK_EQUAL(fixture_add(&fixture, stack, 64, 0, 0), SPANPROF_OK);
  CHECK_EQUAL(fixture_encode(&fixture), SPANPROF_OK);
  sample = &fixture.parts[0]->samples[0];
  CHECK_EQUAL(sample->location_count, 17);
  CHECK_TEXT(fixture_function(fixture.parts[0], sample, 15), "method_15");
  CHECK_TEXT(fixture_function(fixture.parts[0], sample, 16), "[truncated]");
  fixture_close(&fixture);
}

/* Add new stacks after the memory limit is reached: their samples are counted,
 * but without their stacks. */
static void a_window_keeps_to_its_memory_limit(void) {
  const uint64_t stacks = 100000;
  profile_fixture small, large;
  uint64_t i;

  fixture_open(&small);
  fixture_open(&large);
  small.settings.window_max_bytes = 1 << 20;
  CHECK_EQUAL(fixture_start(&small, &sp_mem_default), SPANPROF_OK);
  CHECK_EQUAL(fixture_start(&large, &sp_mem_default), SPANPROF_OK);
  for (i = 0; i < stacks; i++) {
    const sp_frame stack[] = {fixture_method(i % 500, 1),
                              fixture_method(i / 500, 2)};

    CHECK_EQUAL(fixture_add(&small, stack, 2, 0, 0), SPANPROF_OK);
    CHECK_EQUAL(fixture_add(&large, stack, 2, 0, 0), SPANPROF_OK);
  }
  CHECK(sp_profile_notes_get(small.profile).overflow_samples > stacks / 2);
  CHECK_EQUAL(sp_profile_notes_get(large.profile).overflow_samples, 0);
  CHECK_EQUAL(fixture_encode(&small), SPANPROF_OK);
  CHECK_EQUAL(fixture_encode(&large), SPANPROF_OK);
  CHECK_EQUAL(small.samples, stacks);
  CHECK_EQUAL(small.cpu_ns, large.cpu_ns);
  fixture_close(&small);
  fixture_close(&large);
}

/* Add more than 200,000 distinct stacks to one window, and more than twice as
 * many entries. */
static void overflow_keeps_labels_and_spans(void) {
  const size_t extra = 1000;
  profile_fixture fixture;
  spanprof_labels labels = push("phase", "late");
  spanprof_span span = start_span("overflowing");
  uint64_t overflow_ns = 0, labelled_ns = 0;
  size_t i, j;

  pop_all();
  fixture_open(&fixture);
  CHECK_EQUAL(fixture_start(&fixture, &sp_mem_default), SPANPROF_OK);
  for (i = 0; i < SP_PROFILE_ENTRIES_MAX + extra; i++) {
    const sp_frame stack[] = {fixture_method(i % 500, 1),
                              fixture_method(i / 500, 2)};

    CHECK_EQUAL(fixture_add(&fixture, stack, 2,
                            i < SP_PROFILE_ENTRIES_MAX ? 0 : labels,
                            i < SP_PROFILE_ENTRIES_MAX ? 0 : span),
                SPANPROF_OK);
  }
  CHECK_EQUAL(sp_profile_notes_get(fixture.profile).overflow_samples, extra);
  CHECK_EQUAL(fixture_encode(&fixture), SPANPROF_OK);
  CHECK_EQUAL(fixture.samples, SP_PROFILE_ENTRIES_MAX + extra);
  for (i = 0; i < fixture.part_count; i++)
    for (j = 0; j < fixture.parts[i]->sample_count; j++) {
      const sp_pprof_sample *sample = &fixture.parts[i]->samples[j];

      if (strcmp(fixture_function(fixture.parts[i], sample, 0),
                 "[too many stacks]") != 0)
        continue;
      overflow_ns += (uint64_t)sample->values[0];
      if (sp_pprof_label_text(sample, "phase") &&
          sp_pprof_label_text(sample, "profile_id"))
        labelled_ns += (uint64_t)sample->values[0];
    }
  CHECK_EQUAL(overflow_ns, extra * 10000000);
  CHECK_EQUAL(labelled_ns, overflow_ns);
  sp_profile_reset(fixture.profile);
  CHECK_EQUAL(sp_profile_notes_get(fixture.profile).overflow_samples, 0);
  fixture_close(&fixture);
  spanprof_span_end(span);
}

static void reset_keeps_names_and_removes_samples(void) {
  const sp_frame stack[] = {fixture_method(1, 10), fixture_method(2, 20)};
  profile_fixture fixture;
  int window;

  fixture_open(&fixture);
  CHECK_EQUAL(fixture_start(&fixture, &sp_mem_default), SPANPROF_OK);
  for (window = 0; window < 3; window++) {
    CHECK_EQUAL(fixture_add(&fixture, stack, 2, 0, 0), SPANPROF_OK);
    CHECK_EQUAL(fixture_encode(&fixture), SPANPROF_OK);
    CHECK_EQUAL(fixture.part_count, 1);
    CHECK_EQUAL(fixture.samples, 1);
    CHECK_EQUAL(fixture.names_requested, 2);
    sp_profile_reset(fixture.profile);
    fixture_drop_parts(&fixture);
    CHECK_EQUAL(sp_profile_samples(fixture.profile), 0);
    CHECK_EQUAL(fixture_encode(&fixture), SPANPROF_OK);
    CHECK_EQUAL(fixture.part_count, 0);
  }
  fixture_close(&fixture);
}

static void unknown_frame_is_resolved_again(void) {
  const sp_frame stack[] = {fixture_method(1, 10)};
  uint64_t before = sp_counted(&sp_counts.frames_unnamed);
  profile_fixture fixture;

  fixture_open(&fixture);
  fixture.names_wait = true;
  CHECK_EQUAL(fixture_start(&fixture, &sp_mem_default), SPANPROF_OK);
  CHECK_EQUAL(fixture_add(&fixture, stack, 1, 0, 0), SPANPROF_OK);
  CHECK_EQUAL(fixture_encode(&fixture), SPANPROF_OK);
  CHECK_TEXT(
      fixture_function(fixture.parts[0], &fixture.parts[0]->samples[0], 0),
      "(unknown)");
  CHECK_EQUAL(sp_counted(&sp_counts.frames_unnamed) - before, 1);
  fixture.names_wait = false;
  sp_profile_reset(fixture.profile);
  fixture_drop_parts(&fixture);
  CHECK_EQUAL(fixture_add(&fixture, stack, 1, 0, 0), SPANPROF_OK);
  CHECK_EQUAL(fixture_encode(&fixture), SPANPROF_OK);
  CHECK_TEXT(
      fixture_function(fixture.parts[0], &fixture.parts[0]->samples[0], 0),
      "method_1");
  CHECK_EQUAL(sp_counted(&sp_counts.frames_unnamed) - before, 1);
  fixture_close(&fixture);
}

/* Measure the memory after a large window, and after many different ones. */
static void memory_of_large_windows_is_freed(void) {
  sp_frame stack[100];
  profile_fixture fixture;
  counting_mem counted;
  size_t window, i, j;

  counting_mem_init(&counted);
  fixture_open(&fixture);
  CHECK_EQUAL(fixture_start(&fixture, &counted.mem), SPANPROF_OK);
  for (window = 0; window < 5; window++) {
    for (i = 0; i < 20000; i++) {
      for (j = 0; j < SP_COUNT_OF(stack); j++)
        stack[j] = fixture_method(window * 1000 + (i * 31 + j) % 997, j);
      CHECK_EQUAL(fixture_add(&fixture, stack, SP_COUNT_OF(stack), 0, 0),
                  SPANPROF_OK);
    }
    CHECK_EQUAL(fixture_encode(&fixture), SPANPROF_OK);
    sp_profile_reset(fixture.profile);
    fixture_drop_parts(&fixture);
    CHECK(counted.bytes < ((size_t)12 << 20));
  }
  fixture_close(&fixture);
  CHECK_EQUAL(counted.bytes, 0);
}

/* Each stack is a new combination of the same forty frames, as in a small
 * service. */
static void new_stacks_of_small_windows_do_not_pile_up(void) {
  sp_frame stack[20];
  profile_fixture fixture;
  counting_mem counted;
  size_t window, i, j, early_bytes = 0;

  counting_mem_init(&counted);
  fixture_open(&fixture);
  CHECK_EQUAL(fixture_start(&fixture, &counted.mem), SPANPROF_OK);
  for (window = 0; window < 60; window++) {
    for (i = 0; i < 100; i++) {
      for (j = 0; j < SP_COUNT_OF(stack); j++)
        stack[j] = fixture_method((window * 100 + i) >> j & 1, j);
      CHECK_EQUAL(fixture_add(&fixture, stack, SP_COUNT_OF(stack), 0, 0),
                  SPANPROF_OK);
    }
    CHECK_EQUAL(fixture_encode(&fixture), SPANPROF_OK);
    sp_profile_reset(fixture.profile);
    fixture_drop_parts(&fixture);
    if (window == 1)
      early_bytes = counted.bytes;
  }
  CHECK(counted.bytes < early_bytes + (128 << 10));
  fixture_close(&fixture);
}

static void scenario_of_failures(const sp_mem *mem) {
  spanprof_labels labels = push("phase", "read");
  spanprof_span span = start_span("sweep");
  uint64_t added = 0;
  profile_fixture fixture;
  size_t i;

  pop_all();
  fixture_open(&fixture);
  if (!fixture_start(&fixture, mem)) {
    for (i = 0; i < 200; i++) {
      const sp_frame stack[] = {fixture_native(FIXTURE_MAIN, i),
                                fixture_native(FIXTURE_STRIPPED, i % 20),
                                fixture_method(i % 30, 3)};
      spanprof_status st =
          fixture_add(&fixture, stack, 3, i % 2 ? labels : 0, i % 3 ? span : 0);

      CHECK(st == SPANPROF_OK || st == SPANPROF_ERR_NOMEM);
      added += st == SPANPROF_OK;
    }
    CHECK_EQUAL(sp_profile_samples(fixture.profile), added);
    i = (size_t)fixture_encode(&fixture);
    CHECK((int)i == SPANPROF_OK || (int)i == SPANPROF_ERR_NOMEM);
    CHECK_EQUAL(fixture.samples, added);
    CHECK_EQUAL(fixture.ticks, added);
    sp_profile_reset(fixture.profile);
  }
  fixture_close(&fixture);
  spanprof_span_end(span);
}

static void every_allocation_may_fail(void) {
  failing_mem_sweep(scenario_of_failures);
}

/* Encode 31,000 samples, while the allocation number `fail_at` fails (0: none).
 * Returns the number of allocations. */
static size_t encode_failing(size_t fail_at, size_t *lost_some) {
  profile_fixture fixture;
  failing_mem failing;
  size_t i, before;

  failing_mem_init(&failing, 0);
  fixture_open(&fixture);
  CHECK_EQUAL(fixture_start(&fixture, &failing.mem), SPANPROF_OK);
  for (i = 0; i < 31000; i++) {
    const sp_frame stack[] = {fixture_method(i, 1)};

    CHECK_EQUAL(fixture_add(&fixture, stack, 1, 0, 0), SPANPROF_OK);
  }
  before = failing.requests;
  if (fail_at)
    failing.fail_at = before + fail_at;
  if (fixture_encode(&fixture) == SPANPROF_ERR_NOMEM)
    *lost_some += fixture.part_count > 0;
  CHECK_EQUAL(fixture.samples, 31000);
  CHECK_EQUAL(fixture.ticks, 31000);
  fixture_close(&fixture);
  CHECK_EQUAL(failing.live, 0);
  return failing.requests - before;
}

/* Some parts are passed to the callback before an allocation fails. The samples
 * of the remaining parts are reported as lost. */
static void memory_failure_between_parts_loses_only_later_parts(void) {
  size_t lost_some = 0, all = encode_failing(0, &lost_some), fail_at;

  CHECK_EQUAL(lost_some, 0);
  CHECK(all > 100);
  for (fail_at = 1; fail_at + 12 < all; fail_at += 23)
    encode_failing(fail_at, &lost_some);
  /* Fail while the last part is written. */
  for (fail_at = all - 12; fail_at <= all; fail_at++)
    encode_failing(fail_at, &lost_some);
  CHECK(lost_some > 0);
}

static const check_test tests[] = {
    {"equal_stacks_add_up", equal_stacks_add_up},
    {"empty_samples_are_refused", empty_samples_are_refused},
    {"many_samples_become_parts_with_the_same_sums",
     many_samples_become_parts_with_the_same_sums},
    {"parts_stay_below_the_servers_size_limit",
     parts_stay_below_the_servers_size_limit},
    {"the_same_samples_give_the_same_bytes",
     the_same_samples_give_the_same_bytes},
    {"deep_stack_loses_its_outermost_frames",
     deep_stack_loses_its_outermost_frames},
    {"a_stack_is_cut_at_the_configured_depth",
     a_stack_is_cut_at_the_configured_depth},
    {"a_window_keeps_to_its_memory_limit", a_window_keeps_to_its_memory_limit},
    {"overflow_keeps_labels_and_spans", overflow_keeps_labels_and_spans},
    {"new_stacks_of_small_windows_do_not_pile_up",
     new_stacks_of_small_windows_do_not_pile_up},
    {"reset_keeps_names_and_removes_samples",
     reset_keeps_names_and_removes_samples},
    {"unknown_frame_is_resolved_again", unknown_frame_is_resolved_again},
    {"memory_of_large_windows_is_freed", memory_of_large_windows_is_freed},
    {"every_allocation_may_fail", every_allocation_may_fail},
    {"memory_failure_between_parts_loses_only_later_parts",
     memory_failure_between_parts_loses_only_later_parts},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
