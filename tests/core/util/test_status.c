#include "util/system/status.h"

#include <pthread.h>

#include "check.h"

static void *fail_run(void *data) {
  (void)data;
  CHECK_TEXT(spanprof_last_error(), "");
  CHECK_EQUAL(sp_fail_errno(SPANPROF_ERR_IO, 2, "file %d", 7), SPANPROF_ERR_IO);
  CHECK_TEXT(spanprof_last_error(), "file 7: No such file or directory");
  return NULL;
}

static void each_thread_has_its_own_error_message(void) {
  pthread_t thread;

  CHECK_TEXT(spanprof_last_error(), "");
  CHECK_EQUAL(sp_fail(SPANPROF_ERR_STATE, "mine"), SPANPROF_ERR_STATE);
  CHECK_EQUAL(pthread_create(&thread, NULL, fail_run, NULL), 0);
  pthread_join(thread, NULL);
  CHECK_TEXT(spanprof_last_error(), "mine");
}

static void a_long_error_message_is_truncated(void) {
  char text[2000];

  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  sp_fail_errno(SPANPROF_ERR_IO, 2, "%s", text);
  CHECK(strlen(spanprof_last_error()) > 400);
  CHECK(strncmp(spanprof_last_error(), text, 400) == 0);
}

static const check_test tests[] = {
    {"each_thread_has_its_own_error_message",
     each_thread_has_its_own_error_message},
    {"a_long_error_message_is_truncated", a_long_error_message_is_truncated},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
