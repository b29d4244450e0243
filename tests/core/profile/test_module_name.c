/* Tests of the names of frames without a symbol. */
#include "profile/tables/module_name.h"

#include <string.h>

#include "check.h"

static void check_name(const char *file, const char *expected) {
  char name[SP_MODULE_NAME_BYTES];

  CHECK_EQUAL(sp_module_name(file, strlen(file), name), strlen(expected));
  CHECK_TEXT(name, expected);
}

static void a_module_is_the_last_part_of_its_path(void) {
  check_name("/usr/lib/libz.so.1", "[libz.so.1]");
  check_name("libz.so.1", "[libz.so.1]");
  check_name("[vdso]", "[vdso]");
  check_name("[kernel.kallsyms]_text", "[kernel.kallsyms]_text");
  check_name("", "[unknown]");
  check_name("/usr/lib/", "[unknown]");
}

static void a_long_name_is_truncated_between_characters(void) {
  char file[401] = "x", name[SP_MODULE_NAME_BYTES];
  size_t i, size;

  for (i = 0; i < 133; i++)
    memcpy(file + 1 + 3 * i, "\xe2\x82\xac", 3);
  size = sp_module_name(file, 400, name);
  CHECK_EQUAL(size, 2 + 1 + 3 * 68);
  CHECK_EQUAL(name[size - 1], ']');
  CHECK_EQUAL(name[size], '\0');
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"a_module_is_the_last_part_of_its_path",
       a_module_is_the_last_part_of_its_path},
      {"a_long_name_is_truncated_between_characters",
       a_long_name_is_truncated_between_characters},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
