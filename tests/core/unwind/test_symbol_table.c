#include <dlfcn.h>
#include <link.h>

#include "check.h"
#include "failing_mem.h"
#include "unwind/elf/symbol_table.h"

__attribute__((noinline, used)) static int a_static_function(int x) {
  __asm__ volatile("nop; nop; nop; nop");
  return x * 3 + 1;
}

/* One function with three names. */
int __the_marked_name(int x);
int the_longest_name(int x) __attribute__((alias("__the_marked_name")));
int best_name(int x) __attribute__((alias("__the_marked_name")));

__attribute__((noinline)) int __the_marked_name(int x) {
  __asm__ volatile("nop; nop");
  return x + 7;
}

static int first_bias(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size;
  *(uint64_t *)data = info->dlpi_addr;
  return 1;
}

/* The ELF virtual address of a run-time address in this program. */
static uint64_t file_address(uintptr_t address) {
  uint64_t bias = 0;

  dl_iterate_phdr(first_bias, &bias);
  return address - bias;
}

static void open_table(sp_symbol_table *table, sp_elf_image *image,
                       const char *path) {
  CHECK_EQUAL(sp_elf_image_open(image, path, &sp_mem_default), SPANPROF_OK);
  sp_symbol_table_init(table, &sp_mem_default);
  CHECK_EQUAL(sp_symbol_table_load(table, image), SPANPROF_OK);
  CHECK(table->count > 0);
}

static void a_static_function_is_found_from_inside(void) {
  const uint64_t start = file_address((uintptr_t)a_static_function);
  char name[SP_SYMBOL_NAME_MAX];
  uint64_t found = 0, limit = 0;
  sp_symbol_table table;
  sp_elf_image image;

  open_table(&table, &image, "/proc/self/exe");
  CHECK(sp_symbol_table_find(&table, &image, start, SP_SYMBOL_NO_FUNCTION, name,
                             &found));
  CHECK_TEXT(name, "a_static_function");
  CHECK_EQUAL(found, start);
  CHECK(sp_symbol_table_find(&table, &image, start + 4, SP_SYMBOL_NO_FUNCTION,
                             name, &found));
  CHECK_TEXT(name, "a_static_function");
  CHECK_EQUAL(found, start);
  CHECK(sp_symbol_table_bounds(&table, start + 1, SP_SYMBOL_NO_FUNCTION, &found,
                               &limit));
  CHECK_EQUAL(found, start);
  CHECK(limit > start + 4 && limit < start + 4096);
  CHECK(sp_symbol_table_find(&table, &image, limit - 1, SP_SYMBOL_NO_FUNCTION,
                             name, &found));
  CHECK_TEXT(name, "a_static_function");
  sp_symbol_table_dispose(&table);
  sp_elf_image_dispose(&image);
}

static void of_several_names_the_plainest_is_chosen(void) {
  char name[SP_SYMBOL_NAME_MAX];
  sp_symbol_table table;
  sp_elf_image image;
  uint64_t start;

  open_table(&table, &image, "/proc/self/exe");
  CHECK(sp_symbol_table_find(&table, &image,
                             file_address((uintptr_t)__the_marked_name),
                             SP_SYMBOL_NO_FUNCTION, name, &start));
  CHECK_TEXT(name, "best_name");
  sp_symbol_table_dispose(&table);
  sp_elf_image_dispose(&image);
}

static void an_address_outside_has_no_name(void) {
  char name[SP_SYMBOL_NAME_MAX];
  sp_symbol_table table;
  sp_elf_image image;
  uint64_t start;

  open_table(&table, &image, "/proc/self/exe");
  CHECK(!sp_symbol_table_find(&table, &image, 0, SP_SYMBOL_NO_FUNCTION, name,
                              &start));
  CHECK(!sp_symbol_table_find(&table, &image, UINT64_MAX, SP_SYMBOL_NO_FUNCTION,
                              name, &start));
  CHECK(!sp_symbol_table_find(&table, &image, table.base - 1,
                              SP_SYMBOL_NO_FUNCTION, name, &start));
  sp_symbol_table_dispose(&table);
  sp_elf_image_dispose(&image);
}

/* The C library is stripped on most systems, so .dynsym is used. */
static void exported_functions_of_a_stripped_library_are_found(void) {
  static const char *const functions[] = {"qsort_r", "strtod", "getenv",
                                          "fopen", "regcomp"};
  char name[SP_SYMBOL_NAME_MAX];
  sp_symbol_table table;
  sp_elf_image image;
  Dl_info libc, info;
  size_t i;

  CHECK(dladdr(dlsym(RTLD_DEFAULT, "hdestroy"), &libc));
  open_table(&table, &image, libc.dli_fname);
  for (i = 0; i < sizeof functions / sizeof *functions; i++) {
    void *function = dlsym(RTLD_DEFAULT, functions[i]);
    uint64_t start;

    CHECK(dladdr(function, &info));
    if (info.dli_fbase != libc.dli_fbase)
      continue; /* a sanitizer replaces this function */
    CHECK(sp_symbol_table_find(
        &table, &image, (uint64_t)((char *)function - (char *)info.dli_fbase),
        SP_SYMBOL_NO_FUNCTION, name, &start));
    CHECK_TEXT(name, functions[i]);
  }
  sp_symbol_table_dispose(&table);
  sp_elf_image_dispose(&image);
}

static void load_scenario(const sp_mem *mem) {
  sp_symbol_table table;
  sp_elf_image image;

  if (sp_elf_image_open(&image, "/proc/self/exe", mem) != SPANPROF_OK)
    return;
  sp_symbol_table_init(&table, mem);
  if (sp_symbol_table_load(&table, &image) != SPANPROF_OK)
    CHECK_EQUAL(table.count, 0);
  sp_symbol_table_dispose(&table);
  sp_elf_image_dispose(&image);
}

static void loading_survives_failed_allocations(void) {
  failing_mem_sweep(load_scenario);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"a_static_function_is_found_from_inside",
       a_static_function_is_found_from_inside},
      {"of_several_names_the_plainest_is_chosen",
       of_several_names_the_plainest_is_chosen},
      {"an_address_outside_has_no_name", an_address_outside_has_no_name},
      {"exported_functions_of_a_stripped_library_are_found",
       exported_functions_of_a_stripped_library_are_found},
      {"loading_survives_failed_allocations",
       loading_survives_failed_allocations},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
