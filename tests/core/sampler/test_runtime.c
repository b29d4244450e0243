#include "sampler/handler/runtime.h"

#include "collect/samples/runtime_names.h"

#include <pthread.h>
#include <sched.h>

#include "check.h"
#include "failing_mem.h"

static int resolved, requests;

static size_t walk_nothing(void *data, const spanprof_capture *capture,
                           spanprof_frame *frames, size_t max, int *cut) {
  (void)data, (void)capture, (void)frames, (void)max, (void)cut;
  return 0;
}

/* Names the frame with code n "function<n>", and with code 14 and an odd offset
 * "odd14". The frame with code 13 has no name. */
static spanprof_status resolve(void *data, const spanprof_frame *frame,
                               spanprof_name *out) {
  static char text[32];

  (void)data;
  resolved++;
  if (frame->code == 13)
    return SPANPROF_ERR_STATE;
  out->function_bytes = (size_t)snprintf(
      text, sizeof text, "%s%d",
      frame->code == 14 && frame->offset % 2 ? "odd" : "function",
      (int)frame->code);
  out->function = text;
  out->file = "file.toy";
  out->file_bytes = 8;
  out->line = (int64_t)frame->offset;
  out->start_line = 1;
  return SPANPROF_OK;
}

static void request_names(void *data) {
  (void)data;
  requests++;
}

static spanprof_runtime toy(void (*want_names)(void *)) {
  static const spanprof_range ranges[] = {{100, 200}, {300, 301}};

  resolved = requests = 0;
  return (spanprof_runtime){.struct_size = sizeof(spanprof_runtime),
                            .name = "toy",
                            .walk = walk_nothing,
                            .resolve = resolve,
                            .want_names = want_names,
                            .eval_ranges = ranges,
                            .eval_range_count = 2};
}

static spanprof_status add(uint64_t code, uint32_t offset) {
  sp_frame frame = {.kind = SP_FRAME_RUNTIME, .code = code, .position = offset};

  return sp_runtime_names_add(&frame);
}

/* Check a frame's name, and count it in *data. */
static void name_check(void *data, const sp_frame *frame,
                       const sp_frame_name *name) {
  char text[32];

  ++*(int *)data;
  CHECK_EQUAL(frame->kind, SP_FRAME_RUNTIME);
  if (frame->code == 13) {
    CHECK(!name->function);
    return;
  }
  snprintf(text, sizeof text, "%s%d",
           frame->code == 14 && frame->position % 2 ? "odd" : "function",
           (int)frame->code);
  CHECK_EQUAL(name->function_bytes, strlen(text));
  CHECK(memcmp(name->function, text, strlen(text)) == 0);
  CHECK_EQUAL(name->file_bytes, 8);
  CHECK(memcmp(name->file, "file.toy", 8) == 0);
  CHECK_EQUAL(name->line,
              frame->position <= INT32_MAX ? (int64_t)frame->position : 0);
  CHECK_EQUAL(name->start_line, 1);
}

/* Deliver the names that are new, and return their number. */
static int names_fetch(void) {
  int count = 0;

  sp_runtime_names_deliver(name_check, &count);
  return count;
}

static size_t waiting(void) {
  int count = 0;
  size_t left = sp_runtime_names_deliver(name_check, &count);

  CHECK_EQUAL(count, 0);
  return left;
}

static void each_frame_gets_its_name_once(void) {
  spanprof_runtime runtime = toy(NULL);
  uint32_t offset;

  CHECK_EQUAL(spanprof_runtime_register(&runtime), SPANPROF_OK);
  for (offset = 1; offset < 1000; offset++) {
    CHECK_EQUAL(add(14, offset), SPANPROF_OK);
    CHECK_EQUAL(add(15, offset), SPANPROF_OK);
  }
  CHECK_EQUAL(add(16, UINT32_MAX), SPANPROF_OK);
  CHECK_EQUAL(add(13, 1), SPANPROF_OK);
  CHECK_EQUAL(names_fetch(), 2000);
  CHECK_EQUAL(resolved, 2000);
  CHECK_EQUAL(names_fetch(), 0);
  CHECK_EQUAL(add(13, 2), SPANPROF_OK);
  CHECK_EQUAL(names_fetch(), 1);
  CHECK_EQUAL(resolved, 2001);
  spanprof_runtime_unregister();
}

static void names_wait_for_the_runtimes_own_thread(void) {
  spanprof_runtime runtime = toy(request_names);
  uint64_t i;

  CHECK_EQUAL(spanprof_runtime_register(&runtime), SPANPROF_OK);
  sp_runtime_names_request();
  CHECK_EQUAL(requests, 0);
  for (i = 100; i < 1100; i++)
    CHECK_EQUAL(add(i, 0), SPANPROF_OK);
  CHECK_EQUAL(waiting(), 1000);
  CHECK_EQUAL(resolved, 0);
  sp_runtime_names_request();
  CHECK_EQUAL(requests, 1);
  CHECK_EQUAL(spanprof_runtime_resolve(400), 600);
  CHECK_EQUAL(names_fetch(), 400);
  CHECK_EQUAL(waiting(), 600);
  CHECK_EQUAL(spanprof_runtime_resolve(SIZE_MAX), 0);
  CHECK_EQUAL(resolved, 1000);
  CHECK_EQUAL(names_fetch(), 600);
  sp_runtime_names_request();
  CHECK_EQUAL(requests, 1);
  spanprof_runtime_unregister();
  CHECK_EQUAL(spanprof_runtime_resolve(1), 0);
}

static void a_queue_belongs_to_one_registration(void) {
  spanprof_runtime runtime = toy(request_names);

  CHECK_EQUAL(spanprof_runtime_register(&runtime), SPANPROF_OK);
  CHECK_EQUAL(add(7, 1), SPANPROF_OK);
  CHECK_EQUAL(add(7, 2), SPANPROF_OK);
  CHECK_EQUAL(spanprof_runtime_resolve(1), 1);
  spanprof_runtime_unregister();
  CHECK_EQUAL(spanprof_runtime_register(&runtime), SPANPROF_OK);
  CHECK_EQUAL(waiting(), 0);
  CHECK_EQUAL(add(7, 3), SPANPROF_OK);
  CHECK_EQUAL(add(7, 4), SPANPROF_OK);
  CHECK_EQUAL(spanprof_runtime_resolve(1), 1);
  sp_runtime_names_clear();
  CHECK_EQUAL(waiting(), 0);
  CHECK_EQUAL(spanprof_runtime_resolve(1), 0);
  spanprof_runtime_unregister();
}

static void there_is_one_runtime_at_a_time(void) {
  spanprof_runtime runtime = toy(NULL), bad = toy(NULL);

  bad.resolve = NULL;
  CHECK_EQUAL(spanprof_runtime_register(&bad), SPANPROF_ERR_ARGUMENT);
  CHECK_EQUAL(spanprof_runtime_register(NULL), SPANPROF_ERR_ARGUMENT);
  CHECK(!sp_runtime_enter());
  sp_runtime_leave();
  CHECK_EQUAL(spanprof_runtime_register(&runtime), SPANPROF_OK);
  CHECK_EQUAL(spanprof_runtime_register(&runtime), SPANPROF_ERR_STATE);
  CHECK(strstr(spanprof_last_error(), "toy"));
  spanprof_runtime_unregister();
  CHECK_EQUAL(spanprof_runtime_register(&runtime), SPANPROF_OK);
  spanprof_runtime_unregister();
}

static void ranges_are_half_open(void) {
  spanprof_runtime runtime = toy(NULL);
  const spanprof_runtime *in;

  CHECK_EQUAL(spanprof_runtime_register(&runtime), SPANPROF_OK);
  in = sp_runtime_enter();
  CHECK(in && sp_runtime_evaluates(in, 100) && sp_runtime_evaluates(in, 199));
  CHECK(!sp_runtime_evaluates(in, 99) && !sp_runtime_evaluates(in, 200));
  CHECK(sp_runtime_evaluates(in, 300) && !sp_runtime_evaluates(in, 301));
  sp_runtime_leave();
  spanprof_runtime_unregister();
}

static void ranges_can_be_added_while_registered(void) {
  spanprof_range range = {500, 600}, empty = {700, 700};
  spanprof_runtime runtime = toy(NULL);
  const spanprof_runtime *in;
  uint64_t i;

  CHECK_EQUAL(spanprof_runtime_eval_add(&range), SPANPROF_ERR_STATE);
  CHECK_EQUAL(spanprof_runtime_register(&runtime), SPANPROF_OK);
  in = sp_runtime_enter();
  CHECK(in && !sp_runtime_evaluates(in, 500));
  CHECK_EQUAL(spanprof_runtime_eval_add(&empty), SPANPROF_ERR_ARGUMENT);
  for (i = 0; i < 100; i++)
    CHECK_EQUAL(spanprof_runtime_eval_add(&range), SPANPROF_OK);
  CHECK(sp_runtime_evaluates(in, 500) && !sp_runtime_evaluates(in, 600));
  for (i = 0; i < 15; i++) {
    range = (spanprof_range){1000 + i, 2000};
    CHECK_EQUAL(spanprof_runtime_eval_add(&range), SPANPROF_OK);
  }
  CHECK_EQUAL(spanprof_runtime_eval_add(&empty), SPANPROF_ERR_ARGUMENT);
  range = (spanprof_range){3000, 4000};
  CHECK_EQUAL(spanprof_runtime_eval_add(&range), SPANPROF_ERR_LIMIT);
  sp_runtime_leave();
  spanprof_runtime_unregister();
  CHECK_EQUAL(spanprof_runtime_register(&runtime), SPANPROF_OK);
  in = sp_runtime_enter();
  CHECK(in && !sp_runtime_evaluates(in, 500));
  sp_runtime_leave();
  spanprof_runtime_unregister();
}

/* Set after spanprof_runtime_unregister() has returned, which waits for callers
 * that use the runtime. */
static _Atomic int unregistered;

static void *unregister_run(void *data) {
  (void)data;
  spanprof_runtime_unregister();
  atomic_store(&unregistered, 1);
  return NULL;
}

static void unregistering_waits_for_the_handler(void) {
  spanprof_runtime runtime = toy(NULL);
  pthread_t thread;

  CHECK_EQUAL(spanprof_runtime_register(&runtime), SPANPROF_OK);
  CHECK(sp_runtime_enter());
  CHECK_EQUAL(pthread_create(&thread, NULL, unregister_run, NULL), 0);
  /* After the runtime is hidden, the unregistering thread can only be waiting
   * for this thread to leave the runtime. */
  for (;;) {
    bool hidden = !sp_runtime_enter();

    sp_runtime_leave();
    if (hidden)
      break;
  }
  CHECK_EQUAL(atomic_load(&unregistered), 0);
  sp_runtime_leave();
  pthread_join(thread, NULL);
  CHECK_EQUAL(atomic_load(&unregistered), 1);
}

static void many_ranges_are_found_in_any_order(void) {
  static spanprof_range many[SPANPROF_RUNTIME_RANGES_MAX + 1];
  spanprof_runtime runtime = toy(NULL);
  const spanprof_runtime *now;
  uint64_t i;

  /* The ranges are [10 i, 10 i + 5), in reverse order. Those with an even i are
   * twice as long, so they touch the next range. */
  for (i = 0; i < SPANPROF_RUNTIME_RANGES_MAX; i++)
    many[SPANPROF_RUNTIME_RANGES_MAX - 1 - i] = (spanprof_range){
        .start = i * 10, .end = i * 10 + (i % 2 == 0 ? 10 : 5)};
  runtime.eval_ranges = many;
  runtime.eval_range_count = SPANPROF_RUNTIME_RANGES_MAX + 1;
  CHECK_EQUAL(spanprof_runtime_register(&runtime), SPANPROF_ERR_ARGUMENT);
  runtime.eval_range_count = SPANPROF_RUNTIME_RANGES_MAX;
  CHECK_EQUAL(spanprof_runtime_register(&runtime), SPANPROF_OK);
  now = sp_runtime_enter();
  for (i = 0; i < SPANPROF_RUNTIME_RANGES_MAX * 10; i++)
    CHECK_EQUAL(sp_runtime_evaluates(now, i), i % 20 < 15);
  CHECK(!sp_runtime_evaluates(now, i));
  CHECK(!sp_runtime_evaluates(now, UINT64_MAX));
  sp_runtime_leave();
  spanprof_runtime_unregister();
}

static void name_check_known(void *data, const sp_frame *frame,
                             const sp_frame_name *name) {
  if (name->function)
    name_check(data, frame, name);
}

static void names_without_memory(const sp_mem *mem) {
  spanprof_runtime runtime = toy(NULL);
  int count = 0;
  uint32_t i;

  sp_runtime_names_reset(mem);
  CHECK_EQUAL(spanprof_runtime_register(&runtime), SPANPROF_OK);
  for (i = 0; i < 400; i++)
    add(14, i);
  sp_runtime_names_deliver(name_check_known, &count);
  CHECK(count <= 400);
  spanprof_runtime_unregister();
  sp_runtime_names_reset(NULL);
}

static void without_memory_frames_have_no_names(void) {
  failing_mem_sweep(names_without_memory);
}

static _Atomic bool hanging, hang;

static spanprof_status resolve_hanging(void *data, const spanprof_frame *frame,
                                       spanprof_name *out) {
  (void)data, (void)frame, (void)out;
  hanging = true;
  while (hang)
    sched_yield();
  return SPANPROF_ERR_STATE;
}

static void *fetch_run(void *data) {
  (void)data;
  CHECK_EQUAL(add(77, 0), SPANPROF_OK);
  sp_runtime_names_deliver(name_check_known, NULL);
  return NULL;
}

static void a_hanging_callback_delays_unregistering_only_briefly(void) {
  spanprof_runtime runtime = toy(NULL), next = toy(NULL);
  pthread_t thread;

  hang = true;
  hanging = false;
  runtime.resolve = resolve_hanging;
  CHECK_EQUAL(spanprof_runtime_register(&runtime), SPANPROF_OK);
  CHECK_EQUAL(pthread_create(&thread, NULL, fetch_run, NULL), 0);
  while (!hanging)
    sched_yield();
  spanprof_runtime_unregister();
  CHECK_EQUAL(spanprof_runtime_register(&next), SPANPROF_ERR_STATE);
  hang = false;
  pthread_join(thread, NULL);
  CHECK_EQUAL(spanprof_runtime_register(&next), SPANPROF_OK);
  spanprof_runtime_unregister();
}

static const check_test tests[] = {
    {"a_hanging_callback_delays_unregistering_only_briefly",
     a_hanging_callback_delays_unregistering_only_briefly},
    {"each_frame_gets_its_name_once", each_frame_gets_its_name_once},
    {"a_queue_belongs_to_one_registration",
     a_queue_belongs_to_one_registration},
    {"names_wait_for_the_runtimes_own_thread",
     names_wait_for_the_runtimes_own_thread},
    {"without_memory_frames_have_no_names",
     without_memory_frames_have_no_names},
    {"there_is_one_runtime_at_a_time", there_is_one_runtime_at_a_time},
    {"ranges_are_half_open", ranges_are_half_open},
    {"ranges_can_be_added_while_registered",
     ranges_can_be_added_while_registered},
    {"many_ranges_are_found_in_any_order", many_ranges_are_found_in_any_order},
    {"unregistering_waits_for_the_handler",
     unregistering_waits_for_the_handler},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
