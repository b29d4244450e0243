#include "export/upload/upload_queue.h"

#include "failing_mem.h"

static sp_upload *made(sp_upload_queue *queue, uint64_t number, size_t size) {
  sp_encoded part = {.bytes = sp_mem_new(&sp_mem_default, size),
                     .size = size,
                     .mem = &sp_mem_default,
                     .duration_ns = 100};
  sp_upload *upload = sp_upload_new(&sp_mem_default, &part, number * 100);

  CHECK(part.bytes == NULL);
  upload->number = number;
  upload->local_tried = true;
  sp_upload_queue_add(queue, upload);
  return upload;
}

/* Take the first, check its number, free it. */
static void gone(sp_upload *upload, uint64_t number) {
  CHECK(upload != NULL);
  CHECK_EQUAL(upload->number, number);
  CHECK(upload->next == NULL);
  sp_upload_free(&sp_mem_default, upload);
}

static void oldest_comes_first(void) {
  sp_upload_queue queue = {0};

  made(&queue, 1, 10);
  made(&queue, 2, 10);
  made(&queue, 3, 10);
  CHECK_EQUAL(queue.count, 3);
  gone(sp_upload_queue_detach_first(&queue), 1);
  gone(sp_upload_queue_detach_first(&queue), 2);
  gone(sp_upload_queue_detach_first(&queue), 3);
  CHECK(sp_upload_queue_detach_first(&queue) == NULL);
  CHECK(queue.last == NULL);
}

static void bytes_are_those_of_the_waiting(void) {
  sp_upload_queue queue = {0};
  uint64_t one;

  made(&queue, 1, 1000);
  one = queue.bytes;
  CHECK(one >= 1000);
  made(&queue, 2, 1000);
  CHECK_EQUAL(queue.bytes, 2 * one);
  gone(sp_upload_queue_detach_first(&queue), 1);
  CHECK_EQUAL(queue.bytes, one);
  gone(sp_upload_queue_detach_first(&queue), 2);
  CHECK_EQUAL(queue.bytes, 0);
}

static void a_returned_one_keeps_its_place(void) {
  sp_upload_queue queue = {0};
  sp_upload *second;

  made(&queue, 1, 10);
  made(&queue, 2, 10);
  made(&queue, 3, 10);
  gone(sp_upload_queue_detach_first(&queue), 1);
  second = sp_upload_queue_detach_first(&queue);
  made(&queue, 4, 10);
  sp_upload_queue_return(&queue, second);
  gone(sp_upload_queue_detach_first(&queue), 2);
  gone(sp_upload_queue_detach_first(&queue), 3);
  gone(sp_upload_queue_detach_first(&queue), 4);
}

static void a_returned_one_may_be_the_last(void) {
  sp_upload_queue queue = {0};
  sp_upload *one = made(&queue, 1, 10);

  CHECK(sp_upload_queue_detach_first(&queue) == one);
  sp_upload_queue_return(&queue, one);
  made(&queue, 2, 10);
  gone(sp_upload_queue_detach_first(&queue), 1);
  gone(sp_upload_queue_detach_first(&queue), 2);
}

static void fresh_ones_are_not_due(void) {
  sp_upload_queue queue = {0};

  made(&queue, 1, 10)->local_tried = false;
  made(&queue, 2, 10);
  CHECK(sp_upload_queue_pending(&queue, 1));
  gone(sp_upload_queue_detach_due(&queue, 0), 2);
  CHECK(sp_upload_queue_detach_due(&queue, 0) == NULL);
  gone(sp_upload_queue_detach_new(&queue), 1);
  CHECK(sp_upload_queue_detach_new(&queue) == NULL);
}

static void one_that_waits_lets_others_go(void) {
  sp_upload_queue queue = {0};

  made(&queue, 1, 10)->tries.retry_ns = 500;
  made(&queue, 2, 10);
  CHECK_EQUAL(sp_upload_queue_next_ns(&queue, 7), 0);
  gone(sp_upload_queue_detach_due(&queue, 499), 2);
  CHECK(sp_upload_queue_detach_due(&queue, 499) == NULL);
  CHECK_EQUAL(sp_upload_queue_next_ns(&queue, 7), 500);
  gone(sp_upload_queue_detach_due(&queue, 500), 1);
  CHECK_EQUAL(sp_upload_queue_next_ns(&queue, 7), UINT64_MAX);
}

static void a_refused_one_goes_behind_the_others(void) {
  sp_upload_queue queue = {0};

  made(&queue, 1, 10)->tries.refusals = 1;
  made(&queue, 2, 10);
  made(&queue, 3, 10);
  gone(sp_upload_queue_detach_due(&queue, 0), 2);
  gone(sp_upload_queue_detach_due(&queue, 0), 3);
  gone(sp_upload_queue_detach_due(&queue, 0), 1);
}

static void old_ones_are_found_by_how_long_they_wait(void) {
  sp_upload_queue queue = {0};

  made(&queue, 1, 10);
  made(&queue, 2, 10);
  gone(sp_upload_queue_detach_older(&queue, 1001, 1000), 1);
  CHECK(sp_upload_queue_detach_older(&queue, 1100, 1000) == NULL);
  made(&queue, 3, 10)->local_tried = false;
  gone(sp_upload_queue_detach_older(&queue, 9000, 1000), 2);
  CHECK(sp_upload_queue_detach_older(&queue, 9000, 1000) == NULL);
  gone(sp_upload_queue_detach_first(&queue), 3);
}

static void pending_asks_only_up_to_a_number(void) {
  sp_upload_queue queue = {0};

  made(&queue, 2, 10)->tries.retry_ns = 500;
  made(&queue, 3, 10);
  CHECK(!sp_upload_queue_pending(&queue, 1));
  CHECK(sp_upload_queue_pending(&queue, 2));
  gone(sp_upload_queue_detach_first(&queue), 2);
  CHECK(!sp_upload_queue_pending(&queue, 2));
  CHECK(sp_upload_queue_pending(&queue, 3));
  gone(sp_upload_queue_detach_first(&queue), 3);
  CHECK(!sp_upload_queue_pending(&queue, 3));
}

static void what_the_spool_refused_stays(void) {
  sp_upload_queue queue = {0};

  made(&queue, 1, 10)->local_tried = false;
  made(&queue, 2, 10)->spool_refused = true;
  made(&queue, 3, 10);
  gone(sp_upload_queue_detach_spoolable(&queue), 3);
  CHECK(sp_upload_queue_detach_spoolable(&queue) == NULL);
  gone(sp_upload_queue_detach_first(&queue), 1);
  gone(sp_upload_queue_detach_first(&queue), 2);
}

static void no_memory_leaves_the_bytes(void) {
  failing_mem failing;
  sp_encoded part = {.size = 8};

  failing_mem_init(&failing, 2);
  part.mem = &failing.mem;
  part.bytes = sp_mem_new(&failing.mem, 8);
  CHECK(sp_upload_new(&failing.mem, &part, 0) == NULL);
  CHECK(part.bytes != NULL);
  sp_encoded_dispose(&part);
  CHECK_EQUAL(failing.live, 0);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"oldest_comes_first", oldest_comes_first},
      {"bytes_are_those_of_the_waiting", bytes_are_those_of_the_waiting},
      {"a_returned_one_keeps_its_place", a_returned_one_keeps_its_place},
      {"a_returned_one_may_be_the_last", a_returned_one_may_be_the_last},
      {"fresh_ones_are_not_due", fresh_ones_are_not_due},
      {"one_that_waits_lets_others_go", one_that_waits_lets_others_go},
      {"a_refused_one_goes_behind_the_others",
       a_refused_one_goes_behind_the_others},
      {"old_ones_are_found_by_how_long_they_wait",
       old_ones_are_found_by_how_long_they_wait},
      {"pending_asks_only_up_to_a_number", pending_asks_only_up_to_a_number},
      {"what_the_spool_refused_stays", what_the_spool_refused_stays},
      {"no_memory_leaves_the_bytes", no_memory_leaves_the_bytes},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
