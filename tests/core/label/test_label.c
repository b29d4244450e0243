/* Labels: pushes, pops, sets, limits, and use in signal handlers. */
#include "check.h"
#include "failing_mem.h"

#include "label/label_set.h"
#include "label/label_node.h"
#include "label_reset.h"
#include "label/text.h"
#include "util/system/counters.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <ucontext.h>

static spanprof_label_token push(const char *name, const char *value) {
  spanprof_label_token token;

  CHECK_EQUAL(spanprof_label_push_bytes(name, strlen(name), value,
                                        strlen(value), &token),
              SPANPROF_OK);
  CHECK(token != 0);
  return token;
}

/* Return the set as text, such as "inner=x,outer=y". */
static const char *words(spanprof_labels set) {
  static _Thread_local char text[4096];
  sp_label labels[32];
  size_t count = sp_label_set_list(set, labels, SP_COUNT_OF(labels)), i, bytes;
  size_t used = 0;

  text[0] = '\0';
  for (i = 0; i < count; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s",
                             i ? "," : "", sp_text_get(labels[i].name, &bytes),
                             sp_text_get(labels[i].value, &bytes));
  return text;
}

static const char *current(void) {
  return words(spanprof_labels_get());
}

static void nested_pushes_are_popped_in_order(void) {
  spanprof_label_token a = push("region", "eu"), b = push("phase", "hash");

  CHECK_TEXT(current(), "phase=hash,region=eu");
  spanprof_label_pop(b);
  CHECK_TEXT(current(), "region=eu");
  spanprof_label_pop(a);
  CHECK_TEXT(current(), "");
}

static void inner_label_hides_the_outer_one(void) {
  spanprof_label_token a = push("phase", "read"), b = push("phase", "write");

  CHECK_TEXT(current(), "phase=write");
  spanprof_label_pop(b);
  CHECK_TEXT(current(), "phase=read");
  spanprof_label_pop(a);
}

static void strings_and_texts_give_the_same_set(void) {
  spanprof_label_token a = push("region", "us"), b;
  spanprof_labels set = spanprof_labels_get();
  spanprof_text_id name, value;
  int i;

  spanprof_label_pop(a);
  CHECK_EQUAL(spanprof_text_intern("region", 6, &name), SPANPROF_OK);
  CHECK_EQUAL(spanprof_text_intern("us", 2, &value), SPANPROF_OK);
  for (i = 0; i < 3; i++) {
    CHECK_EQUAL(spanprof_label_push_ids(name, value, &b), SPANPROF_OK);
    CHECK_EQUAL(spanprof_labels_get(), set);
    spanprof_label_pop(b);
  }
  CHECK_EQUAL(spanprof_labels_get(), 0);
}

static void texts_of_every_length_are_distinguished(void) {
  char value[64];
  size_t bytes, at;
  int round;

  /* Each value is pushed twice, so that the second push finds it in the cache.
   * The values have every length, and differ from each other in a single byte
   * at every position. */
  for (bytes = 1; bytes < 40; bytes++) {
    for (at = 0; at < bytes; at++) {
      for (round = 0; round < 2; round++) {
        spanprof_label_token token;
        char expected[128];

        memset(value, 'a', sizeof value);
        value[at] = 'b';
        value[bytes] = '\0';
        CHECK_EQUAL(spanprof_label_push_bytes("long_label_name_of_24byt",
                                              at % 24 + 1, value, bytes,
                                              &token),
                    SPANPROF_OK);
        snprintf(expected, sizeof expected, "%.*s=%s", (int)(at % 24 + 1),
                 "long_label_name_of_24byt", value);
        CHECK_TEXT(current(), expected);
        spanprof_label_pop(token);
      }
    }
  }
}

static void changed_buffer_is_read_again(void) {
  char value[32];
  int i;

  for (i = 0; i < 200; i++) {
    spanprof_label_token token;
    char expected[48];

    snprintf(value, sizeof value, "a value of 20 b %04d", i % 7);
    snprintf(expected, sizeof expected, "key=%s", value);
    token = push("key", value);
    CHECK_TEXT(current(), expected);
    spanprof_label_pop(token);
  }
}

static void outer_pop_undoes_inner_pushes(void) {
  uint64_t before = sp_counted(&sp_counts.labels_unbalanced);
  spanprof_label_token a = push("a", "1"), b = push("b", "2"),
                       c = push("c", "3");

  spanprof_label_pop(a);
  CHECK_TEXT(current(), "");
  CHECK_EQUAL(sp_counted(&sp_counts.labels_unbalanced), before);
  spanprof_label_pop(c);
  spanprof_label_pop(b);
  CHECK_TEXT(current(), "");
  CHECK_EQUAL(sp_counted(&sp_counts.labels_unbalanced), before + 2);
}

static void second_pop_is_ignored_and_counted(void) {
  uint64_t before = sp_counted(&sp_counts.labels_unbalanced);
  spanprof_label_token outer = push("outer", "1"), inner = push("inner", "2");

  spanprof_label_pop(inner);
  spanprof_label_pop(inner);
  CHECK_TEXT(current(), "outer=1");
  CHECK_EQUAL(sp_counted(&sp_counts.labels_unbalanced), before + 1);
  spanprof_label_pop(outer);
  spanprof_label_pop(0);
  CHECK_EQUAL(sp_counted(&sp_counts.labels_unbalanced), before + 1);
}

static void token_pops_only_where_it_was_pushed(void) {
  uint64_t before = sp_counted(&sp_counts.labels_unbalanced);
  spanprof_label_token a = push("a", "1"), b;
  spanprof_labels suspended = spanprof_labels_get();

  spanprof_labels_set(0); /* switch to another coroutine */
  b = push("b", "2");
  spanprof_label_pop(a);
  CHECK_TEXT(current(), "b=2");
  CHECK_EQUAL(sp_counted(&sp_counts.labels_unbalanced), before + 1);
  spanprof_label_pop(b);
  spanprof_labels_set(suspended);
  CHECK_TEXT(current(), "a=1");
  spanprof_label_pop(a);
  CHECK_TEXT(current(), "");
}

static void *set_labels(void *data) {
  spanprof_labels_set(*(spanprof_labels *)data);
  CHECK_TEXT(current(), "job=7");
  return NULL;
}

static void set_is_valid_on_any_thread(void) {
  spanprof_label_token token = push("job", "7");
  spanprof_labels set = spanprof_labels_get();
  pthread_t thread;

  pthread_create(&thread, NULL, set_labels, &set);
  pthread_join(thread, NULL);
  spanprof_label_pop(token);
}

static void unknown_set_is_refused(void) {
  uint64_t before = sp_counted(&sp_counts.labels_unbalanced);
  spanprof_label_token token = push("a", "1");

  spanprof_labels_set(65000);
  spanprof_labels_set(UINT32_MAX);
  CHECK_TEXT(current(), "a=1");
  CHECK_EQUAL(sp_counted(&sp_counts.labels_unbalanced), before + 2);
  spanprof_label_pop(token);
}

static void bad_names_and_values_are_cleaned(void) {
  uint64_t before = sp_counted(&sp_counts.labels_cleaned);
  spanprof_label_token token = push("user id", "a\x01\xff");

  CHECK_TEXT(current(), "user_id=a??");
  CHECK(sp_counted(&sp_counts.labels_cleaned) > before);
  spanprof_label_pop(token);
  CHECK_EQUAL(spanprof_label_push_bytes(NULL, 0, NULL, 0, &token), SPANPROF_OK);
  CHECK_TEXT(current(), "");
  spanprof_label_pop(token);
}

static void huge_value_is_truncated(void) {
  size_t bytes = 1 << 20, size;
  char *value = malloc(bytes);
  spanprof_label_token token;
  sp_label label;

  memset(value, 'v', bytes);
  CHECK_EQUAL(spanprof_label_push_bytes("huge", 4, value, bytes, &token),
              SPANPROF_OK);
  CHECK_EQUAL(sp_label_set_list(spanprof_labels_get(), &label, 1), 1);
  sp_text_get(label.value, &size);
  CHECK_EQUAL(size, 2048);
  spanprof_label_pop(token);
  free(value);
}

static void empty_value_hides_the_outer_label(void) {
  uint64_t before = sp_counted(&sp_counts.labels_cleaned);
  spanprof_label_token a = push("tenant", "x"), b = push("tenant", "");

  CHECK_TEXT(current(), "");
  CHECK_EQUAL(sp_counted(&sp_counts.labels_cleaned), before + 1);
  spanprof_label_pop(b);
  CHECK_TEXT(current(), "tenant=x");
  spanprof_label_pop(a);
}

static void values_over_the_cap_become_other(void) {
  uint64_t before;
  spanprof_label_token token;
  char value[32];
  int i;

  label_reset(NULL);
  sp_label_values_max_set(10);
  before = sp_counted(&sp_counts.labels_capped);
  for (i = 0; i < 25; i++) {
    snprintf(value, sizeof value, "request-%d", i);
    token = push("request", value);
    if (i < 10)
      CHECK(strstr(current(), value));
    else
      CHECK_TEXT(current(), "request=[other]");
    spanprof_label_pop(token);
  }
  CHECK_EQUAL(sp_counted(&sp_counts.labels_capped), before + 15);
  /* Values that were admitted before the limit was reached stay valid, in any
   * set. The values of another name are counted separately. */
  token = push("other_name", "request-20");
  push("request", "request-3");
  CHECK_TEXT(current(), "request=request-3,other_name=request-20");
  spanprof_label_pop(token);
  sp_label_values_max_set(1024);
}

static void each_push_of_a_capped_text_is_counted(void) {
  uint64_t before;
  spanprof_text_id name, value;
  spanprof_label_token token;
  int i;

  label_reset(NULL);
  sp_label_values_max_set(1);
  spanprof_label_pop(push("k", "first"));
  before = sp_counted(&sp_counts.labels_capped);
  CHECK_EQUAL(spanprof_text_intern("k", 1, &name), SPANPROF_OK);
  CHECK_EQUAL(spanprof_text_intern("second", 6, &value), SPANPROF_OK);
  for (i = 0; i < 3; i++) {
    CHECK_EQUAL(spanprof_label_push_ids(name, value, &token), SPANPROF_OK);
    CHECK_TEXT(current(), "k=[other]");
    spanprof_label_pop(token);
  }
  CHECK_EQUAL(sp_counted(&sp_counts.labels_capped), before + 3);
  sp_label_values_max_set(1024);
}

static void endless_pushes_reach_a_limit(void) {
  spanprof_label_token token, first = 0;
  spanprof_status st = SPANPROF_OK;
  uint64_t before, capped;
  int depth;

  label_reset(NULL);
  before = sp_counted(&sp_counts.labels_refused);
  capped = sp_counted(&sp_counts.labels_capped);
  for (depth = 0; depth < 1000 && !st; depth++) {
    st = spanprof_label_push_bytes("loop", 4, "again", 5, &token);
    if (depth == 0)
      first = token;
  }
  CHECK_EQUAL(st, SPANPROF_ERR_LIMIT);
  CHECK_EQUAL(token, 0);
  CHECK_EQUAL(depth, SP_LABEL_DEPTH_MAX + 1);
  CHECK_EQUAL(sp_counted(&sp_counts.labels_refused), before + 1);
  CHECK_EQUAL(sp_counted(&sp_counts.labels_capped), capped);
  CHECK_TEXT(current(), "loop=again");
  spanprof_label_pop(token);
  spanprof_label_pop(first);
  CHECK_TEXT(current(), "");
}

static void sets_are_bounded(void) {
  spanprof_status st = SPANPROF_OK;
  spanprof_label_token token;
  uint64_t before;
  char name[32], value[32];
  spanprof_labels set;
  int i;

  label_reset(NULL);
  before = sp_counted(&sp_counts.labels_refused);
  for (i = 0; i < 100000 && !st; i++) {
    snprintf(name, sizeof name, "name%d", i / 1000);
    snprintf(value, sizeof value, "%d", i % 1000);
    st = spanprof_label_push_bytes(name, strlen(name), value, strlen(value),
                                   &token);
    spanprof_label_pop(token);
  }
  CHECK_EQUAL(st, SPANPROF_ERR_LIMIT);
  CHECK(i > (int)SP_LABEL_NODES - 2);
  CHECK_EQUAL(sp_counted(&sp_counts.labels_refused), before + 1);
  CHECK_EQUAL(spanprof_labels_derive(0, "name", 4, "new", 3, &set),
              SPANPROF_ERR_LIMIT);
  CHECK_EQUAL(sp_counted(&sp_counts.labels_refused), before + 2);
  CHECK_TEXT(current(), "");
  /* Sets that exist can still be pushed. */
  token = push("name3", "33");
  CHECK_TEXT(current(), "name3=33");
  spanprof_label_pop(token);
  label_reset(NULL);
}

static _Atomic int stop_signals;
static spanprof_text_id handler_name, handler_value;

static void push_in_handler(int number) {
  spanprof_labels before = spanprof_labels_get();
  spanprof_label_token token;

  (void)number;
  if (spanprof_label_push_ids(handler_name, handler_value, &token) ||
      sp_label_node_get(spanprof_labels_get())->value != handler_value)
    abort();
  spanprof_label_pop(token);
  if (spanprof_labels_get() != before)
    abort();
}

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
/* Bit 8 of rflags, which causes a SIGTRAP after each instruction (Intel SDM 3A,
 * 2.3). */
#define STEP_FLAG 0x100

static unsigned steps, step_to_push;

static void steps_begin(int number, siginfo_t *info, void *ucontext) {
  (void)number, (void)info;
  ((ucontext_t *)ucontext)->uc_mcontext.gregs[REG_EFL] |= STEP_FLAG;
}

static void steps_end(int number, siginfo_t *info, void *ucontext) {
  (void)number, (void)info;
  ((ucontext_t *)ucontext)->uc_mcontext.gregs[REG_EFL] &= ~STEP_FLAG;
}

static void step_taken(int number, siginfo_t *info, void *ucontext) {
  if (++steps < step_to_push)
    return;
  push_in_handler(number);
  steps_end(number, info, ucontext);
}

static void handler_set(int number, void (*handler)(int, siginfo_t *, void *)) {
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

  sigaction(number, &action, NULL);
}

/* Fill the thread's cache with other values of the name. */
static void cache_fill(void) {
  spanprof_label_token token;
  spanprof_text_id value;
  char text[16];
  int i;

  for (i = 0; i < 100; i++) {
    snprintf(text, sizeof text, "other %d", i);
    CHECK_EQUAL(spanprof_text_intern(text, strlen(text), &value), SPANPROF_OK);
    CHECK_EQUAL(spanprof_label_push_ids(handler_name, value, &token),
                SPANPROF_OK);
    spanprof_label_pop(token);
  }
}

/* A push is interrupted by a handler that pushes the same label. The push is
 * repeated, and interrupted at its first instruction, at its second, and so on
 * to the last one. */
static void handler_may_push_at_each_instruction(void) {
  spanprof_label_token token;

  label_reset(NULL);
  CHECK_EQUAL(spanprof_text_intern("place", 5, &handler_name), SPANPROF_OK);
  CHECK_EQUAL(spanprof_text_intern("handler", 7, &handler_value), SPANPROF_OK);
  handler_set(SIGUSR1, steps_begin);
  handler_set(SIGUSR2, steps_end);
  handler_set(SIGTRAP, step_taken);
  for (step_to_push = 1; steps + 1 == step_to_push; step_to_push++) {
    cache_fill();
    steps = 0;
    raise(SIGUSR1);
    CHECK_EQUAL(spanprof_label_push_ids(handler_name, handler_value, &token),
                SPANPROF_OK);
    raise(SIGUSR2);
    CHECK_TEXT(current(), "place=handler");
    spanprof_label_pop(token);
    CHECK_TEXT(current(), "");
  }
  CHECK(step_to_push > 100);
}
#endif

static void *send_signals(void *data) {
  while (!atomic_load(&stop_signals))
    pthread_kill(*(pthread_t *)data, SIGUSR1);
  return NULL;
}

static void handler_may_push_at_any_instant(void) {
  struct sigaction action = {.sa_handler = push_in_handler}, old;
  pthread_t self = pthread_self(), sender;
  spanprof_label_token a, b;
  char value[16], expected[48];
  int i;

  label_reset(NULL);
  CHECK_EQUAL(spanprof_text_intern("handler", 7, &handler_name), SPANPROF_OK);
  CHECK_EQUAL(spanprof_text_intern("yes", 3, &handler_value), SPANPROF_OK);
  CHECK_EQUAL(spanprof_label_push_ids(handler_name, handler_value, &a),
              SPANPROF_OK);
  spanprof_label_pop(a);
  sigaction(SIGUSR1, &action, &old);
  atomic_store(&stop_signals, 0);
  pthread_create(&sender, NULL, send_signals, &self);
  for (i = 0; i < 100000; i++) {
    snprintf(value, sizeof value, "v%d", i % 50);
    snprintf(expected, sizeof expected, "in=%s,out=side", value);
    a = push("out", "side");
    b = push("in", value);
    if (i % 10 == 0)
      CHECK_TEXT(current(), expected);
    spanprof_label_pop(b);
    spanprof_label_pop(a);
    CHECK_EQUAL(spanprof_labels_get(), 0);
  }
  atomic_store(&stop_signals, 1);
  pthread_join(sender, NULL);
  sigaction(SIGUSR1, &old, NULL);
}

static void *push_many(void *data) {
  char value[16], expected[64];
  int i, seed = *(int *)data;

  for (i = 0; i < 20000; i++) {
    spanprof_label_token a, b;

    snprintf(value, sizeof value, "%d", (i * 7 + seed) % 300);
    snprintf(expected, sizeof expected, "item=%s,pool=shared", value);
    a = push("pool", "shared");
    b = push("item", value);
    CHECK_TEXT(current(), expected);
    spanprof_label_pop(b);
    spanprof_label_pop(a);
  }
  return NULL;
}

static spanprof_labels with(spanprof_labels set, const char *name,
                            const char *value) {
  spanprof_labels out;

  CHECK_EQUAL(spanprof_labels_derive(set, name, strlen(name), value,
                                     value ? strlen(value) : 0, &out),
              SPANPROF_OK);
  return out;
}

static void deriving_a_set_does_not_change_the_threads_labels(void) {
  uint64_t before = sp_counted(&sp_counts.labels_cleaned);
  spanprof_labels one = with(0, "user", "7"), set = with(one, "phase", "a");
  int i;

  CHECK_TEXT(words(set), "phase=a,user=7");
  CHECK_TEXT(words(with(set, "user", NULL)), "phase=a");
  CHECK_TEXT(words(with(set, "never seen", NULL)), "phase=a,user=7");
  CHECK_EQUAL(with(one, "user", NULL), 0);
  CHECK_EQUAL(with(set, "user", "7"), set);
  /* The set does not grow, however often the value of a label is replaced. */
  for (i = 0; i < 1000; i++)
    set = with(set, "user", i % 2 ? "8" : "9");
  CHECK_TEXT(words(set), "user=8,phase=a");
  CHECK_EQUAL(sp_counted(&sp_counts.labels_cleaned), before);
  CHECK_TEXT(words(with(0, "user id", "x\x01")), "user_id=x?");
  CHECK_EQUAL(sp_counted(&sp_counts.labels_cleaned), before + 1);
  CHECK_TEXT(current(), "");
}

static void threads_share_sets(void) {
  pthread_t threads[4];
  int seeds[4] = {0, 1, 2, 3}, i;

  for (i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, push_many, &seeds[i]);
  for (i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
}

static void pushing(const sp_mem *mem) {
  char value[32];
  int i;

  label_reset(mem);
  sp_label_values_max_set(3);
  for (i = 0; i < 6; i++) {
    spanprof_labels before = spanprof_labels_get();
    spanprof_label_token token;
    spanprof_status st;

    snprintf(value, sizeof value, "value %d", i);
    st = spanprof_label_push_bytes("bad key", 7, value, strlen(value), &token);
    CHECK(st == SPANPROF_OK || st == SPANPROF_ERR_NOMEM);
    if (st) {
      CHECK_EQUAL(token, 0);
      CHECK_EQUAL(spanprof_labels_get(), before);
    }
    spanprof_label_pop(token);
    CHECK_EQUAL(spanprof_labels_get(), 0);
  }
  sp_label_values_max_set(1024);
  label_reset(NULL);
}

static void every_allocation_may_fail(void) {
  failing_mem_sweep(pushing);
}

/* "[other]" is interned when a thread attaches, because a signal handler that
 * pushes interned texts must not take a lock. This test runs first, before any
 * value has become "[other]". */
static void the_text_of_capped_values_is_other(void) {
  spanprof_text_id other;

  CHECK(!sp_text_find("[other]", 7, &other));
  CHECK(sp_self_attach());
  CHECK(sp_text_find("[other]", 7, &other));
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
    {"the_text_of_capped_values_is_other", the_text_of_capped_values_is_other},
    {"nested_pushes_are_popped_in_order", nested_pushes_are_popped_in_order},
    {"inner_label_hides_the_outer_one", inner_label_hides_the_outer_one},
    {"strings_and_texts_give_the_same_set",
     strings_and_texts_give_the_same_set},
    {"texts_of_every_length_are_distinguished",
     texts_of_every_length_are_distinguished},
    {"changed_buffer_is_read_again", changed_buffer_is_read_again},
    {"outer_pop_undoes_inner_pushes", outer_pop_undoes_inner_pushes},
    {"second_pop_is_ignored_and_counted", second_pop_is_ignored_and_counted},
    {"token_pops_only_where_it_was_pushed",
     token_pops_only_where_it_was_pushed},
    {"set_is_valid_on_any_thread", set_is_valid_on_any_thread},
    {"unknown_set_is_refused", unknown_set_is_refused},
    {"bad_names_and_values_are_cleaned", bad_names_and_values_are_cleaned},
    {"huge_value_is_truncated", huge_value_is_truncated},
    {"empty_value_hides_the_outer_label", empty_value_hides_the_outer_label},
    {"values_over_the_cap_become_other", values_over_the_cap_become_other},
    {"each_push_of_a_capped_text_is_counted",
     each_push_of_a_capped_text_is_counted},
    {"endless_pushes_reach_a_limit", endless_pushes_reach_a_limit},
    {"sets_are_bounded", sets_are_bounded},
    {"handler_may_push_at_any_instant", handler_may_push_at_any_instant},
#if defined(STEP_FLAG)
    {"handler_may_push_at_each_instruction",
     handler_may_push_at_each_instruction},
#endif
    {"deriving_a_set_does_not_change_the_threads_labels",
     deriving_a_set_does_not_change_the_threads_labels},
    {"threads_share_sets", threads_share_sets},
    {"every_allocation_may_fail", every_allocation_may_fail},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
