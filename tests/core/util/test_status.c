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

static void each_thread_has_a_sentence_of_its_own(void) {
  pthread_t thread;

  CHECK_TEXT(spanprof_last_error(), "");
  CHECK_EQUAL(sp_fail(SPANPROF_ERR_STATE, "mine"), SPANPROF_ERR_STATE);
  CHECK_EQUAL(pthread_create(&thread, NULL, fail_run, NULL), 0);
  pthread_join(thread, NULL);
  CHECK_TEXT(spanprof_last_error(), "mine");
}

static void a_sentence_too_long_is_cut(void) {
  char text[2000];

  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  sp_fail_errno(SPANPROF_ERR_IO, 2, "%s", text);
  CHECK(strlen(spanprof_last_error()) > 400);
  CHECK(strncmp(spanprof_last_error(), text, 400) == 0);
}

static const check_test tests[] = {
    {"each_thread_has_a_sentence_of_its_own",
     each_thread_has_a_sentence_of_its_own},
    {"a_sentence_too_long_is_cut", a_sentence_too_long_is_cut},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
