/* Tests of the ancestors of spans: the parent of a span and its lifetime. */
#include "check.h"
#include "failing_mem.h"

#include "label/context.h"
#include "label_reset.h"
#include "span/span.h"
#include "span/span_name.h"
#include "span/span_pool.h"
#include "util/system/counters.h"

#define MANY 200

static char name_buffer[2048];

static spanprof_span_rules *rules_of(int root_only) {
  spanprof_span_rules_options options;
  spanprof_span_rules *rules;

  CHECK_EQUAL(spanprof_span_rules_options_init(&options, sizeof options),
              SPANPROF_OK);
  options.root_span_only = root_only;
  CHECK_EQUAL(spanprof_span_rules_new(&options, &rules), SPANPROF_OK);
  return rules;
}

static spanprof_status start_info(const spanprof_span_rules *rules, unsigned id,
                                  unsigned parent, uint32_t flags,
                                  spanprof_span *out) {
  char name[16];
  spanprof_span_info info = {.struct_size = sizeof info,
                             .trace_id = {0xbb, 1},
                             .flags = flags,
                             .name = name};

  snprintf(name, sizeof name, "name %u", id);
  info.name_bytes = strlen(name);
  info.span_id[0] = (uint8_t)(id >> 8);
  info.span_id[7] = (uint8_t)id;
  info.parent_id[0] = (uint8_t)(parent >> 8);
  info.parent_id[7] = (uint8_t)parent;
  return spanprof_span_start(rules, &info, out);
}

static spanprof_span start(const spanprof_span_rules *rules, unsigned id,
                           unsigned parent, uint32_t flags) {
  spanprof_span span;

  CHECK_EQUAL(start_info(rules, id, parent, flags, &span), SPANPROF_OK);
  return span;
}

static bool known(spanprof_span span, sp_span_view *out) {
  return sp_span_describe(span, name_buffer, sizeof name_buffer, out);
}

static spanprof_span parent_of(spanprof_span span) {
  sp_span_view view;

  CHECK(known(span, &view));
  return view.parent;
}

static void sweep_times(int times) {
  while (times-- > 0)
    sp_span_sweep();
}

static void end_all(const spanprof_span *spans, size_t count) {
  sp_span_view view;
  size_t i;

  for (i = 0; i < count; i++)
    spanprof_span_end(spans[i]);
  sweep_times(6);
  for (i = 0; i < count; i++)
    CHECK(!known(spans[i], &view));
}

static void parent_is_the_nearest_sampled_local_ancestor(void) {
  spanprof_span_rules *each = rules_of(0);
  spanprof_span s[6];
  sp_span_view view;

  s[0] = start(each, 1, 0, SPANPROF_SPAN_SAMPLED);
  s[1] = start(each, 2, 1,
               /* Not sampled, so samples do not carry its id. */
               SPANPROF_SPAN_UNSAMPLED);
  s[2] = start(each, 3, 2, SPANPROF_SPAN_SAMPLED);
  s[3] = start(each, 4, 3, SPANPROF_SPAN_SAMPLED);
  s[4] = start(each, 5, 4, SPANPROF_SPAN_SAMPLED | SPANPROF_SPAN_PARENT_REMOTE);
  s[5] = start(each, 6, 99, SPANPROF_SPAN_SAMPLED); /* its parent is unknown */
  CHECK_EQUAL(parent_of(s[0]), 0);
  CHECK_EQUAL(parent_of(s[1]), 0);
  CHECK_EQUAL(parent_of(s[2]), s[0]);
  CHECK_EQUAL(parent_of(s[3]), s[2]);
  CHECK_EQUAL(parent_of(s[4]), 0);
  CHECK_EQUAL(parent_of(s[5]), 0);
  CHECK(known(s[3], &view));
  CHECK_TEXT(view.profile_id, "0000000000000004");
  CHECK_EQUAL(view.id, 4);
  end_all(s, 6);
  spanprof_span_rules_free(each);
}

static void root_only_spans_have_no_parent(void) {
  spanprof_span_rules *root = rules_of(1), *each = rules_of(0);
  spanprof_span s[4];

  s[0] = start(root, 1, 0, SPANPROF_SPAN_SAMPLED);
  s[1] = start(root, 2, 1, SPANPROF_SPAN_SAMPLED);
  /* Samples of s[1] carry s[0], so s[0] becomes the parent. */
  s[2] = start(each, 3, 2, SPANPROF_SPAN_SAMPLED);
  s[3] = start(root, 4, 3, SPANPROF_SPAN_SAMPLED);
  CHECK_EQUAL(parent_of(s[0]), 0);
  CHECK_EQUAL(parent_of(s[1]), 0);
  CHECK_EQUAL(parent_of(s[2]), s[0]);
  CHECK_EQUAL(parent_of(s[3]), 0);
  end_all(s, 4);
  spanprof_span_rules_free(root);
  spanprof_span_rules_free(each);
}

static void ancestors_last_as_long_as_a_descendant(void) {
  spanprof_span_rules *each = rules_of(0);
  spanprof_span s[4];
  sp_span_view view;
  int i;

  s[0] = start(each, 1, 0, SPANPROF_SPAN_SAMPLED);
  s[1] = start(each, 2, 1, SPANPROF_SPAN_SAMPLED);
  s[2] = start(each, 3, 2, SPANPROF_SPAN_SAMPLED);
  /* Samples of s[3] carry the id of s[2]. */
  s[3] = start(each, 4, 3, SPANPROF_SPAN_UNSAMPLED);
  for (i = 0; i < 3; i++)
    spanprof_span_end(s[i]);
  sweep_times(10);
  CHECK_EQUAL(spanprof_span_carried(s[3]), s[2]);
  CHECK_EQUAL(parent_of(s[2]), s[1]);
  CHECK_EQUAL(parent_of(s[1]), s[0]);
  CHECK(known(s[0], &view));
  CHECK_EQUAL(view.name_bytes, strlen("name 1"));
  end_all(s, 4);
  spanprof_span_rules_free(each);
}

static void family_goes_in(const spanprof_span_rules *each, bool child_first) {
  spanprof_span s[20];
  sp_span_view view;
  unsigned i;

  for (i = 0; i < 20; i++)
    s[i] = start(each, i + 1, i, SPANPROF_SPAN_SAMPLED);
  for (i = 0; i < 20; i++)
    spanprof_span_end(s[child_first ? 19 - i : i]);
  sp_span_sweep();
  CHECK(known(s[0], &view) && known(s[19], &view));
  sp_span_sweep();
  for (i = 0; i < 20; i++)
    CHECK(!known(s[i], &view));
}

static void families_are_freed_in_one_sweep(void) {
  spanprof_span_rules *each = rules_of(0);

  family_goes_in(each, true);
  family_goes_in(each, false);
  spanprof_span_rules_free(each);
}

static void one_leaked_child_keeps_a_bounded_chain(void) {
  spanprof_span_rules *each = rules_of(0);
  spanprof_span s[MANY], at;
  unsigned i, kept = 0, depth = 0;
  sp_span_view view;

  s[0] = start(each, 1, 0, SPANPROF_SPAN_SAMPLED);
  for (i = 1; i < MANY; i++) {
    s[i] = start(each, i + 1, i, SPANPROF_SPAN_SAMPLED);
    spanprof_span_end(s[i - 1]);
  }
  sweep_times(10);
  for (i = 0; i < MANY; i++)
    kept += known(s[i], &view);
  for (at = s[MANY - 1]; at; at = parent_of(at))
    depth++;
  /* The chain and its local root are kept alive. */
  CHECK_EQUAL(depth, (MANY - 1) % (SP_SPAN_CHAIN_MAX + 1) + 1);
  CHECK_EQUAL(kept, depth + 1);
  end_all(s, MANY);
  spanprof_span_rules_free(each);
}

static void name_over_the_cap_is_counted_once(void) {
  spanprof_span_rules *each = rules_of(0);
  spanprof_span s[2];
  uint64_t before;
  sp_span_view view;

  label_reset(NULL);
  sp_span_names_max_set(1);
  before = sp_counted(&sp_counts.span_names_capped);
  s[0] = start(each, 1, 0, SPANPROF_SPAN_SAMPLED);
  s[1] = start(each, 2, 1, SPANPROF_SPAN_SAMPLED);
  CHECK(known(s[1], &view));
  CHECK(known(view.parent, &view));
  CHECK_EQUAL(view.name_bytes, strlen("[other]"));
  CHECK(known(s[0], &view));
  CHECK_EQUAL(sp_counted(&sp_counts.span_names_capped), before + 1);
  end_all(s, 2);
  label_reset(NULL);
  spanprof_span_rules_free(each);
}

static void starting(const sp_mem *mem) {
  spanprof_span_rules *each;
  spanprof_span s[8];
  unsigned i, count = 0;

  label_reset(mem);
  each = rules_of(0);
  for (i = 0; i < 8; i++)
    if (start_info(each, i + 1, i, SPANPROF_SPAN_SAMPLED, &s[count]) ==
        SPANPROF_OK)
      count++;
  end_all(s, count);
  spanprof_span_rules_free(each);
  label_reset(NULL);
}

static void every_allocation_may_fail(void) {
  failing_mem_sweep(starting);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"parent_is_the_nearest_sampled_local_ancestor",
       parent_is_the_nearest_sampled_local_ancestor},
      {"root_only_spans_have_no_parent", root_only_spans_have_no_parent},
      {"ancestors_last_as_long_as_a_descendant",
       ancestors_last_as_long_as_a_descendant},
      {"families_are_freed_in_one_sweep", families_are_freed_in_one_sweep},
      {"one_leaked_child_keeps_a_bounded_chain",
       one_leaked_child_keeps_a_bounded_chain},
      {"name_over_the_cap_is_counted_once", name_over_the_cap_is_counted_once},
      {"every_allocation_may_fail", every_allocation_may_fail},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
