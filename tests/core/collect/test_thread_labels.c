#include "collect/samples/thread_labels.h"

#include "check.h"
#include "label/label_node.h"
#include "label/label_set.h"
#include "label/text.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const sp_settings everything = {
    .report_pid = true, .report_thread_id = true, .report_thread_name = true};

static uint32_t own_tid(void) {
  return (uint32_t)syscall(SYS_gettid);
}

/* Return the value of the label `name` in the set, or "". */
static const char *value_of(spanprof_labels set, const char *name) {
  sp_label labels[8];
  size_t count = sp_label_set_list(set, labels, SP_COUNT_OF(labels)), i, bytes;

  for (i = 0; i < count; i++)
    if (strcmp(sp_text_get(labels[i].name, &bytes), name) == 0)
      return sp_text_get(labels[i].value, &bytes);
  return "";
}

static const char *number_text(uint32_t number) {
  static char text[16];

  snprintf(text, sizeof text, "%u", number);
  return text;
}

static void samples_have_the_labels_of_their_thread(void) {
  static sp_thread_labels labels;
  spanprof_labels set;

  CHECK_EQUAL(spanprof_labels_derive(0, "job", 3, "7", 1, &set), SPANPROF_OK);
  pthread_setname_np(pthread_self(), "crunch er");
  sp_thread_labels_init(&labels, &everything);
  set = sp_thread_labels_get(&labels, own_tid(), set);
  CHECK_TEXT(value_of(set, "pid"), number_text((uint32_t)getpid()));
  CHECK_TEXT(value_of(set, "thread_id"), number_text(own_tid()));
  CHECK_TEXT(value_of(set, "thread_name"), "crunch er");
  CHECK_TEXT(value_of(set, "job"), "7");
}

static void names_are_read_again_in_each_window(void) {
  static sp_thread_labels labels;

  pthread_setname_np(pthread_self(), "before");
  sp_thread_labels_init(&labels, &everything);
  CHECK_TEXT(
      value_of(sp_thread_labels_get(&labels, own_tid(), 0), "thread_name"),
      "before");
  pthread_setname_np(pthread_self(), "after");
  CHECK_TEXT(
      value_of(sp_thread_labels_get(&labels, own_tid(), 0), "thread_name"),
      "before");
  sp_thread_labels_clear(&labels);
  CHECK_TEXT(
      value_of(sp_thread_labels_get(&labels, own_tid(), 0), "thread_name"),
      "after");
}

static void an_ended_thread_has_no_name(void) {
  static sp_thread_labels labels;
  spanprof_labels set;

  sp_thread_labels_init(&labels, &everything);
  set = sp_thread_labels_get(&labels, INT32_MAX, 0);
  CHECK_TEXT(value_of(set, "thread_id"), "2147483647");
  CHECK_TEXT(value_of(set, "thread_name"), "");
}

static void no_label_is_added_by_default(void) {
  static const sp_settings nothing, only_id = {.report_thread_id = true};
  static sp_thread_labels labels;
  spanprof_labels set;

  sp_thread_labels_init(&labels, &nothing);
  CHECK_EQUAL(sp_thread_labels_get(&labels, own_tid(), 0), 0);
  sp_thread_labels_init(&labels, &only_id);
  set = sp_thread_labels_get(&labels, own_tid(), 0);
  CHECK_TEXT(value_of(set, "pid"), "");
  CHECK_TEXT(value_of(set, "thread_id"), number_text(own_tid()));
}

static void half_of_the_label_sets_are_reserved_for_the_application(void) {
  static const sp_settings only_id = {.report_thread_id = true};
  static sp_thread_labels labels;
  spanprof_labels set;
  uint32_t tid;

  sp_thread_labels_init(&labels, &only_id);
  for (tid = 1; tid < SP_LABEL_NODES; tid++)
    (void)sp_thread_labels_get(&labels, tid, 0);
  CHECK_EQUAL(spanprof_labels_derive(0, "job", 3, "late", 4, &set),
              SPANPROF_OK);
  CHECK_TEXT(value_of(set, "job"), "late");
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"samples_have_the_labels_of_their_thread",
       samples_have_the_labels_of_their_thread},
      {"names_are_read_again_in_each_window",
       names_are_read_again_in_each_window},
      {"an_ended_thread_has_no_name", an_ended_thread_has_no_name},
      {"no_label_is_added_by_default", no_label_is_added_by_default},
      {"half_of_the_label_sets_are_reserved_for_the_application",
       half_of_the_label_sets_are_reserved_for_the_application},
  };

  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
