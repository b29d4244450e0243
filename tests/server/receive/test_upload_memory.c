/* The memory of uploads: the limit of each upload, and the number of large
 * uploads. */
#include "check.h"
#include "store_fixture.h"
#include "server/receive/profile/upload_memory.h"

#include <pthread.h>

#define LARGE_BYTES (SP_UPLOAD_SMALL_BYTES + 1)
#define SENDERS     24

static const sp_serve_options options = {.upload_bytes = (size_t)96 << 20};
static sp_serve serve = {.options = &options};
static atomic_int at_once, most, served, refused;

static void begin(void) {
  fixture_begin();
  serve.store = fixture_open();
  sp_gate_init(&serve.large_uploads, 1);
}

static void end(void) {
  sp_gate_dispose(&serve.large_uploads);
  sp_store_close(serve.store);
  fixture_end();
}

static void allocations_are_counted(void) {
  sp_upload upload;
  char *text;

  begin();
  sp_upload_begin(&upload, &serve);
  text = sp_mem_new(&upload.mem, 1000);
  CHECK(upload.bytes >= 1000);
  text = sp_mem_resize(&upload.mem, text, 100000);
  CHECK(upload.bytes >= 100000 && upload.bytes < 200000);
  sp_mem_free(&upload.mem, text);
  CHECK_EQUAL(upload.bytes, 0);
  CHECK(!upload.is_large);
  sp_upload_end(&upload);
  end();
}

static void an_upload_beyond_its_limit_is_refused(void) {
  sp_upload upload;
  sp_refusal refusal;

  begin();
  sp_refusal_init(&refusal, &sp_mem_default);
  sp_upload_begin(&upload, &serve);
  CHECK(!sp_mem_new(&upload.mem, options.upload_bytes + 1));
  CHECK_EQUAL(sp_upload_explain(&upload, &refusal, SPANPROF_ERR_NOMEM),
              SPANPROF_ERR_FORMAT);
  CHECK_EQUAL(refusal.kind, SP_REFUSAL_LARGE);
  CHECK_TEXT(sp_refusal_text(&refusal),
             "the upload takes more than 96 MiB of memory to read "
             "(--upload-memory): send it in parts");
  sp_refusal_dispose(&refusal);
  sp_upload_end(&upload);
  end();
}

/* Read an upload that needs much memory. Its allocation waits until no other
 * upload is large. */
static void *send_large(void *argument) {
  sp_upload upload;
  sp_refusal refusal;
  void *bytes;
  int now, seen;

  (void)argument;
  sp_refusal_init(&refusal, &sp_mem_default);
  sp_upload_begin(&upload, &serve);
  sp_upload_enter(&upload);
  bytes = sp_mem_new(&upload.mem, LARGE_BYTES);
  if (bytes) {
    now = atomic_fetch_add(&at_once, 1) + 1;
    for (seen = atomic_load(&most);
         now > seen && !atomic_compare_exchange_weak(&most, &seen, now);)
      ;
    sched_yield();
    atomic_fetch_sub(&at_once, 1);
    atomic_fetch_add(&served, 1);
  } else {
    CHECK_EQUAL(sp_upload_explain(&upload, &refusal, SPANPROF_ERR_NOMEM),
                SPANPROF_ERR_FORMAT);
    CHECK_EQUAL(refusal.kind, SP_REFUSAL_STORE);
    atomic_fetch_add(&refused, 1);
  }
  sp_upload_leave(&upload);
  sp_mem_free(&upload.mem, bytes);
  sp_upload_end(&upload);
  sp_refusal_dispose(&refusal);
  return NULL;
}

/* While one upload is large, some other large uploads wait, further ones are
 * refused, and a small upload continues. */
static void large_uploads_are_read_one_at_a_time(void) {
  pthread_t senders[SENDERS];
  sp_upload first, small;
  void *bytes, *more;
  size_t i;

  begin();
  sp_upload_begin(&first, &serve);
  bytes = sp_mem_new(&first.mem, LARGE_BYTES);
  CHECK(bytes && first.is_large);
  for (i = 0; i < SENDERS; i++)
    CHECK(!pthread_create(&senders[i], NULL, send_large, NULL));
  while (atomic_load(&refused) < SENDERS - 8)
    sched_yield();
  sp_upload_begin(&small, &serve);
  sp_upload_enter(&small);
  more = sp_mem_new(&small.mem, 1000);
  CHECK(more);
  sp_mem_free(&small.mem, more);
  sp_upload_leave(&small);
  sp_upload_end(&small);
  CHECK_EQUAL(atomic_load(&served), 0);
  sp_mem_free(&first.mem, bytes);
  sp_upload_release_if_small(&first);
  CHECK(!first.is_large);
  for (i = 0; i < SENDERS; i++)
    pthread_join(senders[i], NULL);
  CHECK_EQUAL(atomic_load(&served), 8);
  CHECK_EQUAL(atomic_load(&most), 1);
  sp_upload_end(&first);
  end();
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"allocations_are_counted", allocations_are_counted},
      {"an_upload_beyond_its_limit_is_refused",
       an_upload_beyond_its_limit_is_refused},
      {"large_uploads_are_read_one_at_a_time",
       large_uploads_are_read_one_at_a_time},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
