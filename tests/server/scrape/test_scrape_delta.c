/* The difference between two scraped profiles whose values count from the start
 * of the program. */
#include "server/scrape/scrape_delta.h"

#include "failing_mem.h"

#define DELTA_STACKS 3

/* Make a heap profile of Go. `counted` has the number of allocated objects of
 * each stack, or -1 if the profile does not have the stack; `in_use` has the
 * bytes in use. Returns NULL if there is no memory. */
static sp_received *heap(const sp_mem *mem, const int64_t counted[],
                         const int64_t in_use[]) {
  sp_received *out;
  uint32_t i;

  if (sp_received_new(&out, mem, (size_t)1 << 20))
    return NULL;
  sp_received_add_type(out, "alloc_objects", "count");
  sp_received_add_type(out, "inuse_space", "bytes");
  for (i = 0; i < DELTA_STACKS; i++) {
    const char name[] = {'f', (char)('0' + i), '\0'};
    const sp_received_line line = {
        .function = sp_received_add_function(
            out, sp_received_add_text(out, name, 2), 0, 1)};
    const uint32_t location = sp_received_add_location(out, &line, 1, 0);
    sp_received_sample sample = {.stack =
                                     sp_received_add_stack(out, &location, 1)};
    const int64_t values[] = {counted[i], in_use[i]};

    if (counted[i] >= 0)
      sp_received_add_sample(out, &sample, values);
  }
  if (!sp_received_status(out))
    return out;
  sp_received_free(out);
  return NULL;
}

/* Check the values of a function after the subtraction. Both are 0 if the
 * profile no longer has the function. */
static void check_left(const sp_received *profile, const char *function,
                       int64_t counted, int64_t in_use) {
  size_t i;

  for (i = 0; i < profile->sample_count; i++) {
    const sp_received_sample *sample = &profile->samples[i];
    const sp_received_location *location =
        &profile->locations
             [profile->stack_frames[profile->stacks[sample->stack].first]];
    const sp_received_line *line = &profile->lines[location->first_line];

    if (strcmp(sp_received_text_of(profile,
                                   profile->functions[line->function].name),
               function) != 0)
      continue;
    CHECK_EQUAL(profile->values[sample->values], counted);
    CHECK_EQUAL(profile->values[sample->values + 1], in_use);
    return;
  }
  CHECK(counted == 0 && in_use == 0);
}

static sp_received *apply(sp_scrape_delta *delta, const int64_t counted[],
                          const int64_t in_use[], uint64_t now_ns) {
  sp_received *profile = heap(&sp_mem_default, counted, in_use);

  CHECK(profile != NULL);
  CHECK_EQUAL(sp_scrape_delta_apply(delta, profile, now_ns), SPANPROF_OK);
  return profile;
}

static void check_next(sp_scrape_delta *delta, const int64_t counted[],
                       const int64_t in_use[], const int64_t expected[],
                       uint64_t now_ns) {
  sp_received *profile = apply(delta, counted, in_use, now_ns);

  check_left(profile, "f0", expected[0], in_use[0]);
  check_left(profile, "f1", expected[1], in_use[1]);
  check_left(profile, "f2", expected[2], counted[2] < 0 ? 0 : in_use[2]);
  sp_scrape_delta_commit(delta);
  sp_received_free(profile);
}

#define THREE(a, b, c) ((const int64_t[]){a, b, c})

static void cumulative_values_become_increases(void) {
  sp_scrape_delta delta;
  sp_received *profile;

  sp_scrape_delta_init(&delta, &sp_mem_default);
  check_next(&delta, THREE(10, 5, -1), THREE(7, 0, 0), THREE(0, 0, 0), 1000);
  check_next(&delta, THREE(12, 5, 3), THREE(6, 0, 1), THREE(2, 0, 3), 4000);
  profile = apply(&delta, THREE(12, 5, 3), THREE(0, 0, 0), 9000);
  CHECK_EQUAL(profile->sample_count, 0);
  CHECK_EQUAL(profile->duration_ns, 5000);
  sp_received_free(profile);
  sp_scrape_delta_dispose(&delta);
}

static void a_lower_count_means_a_restart(void) {
  sp_scrape_delta delta;

  sp_scrape_delta_init(&delta, &sp_mem_default);
  check_next(&delta, THREE(10, 5, 1), THREE(0, 0, 0), THREE(0, 0, 0), 1);
  check_next(&delta, THREE(11, 4, 1), THREE(0, 0, 0), THREE(11, 4, 1), 2);
  check_next(&delta, THREE(12, 5, -1), THREE(0, 0, 0), THREE(12, 5, 0), 3);
  check_next(&delta, THREE(13, 5, 2), THREE(0, 0, 0), THREE(1, 0, 2), 4);
  sp_scrape_delta_dispose(&delta);
}

static void an_increase_that_was_not_stored_is_in_the_next_profile(void) {
  sp_scrape_delta delta;

  sp_scrape_delta_init(&delta, &sp_mem_default);
  check_next(&delta, THREE(10, 5, 1), THREE(0, 0, 0), THREE(0, 0, 0), 1);
  sp_received_free(apply(&delta, THREE(15, 5, 1), THREE(0, 0, 0), 2));
  check_next(&delta, THREE(16, 5, 1), THREE(0, 0, 0), THREE(6, 0, 0), 3);
  sp_scrape_delta_dispose(&delta);
}

static void delta_scenario(const sp_mem *mem) {
  sp_scrape_delta delta;
  int i;

  sp_scrape_delta_init(&delta, mem);
  for (i = 0; i < 3; i++) {
    sp_received *profile = heap(mem, THREE(10 + i, 5, 1), THREE(1, 1, 1));

    if (profile && !sp_scrape_delta_apply(&delta, profile, 1))
      sp_scrape_delta_commit(&delta);
    sp_received_free(profile);
  }
  sp_scrape_delta_dispose(&delta);
}

static void failed_allocations_are_handled(void) {
  failing_mem_sweep(delta_scenario);
}

static const check_test tests[] = {
    {"cumulative_values_become_increases", cumulative_values_become_increases},
    {"a_lower_count_means_a_restart", a_lower_count_means_a_restart},
    {"an_increase_that_was_not_stored_is_in_the_next_profile",
     an_increase_that_was_not_stored_is_in_the_next_profile},
    {"failed_allocations_are_handled", failed_allocations_are_handled},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
