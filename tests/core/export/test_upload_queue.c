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

/* Check that the upload has this number, and free it. */
static void check_and_free(sp_upload *upload, uint64_t number) {
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
  check_and_free(sp_upload_queue_detach_first(&queue), 1);
  check_and_free(sp_upload_queue_detach_first(&queue), 2);
  check_and_free(sp_upload_queue_detach_first(&queue), 3);
  CHECK(sp_upload_queue_detach_first(&queue) == NULL);
  CHECK(queue.last == NULL);
}

static void the_size_is_that_of_the_waiting_uploads(void) {
  sp_upload_queue queue = {0};
  uint64_t one;

  made(&queue, 1, 1000);
  one = queue.bytes;
  CHECK(one >= 1000);
  made(&queue, 2, 1000);
  CHECK_EQUAL(queue.bytes, 2 * one);
  check_and_free(sp_upload_queue_detach_first(&queue), 1);
  CHECK_EQUAL(queue.bytes, one);
  check_and_free(sp_upload_queue_detach_first(&queue), 2);
  CHECK_EQUAL(queue.bytes, 0);
}

static void a_returned_upload_keeps_its_place(void) {
  sp_upload_queue queue = {0};
  sp_upload *second;

  made(&queue, 1, 10);
  made(&queue, 2, 10);
  made(&queue, 3, 10);
  check_and_free(sp_upload_queue_detach_first(&queue), 1);
  second = sp_upload_queue_detach_first(&queue);
  made(&queue, 4, 10);
  sp_upload_queue_return(&queue, second);
  check_and_free(sp_upload_queue_detach_first(&queue), 2);
  check_and_free(sp_upload_queue_detach_first(&queue), 3);
  check_and_free(sp_upload_queue_detach_first(&queue), 4);
}

static void a_returned_upload_may_be_the_last(void) {
  sp_upload_queue queue = {0};
  sp_upload *one = made(&queue, 1, 10);

  CHECK(sp_upload_queue_detach_first(&queue) == one);
  sp_upload_queue_return(&queue, one);
  made(&queue, 2, 10);
  check_and_free(sp_upload_queue_detach_first(&queue), 1);
  check_and_free(sp_upload_queue_detach_first(&queue), 2);
}

static void new_uploads_are_not_due(void) {
  sp_upload_queue queue = {0};

  made(&queue, 1, 10)->local_tried = false;
  made(&queue, 2, 10);
  CHECK(sp_upload_queue_pending(&queue, 1));
  check_and_free(sp_upload_queue_detach_due(&queue, 0), 2);
  CHECK(sp_upload_queue_detach_due(&queue, 0) == NULL);
  check_and_free(sp_upload_queue_detach_new(&queue), 1);
  CHECK(sp_upload_queue_detach_new(&queue) == NULL);
}

static void a_waiting_upload_does_not_block_others(void) {
  sp_upload_queue queue = {0};

  made(&queue, 1, 10)->tries.retry_ns = 500;
  made(&queue, 2, 10);
  CHECK_EQUAL(sp_upload_queue_next_ns(&queue, 7), 0);
  check_and_free(sp_upload_queue_detach_due(&queue, 499), 2);
  CHECK(sp_upload_queue_detach_due(&queue, 499) == NULL);
  CHECK_EQUAL(sp_upload_queue_next_ns(&queue, 7), 500);
  check_and_free(sp_upload_queue_detach_due(&queue, 500), 1);
  CHECK_EQUAL(sp_upload_queue_next_ns(&queue, 7), UINT64_MAX);
}

static void a_refused_upload_is_sent_after_the_others(void) {
  sp_upload_queue queue = {0};

  made(&queue, 1, 10)->tries.refusals = 1;
  made(&queue, 2, 10);
  made(&queue, 3, 10);
  check_and_free(sp_upload_queue_detach_due(&queue, 0), 2);
  check_and_free(sp_upload_queue_detach_due(&queue, 0), 3);
  check_and_free(sp_upload_queue_detach_due(&queue, 0), 1);
}

static void old_uploads_are_found_by_their_age(void) {
  sp_upload_queue queue = {0};

  made(&queue, 1, 10);
  made(&queue, 2, 10);
  check_and_free(sp_upload_queue_detach_older(&queue, 1001, 1000), 1);
  CHECK(sp_upload_queue_detach_older(&queue, 1100, 1000) == NULL);
  made(&queue, 3, 10)->local_tried = false;
  check_and_free(sp_upload_queue_detach_older(&queue, 9000, 1000), 2);
  CHECK(sp_upload_queue_detach_older(&queue, 9000, 1000) == NULL);
  check_and_free(sp_upload_queue_detach_first(&queue), 3);
}

static void pending_covers_only_numbers_up_to_a_limit(void) {
  sp_upload_queue queue = {0};

  made(&queue, 2, 10)->tries.retry_ns = 500;
  made(&queue, 3, 10);
  CHECK(!sp_upload_queue_pending(&queue, 1));
  CHECK(sp_upload_queue_pending(&queue, 2));
  check_and_free(sp_upload_queue_detach_first(&queue), 2);
  CHECK(!sp_upload_queue_pending(&queue, 2));
  CHECK(sp_upload_queue_pending(&queue, 3));
  check_and_free(sp_upload_queue_detach_first(&queue), 3);
  CHECK(!sp_upload_queue_pending(&queue, 3));
}

static void uploads_refused_by_the_spool_stay(void) {
  sp_upload_queue queue = {0};

  made(&queue, 1, 10)->local_tried = false;
  made(&queue, 2, 10)->spool_refused = true;
  made(&queue, 3, 10);
  check_and_free(sp_upload_queue_detach_spoolable(&queue), 3);
  CHECK(sp_upload_queue_detach_spoolable(&queue) == NULL);
  check_and_free(sp_upload_queue_detach_first(&queue), 1);
  check_and_free(sp_upload_queue_detach_first(&queue), 2);
}

static void without_memory_the_caller_keeps_the_bytes(void) {
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
      {"the_size_is_that_of_the_waiting_uploads",
       the_size_is_that_of_the_waiting_uploads},
      {"a_returned_upload_keeps_its_place", a_returned_upload_keeps_its_place},
      {"a_returned_upload_may_be_the_last", a_returned_upload_may_be_the_last},
      {"new_uploads_are_not_due", new_uploads_are_not_due},
      {"a_waiting_upload_does_not_block_others",
       a_waiting_upload_does_not_block_others},
      {"a_refused_upload_is_sent_after_the_others",
       a_refused_upload_is_sent_after_the_others},
      {"old_uploads_are_found_by_their_age",
       old_uploads_are_found_by_their_age},
      {"pending_covers_only_numbers_up_to_a_limit",
       pending_covers_only_numbers_up_to_a_limit},
      {"uploads_refused_by_the_spool_stay", uploads_refused_by_the_spool_stay},
      {"without_memory_the_caller_keeps_the_bytes",
       without_memory_the_caller_keeps_the_bytes},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
