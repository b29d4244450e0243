/* Interned texts: numbers, cleaning, limits, threads, and failing allocations.
 */
#include "check.h"
#include "failing_mem.h"

#include "util/text/clean.h"
#include "label_reset.h"
#include "label/text.h"
#include "util/system/counters.h"
#include "util/text/utf8.h"

#include <pthread.h>

static spanprof_text_id intern(const char *text) {
  spanprof_text_id number;

  CHECK_EQUAL(spanprof_text_intern(text, strlen(text), &number), SPANPROF_OK);
  return number;
}

static const char *text_of(spanprof_text_id number) {
  size_t bytes;
  const char *text = sp_text_get(number, &bytes);

  CHECK_EQUAL(strlen(text), bytes);
  return text;
}

static void same_text_same_number(void) {
  spanprof_text_id a = intern("region"), b = intern("Region"), none;

  CHECK(a != 0 && b != 0 && a != b);
  CHECK_EQUAL(intern("region"), a);
  CHECK_TEXT(text_of(a), "region");
  CHECK_TEXT(text_of(b), "Region");
  CHECK_EQUAL(spanprof_text_intern("", 0, &none), SPANPROF_OK);
  CHECK_EQUAL(none, 0);
  CHECK_TEXT(text_of(0), "");
}

static void unknown_number_is_the_empty_text(void) {
  CHECK_TEXT(text_of(999999), "");
  CHECK_TEXT(text_of(UINT32_MAX), "");
}

static void null_is_refused(void) {
  spanprof_text_id number = 7;

  CHECK_EQUAL(spanprof_text_intern(NULL, 3, &number), SPANPROF_ERR_ARGUMENT);
  CHECK_EQUAL(number, 0);
}

static void prefixes_are_different_texts(void) {
  char text[400];
  spanprof_text_id first = 0;
  size_t i;

  memset(text, 'x', sizeof text);
  for (i = 1; i <= sizeof text; i++) {
    spanprof_text_id number;

    CHECK_EQUAL(spanprof_text_intern(text, i, &number), SPANPROF_OK);
    CHECK(number != first);
    first = number;
  }
}

static void invalid_utf8_is_cleaned_and_counted(void) {
  uint64_t before = sp_counted(&sp_counts.labels_cleaned);
  spanprof_text_id a, b;

  CHECK_EQUAL(spanprof_text_intern("caf\xc3\xa9", 5, &a), SPANPROF_OK);
  CHECK_TEXT(text_of(a), "caf\xc3\xa9");
  CHECK_EQUAL(sp_counted(&sp_counts.labels_cleaned), before);
  CHECK_EQUAL(spanprof_text_intern("a\xff\nb\0c", 6, &b), SPANPROF_OK);
  CHECK_TEXT(text_of(b), "a??b?c");
  CHECK_EQUAL(sp_counted(&sp_counts.labels_cleaned), before + 1);
}

static void long_text_is_cut_between_characters(void) {
  size_t bytes = 1 << 20, i, size;
  char *text = malloc(bytes);
  spanprof_text_id number;

  for (i = 0; i + 1 < bytes; i += 2)
    memcpy(text + i, "\xc3\xa9", 2);
  text[0] = 'x'; /* now a cut at an even byte is inside of a character */
  text[1] = 'x';
  text[2] = 'x';
  memmove(text + 3, "\xc3\xa9", 2);
  CHECK_EQUAL(spanprof_text_intern(text + 2, bytes - 2, &number), SPANPROF_OK);
  sp_text_get(number, &size);
  CHECK(size <= 2048 && size >= 2046);
  CHECK(sp_utf8_valid(sp_text_get(number, &size), size));
  free(text);
}

static void names_are_cleaned_once(void) {
  static const struct {
    const char *given, *clean;
  } names[] = {
      {"region", "region"},
      {"k8s.pod.name", "k8s.pod.name"},
      {"_a1", "_a1"},
      {"1abc", "_abc"},
      {".abc", "_abc"},
      {"user id", "user_id"},
      {"a-b/c:d", "a_b_c_d"},
      {"stra\xc3\x9f"
       "e",
       "stra_e"},
      {"", "_"},
      {"\xff\xfe", "__"},
      {"\x80", "_"},
  };
  size_t i, bytes;
  bool changed;
  char out[SP_CLEAN_NAME_MAX], long_name[3000];

  for (i = 0; i < SP_COUNT_OF(names); i++) {
    char given[64];

    bytes =
        sp_clean_name(names[i].given, strlen(names[i].given), out, &changed);
    memcpy(given, out, bytes);
    given[bytes] = '\0';
    CHECK_TEXT(given, names[i].clean);
    CHECK_EQUAL(changed, strcmp(names[i].given, names[i].clean) != 0);
  }
  memset(long_name, 'n', sizeof long_name);
  CHECK_EQUAL(sp_clean_name(long_name, sizeof long_name, out, &changed),
              SP_CLEAN_NAME_MAX);
  CHECK(changed);
}

static void name_form_is_counted_the_first_time(void) {
  uint64_t before = sp_counted(&sp_counts.labels_cleaned);
  spanprof_text_id bad = intern("bad name!"), form, again;

  CHECK_EQUAL(sp_text_name_form(bad, &form), SPANPROF_OK);
  CHECK_TEXT(text_of(form), "bad_name_");
  CHECK_EQUAL(sp_text_name_form(bad, &again), SPANPROF_OK);
  CHECK_EQUAL(again, form);
  CHECK_EQUAL(sp_counted(&sp_counts.labels_cleaned), before + 1);
  CHECK_EQUAL(sp_text_name_form(form, &again), SPANPROF_OK);
  CHECK_EQUAL(again, form);
}

static void bytes_are_bounded(void) {
  char text[2048];
  spanprof_status st = SPANPROF_OK;
  spanprof_text_id number = 0;
  uint32_t i;

  label_reset(NULL);
  memset(text, 'b', sizeof text);
  for (i = 0; i <= SP_TEXT_BYTES_MAX / sizeof text && !st; i++) {
    memcpy(text, &i, sizeof i);
    st = sp_text_add(text, sizeof text, &number);
  }
  CHECK_EQUAL(st, SPANPROF_ERR_LIMIT);
  CHECK_EQUAL(number, 0);
  CHECK(i > SP_TEXT_BYTES_MAX / sizeof text - 2);
  label_reset(NULL);
}

static void *intern_many(void *data) {
  spanprof_text_id *numbers = data;
  char text[32];
  int i;

  for (i = 0; i < 5000; i++) {
    snprintf(text, sizeof text, "shared %d", i);
    numbers[i] = intern(text);
    CHECK_TEXT(text_of(numbers[i]), text);
  }
  return NULL;
}

static void threads_agree_on_numbers(void) {
  static spanprof_text_id numbers[4][5000];
  pthread_t threads[4];
  int i;

  for (i = 0; i < 4; i++)
    CHECK_EQUAL(pthread_create(&threads[i], NULL, intern_many, numbers[i]), 0);
  for (i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  for (i = 1; i < 4; i++)
    CHECK(memcmp(numbers[0], numbers[i], sizeof numbers[0]) == 0);
}

static void interning(const sp_mem *mem) {
  char text[64];
  int i;

  label_reset(mem);
  for (i = 0; i < 700; i++) {
    spanprof_text_id number, form;
    size_t bytes = (size_t)snprintf(text, sizeof text, "some text %d", i);
    spanprof_status st = spanprof_text_intern(text, bytes, &number);

    if (st) {
      CHECK_EQUAL(st, SPANPROF_ERR_NOMEM);
      CHECK_EQUAL(number, 0);
      continue;
    }
    CHECK_TEXT(text_of(number), text);
    st = sp_text_name_form(number, &form);
    CHECK(st == SPANPROF_OK || st == SPANPROF_ERR_NOMEM);
  }
  label_reset(NULL);
}

static void every_allocation_may_fail(void) {
  failing_mem_sweep(interning);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"same_text_same_number", same_text_same_number},
      {"unknown_number_is_the_empty_text", unknown_number_is_the_empty_text},
      {"null_is_refused", null_is_refused},
      {"prefixes_are_different_texts", prefixes_are_different_texts},
      {"invalid_utf8_is_cleaned_and_counted",
       invalid_utf8_is_cleaned_and_counted},
      {"long_text_is_cut_between_characters",
       long_text_is_cut_between_characters},
      {"names_are_cleaned_once", names_are_cleaned_once},
      {"name_form_is_counted_the_first_time",
       name_form_is_counted_the_first_time},
      {"bytes_are_bounded", bytes_are_bounded},
      {"threads_agree_on_numbers", threads_agree_on_numbers},
      {"every_allocation_may_fail", every_allocation_may_fail},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
