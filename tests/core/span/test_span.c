/* Tests of spans: the ids that samples carry, names, lifetimes and numbers. */
#include "check.h"
#include "failing_mem.h"

#include "label/context.h"
#include "label_reset.h"
#include "span/span.h"
#include "span/span_name.h"
#include "span/span_pool.h"
#include "util/system/counters.h"
#include "util/text/utf8.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static char name_buffer[2048];

static const char long_name[] =
    "a name that does not fit into the forty-eight bytes of one span";

static spanprof_span_rules *rules_of(int root_only) {
  spanprof_span_rules_options options;
  spanprof_span_rules *rules;

  CHECK_EQUAL(spanprof_span_rules_options_init(&options, sizeof options),
              SPANPROF_OK);
  options.root_span_only = root_only;
  CHECK_EQUAL(spanprof_span_rules_new(&options, &rules), SPANPROF_OK);
  return rules;
}

static spanprof_span_info info_of(uint8_t id, uint8_t parent, uint32_t flags,
                                  const char *name) {
  spanprof_span_info info = {.struct_size = sizeof info,
                             .trace_id = {0xaa, 1},
                             .flags = flags,
                             .name = name,
                             .name_bytes = strlen(name)};

  info.span_id[0] = id;
  info.parent_id[0] = parent;
  return info;
}

static spanprof_span start(const spanprof_span_rules *rules, uint8_t id,
                           uint8_t parent, uint32_t flags) {
  spanprof_span_info info = info_of(id, parent, flags, "name");
  spanprof_span span;

  CHECK_EQUAL(spanprof_span_start(rules, &info, &span), SPANPROF_OK);
  CHECK(span != 0);
  return span;
}

static spanprof_span start_named(const char *name, size_t bytes) {
  spanprof_span_info info = info_of(0, 0, SPANPROF_SPAN_SAMPLED, "");
  spanprof_span span;

  info.name = name;
  info.name_bytes = bytes;
  CHECK_EQUAL(spanprof_span_start(NULL, &info, &span), SPANPROF_OK);
  return span;
}

static const char *id_of(spanprof_span span) {
  static sp_span_view view;

  CHECK(sp_span_describe(span, name_buffer, sizeof name_buffer, &view));
  return view.profile_id;
}

static const char *name_of(spanprof_span span) {
  static char name[2049];
  sp_span_view view;

  CHECK(sp_span_describe(span, name_buffer, sizeof name_buffer, &view));
  CHECK(view.name == name_buffer);
  memcpy(name, view.name, view.name_bytes);
  name[view.name_bytes] = '\0';
  return name;
}

static bool known(spanprof_span span) {
  sp_span_view view;

  return sp_span_describe(span, name_buffer, sizeof name_buffer, &view);
}

static void sweep_thrice(void) {
  sp_span_sweep();
  sp_span_sweep();
  sp_span_sweep();
}

/* End spans and free them, because every test begins and ends without spans. */
static void end_all(spanprof_span *spans, size_t count) {
  size_t i;

  for (i = 0; i < count; i++)
    spanprof_span_end(spans[i]);
  for (i = 0; i < 8; i++)
    sp_span_sweep();
}

static void children_carry_their_local_root(void) {
  spanprof_span_rules *rules = rules_of(1);
  spanprof_span s[4];

  s[0] = start(rules, 1, 0, SPANPROF_SPAN_SAMPLED);
  s[1] = start(rules, 2, 1, SPANPROF_SPAN_SAMPLED);
  s[2] = start(rules, 3, 2, SPANPROF_SPAN_SAMPLED);
  /* The span itself is not sampled. */
  s[3] = start(rules, 4, 1, SPANPROF_SPAN_UNSAMPLED);
  CHECK_EQUAL(spanprof_span_carried(s[0]), s[0]);
  CHECK_EQUAL(spanprof_span_carried(s[1]), s[0]);
  CHECK_EQUAL(spanprof_span_carried(s[2]), s[0]);
  CHECK_EQUAL(spanprof_span_carried(s[3]), s[0]);
  CHECK_TEXT(id_of(s[0]), "0100000000000000");
  end_all(s, 4);
  spanprof_span_rules_free(rules);
}

static void remote_parent_makes_a_local_root(void) {
  spanprof_span s[3];

  s[0] = start(NULL, 1, 0, SPANPROF_SPAN_SAMPLED);
  s[1] = start(NULL, 2, 1, SPANPROF_SPAN_SAMPLED | SPANPROF_SPAN_PARENT_REMOTE);
  s[2] = start(NULL, 3, 2, SPANPROF_SPAN_SAMPLED);
  CHECK_EQUAL(spanprof_span_carried(s[1]), s[1]);
  CHECK_EQUAL(spanprof_span_carried(s[2]), s[1]);
  end_all(s, 3);
}

static void unsampled_root_carries_nothing(void) {
  spanprof_span s[2];

  s[0] = start(NULL, 1, 0, SPANPROF_SPAN_UNSAMPLED);
  s[1] = start(NULL, 2, 1, SPANPROF_SPAN_SAMPLED);
  CHECK_EQUAL(spanprof_span_carried(s[0]), 0);
  CHECK_EQUAL(spanprof_span_carried(s[1]), 0);
  end_all(s, 2);
}

static void child_of_an_unknown_parent_carries_nothing(void) {
  spanprof_span_rules *each = rules_of(0);
  spanprof_span s[3];

  s[0] = start(NULL, 2, 77, SPANPROF_SPAN_SAMPLED);
  CHECK_EQUAL(spanprof_span_carried(s[0]), 0);
  s[1] = start(NULL, 3, 2, SPANPROF_SPAN_SAMPLED); /* a child of s[0] */
  CHECK_EQUAL(spanprof_span_carried(s[1]), 0);
  s[2] = start(each, 4, 78, SPANPROF_SPAN_SAMPLED);
  CHECK_EQUAL(spanprof_span_carried(s[2]), s[2]);
  end_all(s, 3);
  spanprof_span_rules_free(each);
}

static void each_span_carries_itself_without_root_only(void) {
  spanprof_span_rules *rules = rules_of(0);
  spanprof_span s[4];

  s[0] = start(rules, 1, 0, SPANPROF_SPAN_SAMPLED);
  s[1] = start(rules, 2, 1, SPANPROF_SPAN_SAMPLED);
  s[2] = start(rules, 3, 2,
               SPANPROF_SPAN_UNSAMPLED); /* carries what its parent carries */
  s[3] = start(rules, 4, 3, SPANPROF_SPAN_UNSAMPLED);
  CHECK_EQUAL(spanprof_span_carried(s[0]), s[0]);
  CHECK_EQUAL(spanprof_span_carried(s[1]), s[1]);
  CHECK_EQUAL(spanprof_span_carried(s[2]), s[1]);
  CHECK_EQUAL(spanprof_span_carried(s[3]), s[1]);
  end_all(s, 4);
  spanprof_span_rules_free(rules);
}

static void parents_are_of_the_same_trace(void) {
  spanprof_span_info info = info_of(2, 1, SPANPROF_SPAN_SAMPLED, "other");
  spanprof_span s[2];

  s[0] = start(NULL, 1, 0, SPANPROF_SPAN_SAMPLED);
  info.trace_id[15] = 9;
  CHECK_EQUAL(spanprof_span_start(NULL, &info, &s[1]), SPANPROF_OK);
  CHECK_EQUAL(spanprof_span_carried(s[1]), 0);
  end_all(s, 2);
}

static void with_mixed_rules_every_carried_span_is_kept(void) {
  spanprof_span_rules *each = rules_of(0), *root = rules_of(1);
  spanprof_span s[4];

  s[0] = start(root, 1, 0, SPANPROF_SPAN_SAMPLED);
  s[1] = start(each, 2, 1, SPANPROF_SPAN_SAMPLED);
  s[2] = start(root, 3, 2, SPANPROF_SPAN_SAMPLED);
  s[3] = start(each, 4, 2, SPANPROF_SPAN_UNSAMPLED);
  CHECK_EQUAL(spanprof_span_carried(s[2]), s[0]);
  CHECK_EQUAL(spanprof_span_carried(s[3]), s[1]);
  spanprof_span_end(s[0]);
  spanprof_span_end(s[1]);
  sweep_thrice();
  CHECK(known(s[0]) && known(s[1]));
  end_all(s, 4);
  CHECK(!known(s[0]) && !known(s[1]) && !known(s[2]) && !known(s[3]));
  spanprof_span_rules_free(each);
  spanprof_span_rules_free(root);
}

static void span_without_ids_becomes_a_child_of_the_active_one(void) {
  spanprof_span_rules_options options;
  spanprof_span_rules *rules;
  spanprof_span_info info = {.struct_size = sizeof info,
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = "n",
                             .name_bytes = 1};
  spanprof_span s[3];
  spanprof_span_token token;
  sp_span_view one, two, three;

  spanprof_span_rules_options_init(&options, sizeof options);
  options.add_trace_id = 1;
  options.root_span_only = 0;
  CHECK_EQUAL(spanprof_span_rules_new(&options, &rules), SPANPROF_OK);
  CHECK_EQUAL(spanprof_span_start(rules, &info, &s[0]), SPANPROF_OK);
  CHECK_EQUAL(spanprof_span_enter(s[0], &token), SPANPROF_OK);
  CHECK_EQUAL(spanprof_span_start(rules, &info, &s[1]), SPANPROF_OK);
  spanprof_span_leave(token);
  CHECK_EQUAL(spanprof_span_start(rules, &info, &s[2]), SPANPROF_OK);
  CHECK(sp_span_describe(s[0], name_buffer, sizeof name_buffer, &one));
  CHECK(sp_span_describe(s[1], name_buffer, sizeof name_buffer, &two));
  CHECK(sp_span_describe(s[2], name_buffer, sizeof name_buffer, &three));
  CHECK_TEXT(one.trace_id, two.trace_id);
  CHECK(strcmp(one.trace_id, three.trace_id) != 0);
  CHECK(strcmp(one.profile_id, two.profile_id) != 0);
  CHECK(strspn(one.trace_id, "0123456789abcdef") == 32);
  CHECK(strcmp(one.profile_id, "0000000000000000") != 0);
  end_all(s, 3);
  spanprof_span_rules_free(rules);
}

static void entering_makes_samples_carry_it(void) {
  spanprof_span s[2];
  spanprof_span_token outer, inner;
  spanprof_labels labels;
  spanprof_span carried;

  s[0] = start(NULL, 1, 0, SPANPROF_SPAN_SAMPLED);
  s[1] = start(NULL, 2, 1, SPANPROF_SPAN_SAMPLED);
  spanprof_span_enter(s[0], &outer);
  spanprof_span_enter(s[1], &inner);
  sp_context_read(sp_self_current(), &labels, &carried);
  CHECK_EQUAL(carried, s[0]);
  CHECK_EQUAL(spanprof_span_active(), s[1]);
  spanprof_span_leave(inner);
  spanprof_span_enter(0, &inner); /* no span is active */
  sp_context_read(sp_self_current(), &labels, &carried);
  CHECK_EQUAL(carried, 0);
  spanprof_span_leave(inner);
  spanprof_span_leave(outer);
  end_all(s, 2);
}

static void info_is_checked(void) {
  spanprof_span_info info = info_of(1, 0, 0, "x");
  spanprof_span span = 5;

  info.struct_size = 8;
  CHECK_EQUAL(spanprof_span_start(NULL, &info, &span), SPANPROF_ERR_ARGUMENT);
  CHECK_EQUAL(span, 0);
  info.struct_size = sizeof info;
  info.name = NULL;
  CHECK_EQUAL(spanprof_span_start(NULL, &info, &span), SPANPROF_ERR_ARGUMENT);
  CHECK_EQUAL(spanprof_span_start(NULL, NULL, &span), SPANPROF_ERR_ARGUMENT);
}

static void a_span_is_sampled_unless_flagged_otherwise(void) {
  static const struct {
    uint32_t flags;
    bool sampled;
  } cases[] = {{0, true},
               {SPANPROF_SPAN_SAMPLED, true},
               {SPANPROF_SPAN_PARENT_REMOTE, true},
               {SPANPROF_SPAN_UNSAMPLED, false},
               {SPANPROF_SPAN_UNSAMPLED | SPANPROF_SPAN_SAMPLED, false}};
  spanprof_span s[sizeof cases / sizeof cases[0]];
  size_t i;

  for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    s[i] = start(NULL, (uint8_t)(i + 1), 0, cases[i].flags);
    CHECK_EQUAL(spanprof_span_carried(s[i]), cases[i].sampled ? s[i] : 0);
  }
  end_all(s, i);
}

static void last_name_before_the_end_counts(void) {
  spanprof_span span = start_named("GET", 3);

  CHECK_TEXT(name_of(span), "GET");
  spanprof_span_rename(span, "GET /users/:id", 14);
  CHECK_TEXT(name_of(span), "GET /users/:id");
  spanprof_span_end(span);
  CHECK_TEXT(name_of(span), "GET /users/:id");
  spanprof_span_rename(span, "too late", 8);
  CHECK_TEXT(name_of(span), "GET /users/:id");
  end_all(&span, 1);
}

static void names_are_cleaned_and_counted(void) {
  size_t huge_bytes = 1 << 20;
  char *huge = malloc(huge_bytes);
  spanprof_span s[4];
  uint64_t before = sp_counted(&sp_counts.span_names_cleaned);

  memset(huge, 'h', huge_bytes);
  s[0] = start_named("", 0);
  CHECK_TEXT(name_of(s[0]), "[unnamed]");
  s[1] = start_named("a\xff\tb", 4);
  CHECK_TEXT(name_of(s[1]), "a??b");
  s[2] = start_named(huge, huge_bytes);
  CHECK_EQUAL(strlen(name_of(s[2])), 2048);
  s[3] = start_named("stra\xc3\x9f"
                     "e",
                     7);
  CHECK_TEXT(name_of(s[3]), "stra\xc3\x9f"
                            "e");
  CHECK_EQUAL(sp_counted(&sp_counts.span_names_cleaned), before + 3);
  spanprof_span_rename(s[3], huge, huge_bytes);
  CHECK_EQUAL(strlen(name_of(s[3])), 2048);
  spanprof_span_rename(s[3], "short again", 11);
  CHECK_TEXT(name_of(s[3]), "short again");
  CHECK_EQUAL(sp_counted(&sp_counts.span_names_cleaned), before + 4);
  end_all(s, 4);
  free(huge);
}

static void names_of_every_length_are_kept(void) {
  char name[130];
  size_t bytes;

  sp_span_names_max_set(1000);
  for (bytes = 1; bytes < sizeof name; bytes++) {
    spanprof_span span;

    memset(name, 'n', sizeof name);
    name[bytes] = '\0';
    span = start_named(name, bytes);
    CHECK_TEXT(name_of(span), name);
    spanprof_span_end(span);
  }
  sweep_thrice();
  sp_span_names_max_set(500);
}

static void names_over_the_cap_become_other(void) {
  uint64_t before;
  spanprof_span s[8];
  char name[32];
  int i;

  label_reset(NULL);
  sp_span_names_max_set(5);
  before = sp_counted(&sp_counts.span_names_capped);
  for (i = 0; i < 8; i++) {
    snprintf(name, sizeof name, "name %d", i);
    s[i] = start_named(name, strlen(name));
  }
  for (i = 0; i < 8; i++) {
    snprintf(name, sizeof name, "name %d", i);
    CHECK_TEXT(name_of(s[i]), i < 5 ? name : "[other]");
    CHECK_TEXT(name_of(s[i]), i < 5 ? name : "[other]");
    CHECK_EQUAL(strlen(id_of(s[i])), 16);
  }
  CHECK_EQUAL(sp_counted(&sp_counts.span_names_capped), before + 3);
  spanprof_span_rename(s[7], "name 0", 6);
  CHECK_TEXT(name_of(s[7]), "name 0");
  end_all(s, 8);
  label_reset(NULL);
}

static void stale_numbers_are_harmless(void) {
  spanprof_span span = start(NULL, 1, 0, SPANPROF_SPAN_SAMPLED), other;
  uint64_t live = sp_counted(&sp_counts.spans_live);
  spanprof_span_token token;
  char text[64];
  size_t length;

  spanprof_span_end(span);
  spanprof_span_end(span);
  CHECK_EQUAL(sp_counted(&sp_counts.spans_live), live - 1);
  sweep_thrice();
  CHECK(!known(span));
  /* Reuses the memory of `span`. */
  other = start(NULL, 9, 0, SPANPROF_SPAN_SAMPLED);
  CHECK_EQUAL((uint32_t)other, (uint32_t)span);
  CHECK(other != span);
  spanprof_span_end(span);
  spanprof_span_rename(span, "stale", 5);
  CHECK_TEXT(name_of(other), "name");
  CHECK_EQUAL(spanprof_span_carried(span), 0);
  CHECK_EQUAL(spanprof_span_enter(span, &token), SPANPROF_OK);
  spanprof_span_leave(token);
  CHECK_EQUAL(spanprof_span_attribute_get(NULL, span,
                                          SPANPROF_ATTRIBUTE_PROFILE_ID, text,
                                          sizeof text, &length),
              SPANPROF_OK);
  CHECK_EQUAL(length, 0);
  CHECK_EQUAL(sp_counted(&sp_counts.spans_live), live);
  spanprof_span_end(0);
  spanprof_span_end(UINT64_MAX);
  spanprof_span_rename(UINT64_MAX - 7, "x", 1);
  CHECK(!known(0) && !known(UINT64_MAX) && !known(12345));
  end_all(&other, 1);
}

static void ended_span_can_be_named_until_the_second_sweep(void) {
  spanprof_span span = start(NULL, 1, 0, SPANPROF_SPAN_SAMPLED);

  sweep_thrice();
  CHECK(known(span));
  spanprof_span_end(span);
  CHECK(known(span));
  sp_span_sweep();
  CHECK(known(span));
  sp_span_sweep();
  CHECK(!known(span));
}

static void span_on_a_stack_is_kept(void) {
  spanprof_span s[2];
  spanprof_context *context;
  spanprof_span_token token, inside;

  s[0] = start(NULL, 1, 0, SPANPROF_SPAN_SAMPLED);
  s[1] = start(NULL, 2, 1, SPANPROF_SPAN_SAMPLED);
  CHECK_EQUAL(spanprof_context_new(&context), SPANPROF_OK);
  spanprof_context_switch(context);
  spanprof_span_enter(0, &token);
  /* This span will end while it is on a stack. */
  spanprof_span_enter(s[1], &inside);
  spanprof_context_switch(NULL);
  end_all(s, 2);
  CHECK(known(s[0]) && known(s[1]));
  spanprof_context_switch(context);
  spanprof_span_leave(token);
  spanprof_context_switch(NULL);
  spanprof_context_free(context);
  end_all(s, 0);
  CHECK(!known(s[0]) && !known(s[1]));
}

static void root_lives_as_long_as_its_children(void) {
  spanprof_span s[3];

  s[0] = start(NULL, 1, 0, SPANPROF_SPAN_SAMPLED);
  s[1] = start(NULL, 2, 1, SPANPROF_SPAN_SAMPLED);
  spanprof_span_end(s[0]);
  sweep_thrice();
  CHECK(known(s[0]));
  CHECK_EQUAL(spanprof_span_carried(s[1]), s[0]);
  /* A child can still start after the root has ended. */
  s[2] = start(NULL, 3, 1, SPANPROF_SPAN_SAMPLED);
  CHECK_EQUAL(spanprof_span_carried(s[2]), s[0]);
  spanprof_span_end(s[1]);
  sweep_thrice();
  CHECK(known(s[0]) && !known(s[1]));
  end_all(s, 3);
  CHECK(!known(s[0]) && !known(s[2]));
}

static void hundred_thousand_spans_live_at_once(void) {
  enum { COUNT = 100000 };
  spanprof_span *s = malloc(COUNT * sizeof *s);
  spanprof_span_info info = info_of(1, 0, SPANPROF_SPAN_SAMPLED, "many");
  uint64_t live = sp_counted(&sp_counts.spans_live);
  int i;

  for (i = 0; i < COUNT; i++) {
    uint32_t id = (uint32_t)i + 1, parent = id / 2; /* a tree with one root */

    memcpy(info.span_id, &id, sizeof id);
    memcpy(info.parent_id, &parent, sizeof parent);
    CHECK_EQUAL(spanprof_span_start(NULL, &info, &s[i]), SPANPROF_OK);
  }
  CHECK_EQUAL(sp_counted(&sp_counts.spans_live), live + COUNT);
  for (i = 0; i < COUNT; i++)
    CHECK_EQUAL(spanprof_span_carried(s[i]), s[0]);
  end_all(s, COUNT);
  CHECK_EQUAL(sp_counted(&sp_counts.spans_live), live);
  for (i = 0; i < COUNT; i++)
    CHECK(!known(s[i]));
  free(s);
}

static void without_a_session_ended_spans_do_not_pile_up(void) {
  uint32_t highest = 0;
  int i;

  for (i = 0; i < 200000; i++) {
    spanprof_span span = start_named("short", 5);

    if ((uint32_t)span > highest)
      highest = (uint32_t)span;
    spanprof_span_end(span);
  }
  /* The spans reuse the memory that the previous test freed, and no other
   * memory. */
  CHECK(highest < 110000);
}

static void *end_elsewhere(void *data) {
  spanprof_span_rename(*(spanprof_span *)data, "renamed elsewhere", 17);
  spanprof_span_end(*(spanprof_span *)data);
  return NULL;
}

static void span_may_end_on_another_thread(void) {
  spanprof_span span = start(NULL, 1, 0, SPANPROF_SPAN_SAMPLED);
  spanprof_span_token token;
  pthread_t thread;

  spanprof_span_enter(span, &token);
  pthread_create(&thread, NULL, end_elsewhere, &span);
  pthread_join(thread, NULL);
  sweep_thrice();
  CHECK_TEXT(name_of(span), "renamed elsewhere");
  CHECK_EQUAL(spanprof_span_active(), span);
  spanprof_span_leave(token);
  end_all(&span, 1);
}

static _Atomic int threads_stop;
static _Atomic spanprof_span shared_span;

static void *work(void *data) {
  spanprof_span_info child = info_of(0, 0, SPANPROF_SPAN_SAMPLED, "child");
  int i;

  (void)data;
  for (i = 0; i < 3000; i++) {
    const char *name = i % 3 ? "GET" : long_name;
    spanprof_span root = start_named(name, strlen(name));
    spanprof_span_token outer, inner;
    spanprof_span span;

    CHECK_EQUAL(spanprof_span_enter(root, &outer), SPANPROF_OK);
    memset(child.trace_id, 0, sizeof child.trace_id);
    CHECK_EQUAL(spanprof_span_start(NULL, &child, &span), SPANPROF_OK);
    CHECK_EQUAL(spanprof_span_carried(span), root);
    CHECK_EQUAL(spanprof_span_enter(span, &inner), SPANPROF_OK);
    atomic_store(&shared_span, i % 2 ? root : span);
    spanprof_span_rename(root, "GET /", 5);
    spanprof_span_end(span);
    spanprof_span_leave(inner);
    spanprof_span_end(root);
    spanprof_span_leave(outer);
  }
  return NULL;
}

static void *disturb(void *data) {
  (void)data;
  while (!atomic_load(&threads_stop)) {
    spanprof_span span = atomic_load(&shared_span), carried;
    spanprof_span_token token;
    sp_span_view view;
    char buffer[2048];

    spanprof_span_rename(span, long_name, sizeof long_name - 1);
    CHECK_EQUAL(spanprof_span_enter(span, &token), SPANPROF_OK);
    carried = spanprof_span_carried(span);
    if (carried && sp_span_describe(carried, buffer, sizeof buffer, &view))
      CHECK(view.name_bytes > 0);
    spanprof_span_leave(token);
    spanprof_span_end(span);
  }
  return NULL;
}

static void *sweep_often(void *data) {
  (void)data;
  while (!atomic_load(&threads_stop))
    sp_span_sweep();
  return NULL;
}

static void threads_start_rename_end_and_sweep_at_once(void) {
  pthread_t workers[3], others[2];
  int i;

  atomic_store(&threads_stop, 0);
  for (i = 0; i < 3; i++)
    pthread_create(&workers[i], NULL, work, NULL);
  pthread_create(&others[0], NULL, disturb, NULL);
  pthread_create(&others[1], NULL, sweep_often, NULL);
  for (i = 0; i < 3; i++)
    pthread_join(workers[i], NULL);
  atomic_store(&threads_stop, 1);
  for (i = 0; i < 2; i++)
    pthread_join(others[i], NULL);
  for (i = 0; i < 8; i++)
    sp_span_sweep();
}

static void child_process_has_other_ids(void) {
  spanprof_span span;
  int fds[2];
  char here[17] = "", there[17] = "";
  pid_t pid;

  spanprof_span_end(start_named("seed", 4));
  CHECK_EQUAL(pipe(fds), 0);
  pid = fork();
  if (pid == 0) {
    CHECK(write(fds[1], id_of(start_named("n", 1)), 16) == 16);
    _exit(0);
  }
  span = start_named("n", 1);
  memcpy(here, id_of(span), 16);
  CHECK(read(fds[0], there, 16) == 16);
  CHECK(waitpid(pid, NULL, 0) == pid);
  CHECK(strcmp(here, there) != 0);
  close(fds[0]);
  close(fds[1]);
  end_all(&span, 1);
}

static _Atomic bool resets_over;

static void *counters_reset(void *nothing) {
  while (!resets_over)
    sp_counters_reset();
  return nothing;
}

static void live_spans_stay_counted_after_resets(void) {
  uint64_t live = sp_counted(&sp_counts.spans_live);
  pthread_t thread;
  int i;

  CHECK_EQUAL(pthread_create(&thread, NULL, counters_reset, NULL), 0);
  for (i = 0; i < 200000; i++)
    spanprof_span_end(start_named("busy", 4));
  resets_over = true;
  pthread_join(thread, NULL);
  CHECK_EQUAL(sp_counted(&sp_counts.spans_live), live);
}

static void starting(const sp_mem *mem) {
  uint64_t refused = sp_counted(&sp_counts.spans_refused);
  spanprof_span s[40];
  size_t i;

  label_reset(mem);
  for (i = 0; i < SP_COUNT_OF(s); i++) {
    spanprof_span_info info =
        info_of((uint8_t)(i + 1), (uint8_t)i, SPANPROF_SPAN_SAMPLED, long_name);
    spanprof_status st = spanprof_span_start(NULL, &info, &s[i]);

    CHECK(st == SPANPROF_OK || st == SPANPROF_ERR_NOMEM);
    CHECK((s[i] == 0) == (st != SPANPROF_OK));
    refused += st != SPANPROF_OK;
    CHECK_EQUAL(sp_counted(&sp_counts.spans_refused), refused);
    spanprof_span_rename(s[i], i % 2 ? long_name : "short",
                         i % 2 ? sizeof long_name - 1 : 5);
    if (s[i]) {
      const char *name = name_of(s[i]);

      CHECK(strncmp(name, long_name, SP_SPAN_NAME_INLINE) == 0 ||
            strcmp(name, "short") == 0 || strcmp(name, "[other]") == 0);
    }
  }
  end_all(s, SP_COUNT_OF(s));
  label_reset(NULL);
}

static void every_allocation_may_fail(void) {
  failing_mem_sweep(starting);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"children_carry_their_local_root", children_carry_their_local_root},
      {"remote_parent_makes_a_local_root", remote_parent_makes_a_local_root},
      {"unsampled_root_carries_nothing", unsampled_root_carries_nothing},
      {"child_of_an_unknown_parent_carries_nothing",
       child_of_an_unknown_parent_carries_nothing},
      {"each_span_carries_itself_without_root_only",
       each_span_carries_itself_without_root_only},
      {"parents_are_of_the_same_trace", parents_are_of_the_same_trace},
      {"with_mixed_rules_every_carried_span_is_kept",
       with_mixed_rules_every_carried_span_is_kept},
      {"span_without_ids_becomes_a_child_of_the_active_one",
       span_without_ids_becomes_a_child_of_the_active_one},
      {"entering_makes_samples_carry_it", entering_makes_samples_carry_it},
      {"info_is_checked", info_is_checked},
      {"a_span_is_sampled_unless_flagged_otherwise",
       a_span_is_sampled_unless_flagged_otherwise},
      {"last_name_before_the_end_counts", last_name_before_the_end_counts},
      {"names_are_cleaned_and_counted", names_are_cleaned_and_counted},
      {"names_of_every_length_are_kept", names_of_every_length_are_kept},
      {"names_over_the_cap_become_other", names_over_the_cap_become_other},
      {"stale_numbers_are_harmless", stale_numbers_are_harmless},
      {"ended_span_can_be_named_until_the_second_sweep",
       ended_span_can_be_named_until_the_second_sweep},
      {"span_on_a_stack_is_kept", span_on_a_stack_is_kept},
      {"root_lives_as_long_as_its_children",
       root_lives_as_long_as_its_children},
      {"hundred_thousand_spans_live_at_once",
       hundred_thousand_spans_live_at_once},
      {"without_a_session_ended_spans_do_not_pile_up",
       without_a_session_ended_spans_do_not_pile_up},
      {"span_may_end_on_another_thread", span_may_end_on_another_thread},
      {"threads_start_rename_end_and_sweep_at_once",
       threads_start_rename_end_and_sweep_at_once},
      {"live_spans_stay_counted_after_resets",
       live_spans_stay_counted_after_resets},
      {"child_process_has_other_ids", child_process_has_other_ids},
      {"every_allocation_may_fail", every_allocation_may_fail},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
