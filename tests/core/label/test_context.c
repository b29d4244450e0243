/* Contexts, and the records of threads (sp_self): attaching, ending, switching,
 * forking. */
#include "check.h"

#include "label/context.h"
#include "util/system/counters.h"

#include <limits.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static _Atomic int attached, ended;
static _Atomic uint64_t ended_last_span;

static void count_attached(sp_self *self) {
  CHECK(self == sp_self_current());
  atomic_fetch_add(&attached, 1);
}

static spanprof_span last_span(const sp_self *self) {
  spanprof_labels labels;
  spanprof_span span;
  spanprof_mark mark;

  sp_context_last(self, &labels, &span, &mark);
  return span;
}

static spanprof_labels last_labels(const sp_self *self) {
  spanprof_labels labels;
  spanprof_span span;
  spanprof_mark mark;

  sp_context_last(self, &labels, &span, &mark);
  return labels;
}

static void count_ended(sp_self *self) {
  atomic_store(&ended_last_span, last_span(self));
  atomic_fetch_add(&ended, 1);
}

static const sp_self_hooks counting = {count_attached, count_ended};

static spanprof_span start(const char *name) {
  spanprof_span_info info = {.struct_size = sizeof info,
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = name,
                             .name_bytes = strlen(name)};
  spanprof_span span;

  CHECK_EQUAL(spanprof_span_start(NULL, &info, &span), SPANPROF_OK);
  CHECK(span != 0);
  return span;
}

static spanprof_span_token enter(spanprof_span span) {
  spanprof_span_token token;

  CHECK_EQUAL(spanprof_span_enter(span, &token), SPANPROF_OK);
  return token;
}

static spanprof_label_token push(const char *value) {
  spanprof_label_token token;

  CHECK_EQUAL(spanprof_label_push_bytes("key", 3, value, strlen(value), &token),
              SPANPROF_OK);
  return token;
}

static void on_thread(void *(*run)(void *), void *data) {
  pthread_t thread;

  CHECK_EQUAL(pthread_create(&thread, NULL, run, data), 0);
  CHECK_EQUAL(pthread_join(thread, NULL), 0);
}

static void *use_nothing(void *data) {
  (void)data;
  CHECK(sp_self_current() == NULL);
  CHECK_EQUAL(spanprof_labels_get(), 0);
  CHECK_EQUAL(spanprof_span_active(), 0);
  CHECK(spanprof_context_switch(NULL) == NULL);
  spanprof_labels_set(0);
  spanprof_label_pop(0);
  CHECK(sp_self_current() == NULL);
  return NULL;
}

static void reading_does_not_attach_the_thread(void) {
  on_thread(use_nothing, NULL);
}

static void *attach_twice(void *data) {
  sp_self *self = sp_self_attach();

  CHECK(self && self == sp_self_attach() && self == sp_self_current());
  CHECK(self->thread == NULL);
  CHECK_EQUAL(self->tid, syscall(SYS_gettid));
  CHECK(atomic_load(&self->context) == &self->own);
  *(sp_self **)data = self;
  return NULL;
}

static void hooks_are_called_when_threads_attach_and_end(void) {
  sp_self *first, *second;

  sp_self_hooks_set(&counting);
  atomic_store(&attached, 0);
  atomic_store(&ended, 0);
  on_thread(attach_twice, &first);
  CHECK_EQUAL(atomic_load(&attached), 1);
  CHECK_EQUAL(atomic_load(&ended), 1);
  on_thread(attach_twice, &second);
  CHECK_EQUAL(atomic_load(&ended), 2);
  CHECK(first == second); /* the record is reused */
  sp_self_hooks_set(NULL);
}

static void *end_within_span(void *data) {
  push("left behind");
  enter(*(spanprof_span *)data);
  return NULL;
}

static void *look_clean(void *data) {
  (void)data;
  CHECK(sp_self_attach());
  CHECK_EQUAL(spanprof_labels_get(), 0);
  CHECK_EQUAL(spanprof_span_active(), 0);
  CHECK_EQUAL(last_span(sp_self_current()), 0);
  return NULL;
}

static void next_thread_inherits_nothing(void) {
  spanprof_span span = start("unfinished");

  sp_self_hooks_set(&counting);
  on_thread(end_within_span, &span);
  CHECK_EQUAL(atomic_load(&ended_last_span), span);
  on_thread(look_clean, NULL);
  sp_self_hooks_set(NULL);
  spanprof_span_end(span);
}

static pthread_key_t late_key;

/* Number of times that the destructor use_late() runs at the end of a thread.
 * ThreadSanitizer disposes of its own state in the last round of destructors,
 * so with it the last round is skipped. */
#if defined(__SANITIZE_THREAD__)
#define LATE_ROUNDS 2
#else
#define LATE_ROUNDS (PTHREAD_DESTRUCTOR_ITERATIONS + 1)
#endif

static void use_late(void *data) {
  int *rounds = data;
  spanprof_label_token token;

  /* The push fails in the last round of destructors, because no destructor
   * would run after it and free the thread's record. */
  if (spanprof_label_push_bytes("key", 3, "late", 4, &token))
    CHECK_EQUAL(token, 0);
  spanprof_label_pop(token);
  if (++*rounds < LATE_ROUNDS)
    pthread_setspecific(late_key, data);
}

static void *end_with_late_key(void *data) {
  spanprof_label_pop(push("early"));
  pthread_setspecific(late_key, data);
  return NULL;
}

static void destructor_of_another_key_may_attach_again(void) {
  int rounds, i;

  CHECK(sp_self_attach()); /* the library's key is created before late_key */
  CHECK_EQUAL(pthread_key_create(&late_key, use_late), 0);
  sp_self_hooks_set(&counting);
  for (i = 0; i < 50; i++) {
    rounds = 0;
    atomic_store(&attached, 0);
    atomic_store(&ended, 0);
    on_thread(end_with_late_key, &rounds);
    CHECK(atomic_load(&attached) > 1);
    CHECK(atomic_load(&attached) - atomic_load(&ended) <= 1);
  }
  sp_self_hooks_set(NULL);
  pthread_key_delete(late_key);
}

static int visited;
static sp_self *visited_last;

static void visit(sp_self *self) {
  visited++;
  visited_last = self;
}

static void every_attached_thread_is_visited(void) {
  int before;
  sp_self *ended_self;

  sp_self_attach();
  visited = 0;
  sp_self_each(visit);
  before = visited;
  CHECK(before >= 1);
  on_thread(attach_twice, &ended_self);
  visited = 0;
  sp_self_each(visit);
  CHECK_EQUAL(visited, before);
}

static void context_count(void *data, const spanprof_context *context) {
  *(size_t *)data += context != NULL;
}

static size_t contexts_visited(void) {
  size_t count = 0;

  sp_context_each(context_count, &count);
  return count;
}

/* Return the number of the process's resident pages. */
static long resident_pages(void) {
  FILE *file = fopen("/proc/self/statm", "r");
  long size, resident;

  CHECK(file && fscanf(file, "%ld %ld", &size, &resident) == 2);
  fclose(file);
  return resident;
}

/* When many coroutines have ended, the memory of their contexts is returned to
 * the system. */
static void free_contexts_return_memory_and_are_not_visited(void) {
  enum { MANY = 100000 };
  static spanprof_context *many[MANY];
  const size_t visited_before = contexts_visited();
  const uint32_t count_before = sp_context_count();
  long pages_before, pages;
  int i, round;

  for (round = 0; round < 2; round++) {
    pages_before = resident_pages();
    for (i = 0; i < MANY; i++)
      CHECK_EQUAL(spanprof_context_new(&many[i]), SPANPROF_OK);
    CHECK_EQUAL(contexts_visited(), visited_before + MANY);
    CHECK(sp_context_count() >= count_before + MANY);
    pages = resident_pages();
    CHECK(pages > pages_before + MANY / 8);
    for (i = 0; i < MANY; i++)
      spanprof_context_free(many[(i * 7919L) % MANY]);
    CHECK_EQUAL(contexts_visited(), visited_before);
    CHECK_EQUAL(sp_context_count(), count_before);
    CHECK(resident_pages() < pages - MANY / 8);
  }
}

/* If a program frees and creates contexts in turn, memory is not returned and
 * allocated again each time. */
static void a_freed_context_is_reused(void) {
  spanprof_context *first, *next;
  int i;

  CHECK_EQUAL(spanprof_context_new(&first), SPANPROF_OK);
  spanprof_context_free(first);
  for (i = 0; i < 100; i++) {
    CHECK_EQUAL(spanprof_context_new(&next), SPANPROF_OK);
    CHECK(next == first);
    spanprof_context_free(next);
  }
}

static void sample_carries_labels_and_span(void) {
  spanprof_span span = start("request");
  spanprof_label_token label = push("v");
  spanprof_span_token token = enter(span);
  spanprof_labels labels, pushed;
  spanprof_span carried;

  sp_context_read(sp_self_current(), &labels, &carried);
  CHECK_EQUAL(labels, spanprof_labels_get());
  CHECK_EQUAL(carried, span);
  pushed = labels;
  spanprof_span_leave(token);
  spanprof_label_pop(label);
  sp_context_read(sp_self_current(), &labels, &carried);
  CHECK_EQUAL(labels, 0);
  CHECK_EQUAL(carried, 0);
  CHECK_EQUAL(last_span(sp_self_current()), span);
  CHECK_EQUAL(last_labels(sp_self_current()), pushed);
  spanprof_labels_set(pushed);
  spanprof_labels_set(0);
  CHECK_EQUAL(last_labels(sp_self_current()), pushed);
  /* A sample without labels and span replaces the last values, too. */
  sp_context_remember(sp_self_current(), 0, 0, 0);
  CHECK_EQUAL(last_span(sp_self_current()), 0);
  CHECK_EQUAL(last_labels(sp_self_current()), 0);
  spanprof_span_end(span);
}

static void switch_swaps_labels_and_spans(void) {
  spanprof_span a = start("a"), b = start("b");
  spanprof_span_token in_a = enter(a), in_b;
  spanprof_label_token label_a = push("a"), label_b;
  spanprof_labels set_a = spanprof_labels_get();
  spanprof_context *context;

  CHECK_EQUAL(spanprof_context_new(&context), SPANPROF_OK);
  CHECK(spanprof_context_switch(context) == NULL);
  CHECK_EQUAL(spanprof_span_active(), 0);
  CHECK_EQUAL(spanprof_labels_get(), 0);
  in_b = enter(b);
  label_b = push("b");
  CHECK(spanprof_context_switch(NULL) == context);
  CHECK_EQUAL(spanprof_span_active(), a);
  CHECK_EQUAL(spanprof_labels_get(), set_a);
  CHECK(spanprof_context_switch(context) == NULL);
  CHECK_EQUAL(spanprof_span_active(), b);
  CHECK(spanprof_context_switch(context) == context);
  spanprof_span_leave(in_b);
  spanprof_label_pop(label_b);
  CHECK(spanprof_context_switch(NULL) == context);
  spanprof_label_pop(label_a);
  spanprof_span_leave(in_a);
  spanprof_context_free(context);
  spanprof_span_end(a);
  spanprof_span_end(b);
}

static void token_of_another_context_is_ignored(void) {
  uint64_t before = sp_counted(&sp_counts.spans_unbalanced);
  spanprof_span span = start("s");
  spanprof_context *one, *two;
  spanprof_span_token in_one, in_two;

  CHECK_EQUAL(spanprof_context_new(&one), SPANPROF_OK);
  CHECK_EQUAL(spanprof_context_new(&two), SPANPROF_OK);
  spanprof_context_switch(one);
  in_one = enter(span);
  spanprof_context_switch(two);
  in_two = enter(span);
  CHECK(in_one != in_two);
  spanprof_span_leave(in_one);
  CHECK_EQUAL(spanprof_span_active(), span);
  CHECK_EQUAL(sp_counted(&sp_counts.spans_unbalanced), before + 1);
  spanprof_context_switch(one);
  spanprof_span_leave(in_one);
  CHECK_EQUAL(spanprof_span_active(), 0);
  spanprof_context_switch(two);
  spanprof_span_leave(in_two);
  CHECK_EQUAL(spanprof_span_active(), 0);
  spanprof_context_switch(NULL);
  spanprof_context_free(one);
  spanprof_context_free(two);
  CHECK_EQUAL(sp_counted(&sp_counts.spans_unbalanced), before + 1);
  spanprof_span_end(span);
}

static void *resume(void *data) {
  spanprof_context **context = data;

  CHECK(spanprof_context_switch(*context) == NULL);
  CHECK(spanprof_span_active() != 0);
  spanprof_label_pop(push("elsewhere"));
  CHECK(spanprof_context_switch(NULL) == *context);
  return NULL;
}

static void context_moves_between_threads(void) {
  spanprof_span span = start("task");
  spanprof_context *context;
  spanprof_span_token token;
  int i;

  CHECK_EQUAL(spanprof_context_new(&context), SPANPROF_OK);
  spanprof_context_switch(context);
  token = enter(span);
  spanprof_context_switch(NULL);
  for (i = 0; i < 10; i++)
    on_thread(resume, &context);
  spanprof_context_switch(context);
  CHECK_EQUAL(spanprof_span_active(), span);
  spanprof_span_leave(token);
  spanprof_context_switch(NULL);
  spanprof_context_free(context);
  spanprof_span_end(span);
}

static void freeing_the_present_context_falls_back(void) {
  spanprof_context *context, *again;
  spanprof_label_token own = push("own");

  CHECK_EQUAL(spanprof_context_new(&context), SPANPROF_OK);
  spanprof_context_switch(context);
  push("inner");
  spanprof_context_free(context);
  CHECK(atomic_load(&sp_self_current()->context) == &sp_self_current()->own);
  spanprof_label_pop(own);
  CHECK_EQUAL(spanprof_labels_get(), 0);
  CHECK_EQUAL(spanprof_context_new(&again), SPANPROF_OK);
  CHECK(spanprof_context_switch(again) == NULL);
  CHECK_EQUAL(spanprof_labels_get(), 0);
  spanprof_context_switch(NULL);
  spanprof_context_free(again);
  spanprof_context_free(NULL);
}

static void enter_nests_to_64_and_counts_further_ones(void) {
  uint64_t before = sp_counted(&sp_counts.spans_unbalanced);
  spanprof_span spans[SP_SPAN_DEPTH + 3];
  spanprof_span_token tokens[SP_SPAN_DEPTH + 3];
  size_t i;

  for (i = 0; i < SP_COUNT_OF(spans); i++) {
    spans[i] = start("deep");
    CHECK_EQUAL(spanprof_span_enter(spans[i], &tokens[i]),
                i < SP_SPAN_DEPTH ? SPANPROF_OK : SPANPROF_ERR_LIMIT);
  }
  CHECK_EQUAL(sp_counted(&sp_counts.spans_unbalanced), before + 3);
  CHECK_EQUAL(spanprof_span_active(), spans[SP_SPAN_DEPTH - 1]);
  while (i-- > 0) {
    spanprof_span_leave(tokens[i]);
    if (i > 0 && i <= SP_SPAN_DEPTH)
      CHECK_EQUAL(spanprof_span_active(), spans[i - 1]);
    spanprof_span_end(spans[i]);
  }
  CHECK_EQUAL(spanprof_span_active(), 0);
  CHECK_EQUAL(sp_counted(&sp_counts.spans_unbalanced), before + 3);
}

static void stale_leave_is_ignored_and_counted(void) {
  uint64_t before = sp_counted(&sp_counts.spans_unbalanced);
  spanprof_span a = start("a"), b = start("b");
  spanprof_span_token first = enter(a), second, third;

  spanprof_span_leave(first);
  second = enter(a); /* a new enter of the same span at the same depth */
  spanprof_span_leave(first);
  CHECK_EQUAL(spanprof_span_active(), a);
  CHECK_EQUAL(sp_counted(&sp_counts.spans_unbalanced), before + 1);
  third = enter(b);
  spanprof_span_leave(second); /* also leaves b */
  CHECK_EQUAL(spanprof_span_active(), 0);
  spanprof_span_leave(third);
  spanprof_span_leave(UINT64_MAX);
  CHECK_EQUAL(sp_counted(&sp_counts.spans_unbalanced), before + 3);
  spanprof_span_end(a);
  spanprof_span_end(b);
}

static void a_forked_child_has_only_the_forking_threads_record(void) {
  spanprof_span span = start("parent");
  spanprof_span_token token = enter(span);
  pid_t pid;
  int status;

  pid = fork();
  if (pid == 0) {
    visited = 0;
    sp_self_each(visit);
    CHECK_EQUAL(visited, 1);
    CHECK(visited_last == sp_self_current());
    CHECK_EQUAL(visited_last->tid, getpid());
    CHECK_EQUAL(spanprof_span_active(), span);
    spanprof_span_leave(token);
    spanprof_span_end(start("child"));
    on_thread(look_clean, NULL);
    _exit(0);
  }
  CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  spanprof_span_leave(token);
  spanprof_span_end(span);
}

static _Atomic int busy_stop;

static void *be_busy(void *data) {
  (void)data;
  while (!atomic_load(&busy_stop)) {
    spanprof_span span = start("busy");
    spanprof_span_token token = enter(span);

    spanprof_label_pop(push("busy"));
    spanprof_span_rename(span, "renamed", 7);
    spanprof_span_leave(token);
    spanprof_span_end(span);
  }
  return NULL;
}

static void fork_under_load_leaves_no_lock_taken(void) {
  pthread_t threads[2];
  int i;

  atomic_store(&busy_stop, 0);
  for (i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, be_busy, NULL);
  for (i = 0; i < 50; i++) {
    int status;
    pid_t pid;

    pid = fork();
    if (pid == 0) {
      alarm(20);
      spanprof_label_pop(push("in the child"));
      spanprof_span_end(start("in the child"));
      _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  }
  atomic_store(&busy_stop, 1);
  for (i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"reading_does_not_attach_the_thread",
       reading_does_not_attach_the_thread},
      {"hooks_are_called_when_threads_attach_and_end",
       hooks_are_called_when_threads_attach_and_end},
      {"next_thread_inherits_nothing", next_thread_inherits_nothing},
      {"destructor_of_another_key_may_attach_again",
       destructor_of_another_key_may_attach_again},
      {"every_attached_thread_is_visited", every_attached_thread_is_visited},
      {"free_contexts_return_memory_and_are_not_visited",
       free_contexts_return_memory_and_are_not_visited},
      {"a_freed_context_is_reused", a_freed_context_is_reused},
      {"sample_carries_labels_and_span", sample_carries_labels_and_span},
      {"switch_swaps_labels_and_spans", switch_swaps_labels_and_spans},
      {"token_of_another_context_is_ignored",
       token_of_another_context_is_ignored},
      {"context_moves_between_threads", context_moves_between_threads},
      {"freeing_the_present_context_falls_back",
       freeing_the_present_context_falls_back},
      {"enter_nests_to_64_and_counts_further_ones",
       enter_nests_to_64_and_counts_further_ones},
      {"stale_leave_is_ignored_and_counted",
       stale_leave_is_ignored_and_counted},
      {"a_forked_child_has_only_the_forking_threads_record",
       a_forked_child_has_only_the_forking_threads_record},
      {"fork_under_load_leaves_no_lock_taken",
       fork_under_load_leaves_no_lock_taken},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
