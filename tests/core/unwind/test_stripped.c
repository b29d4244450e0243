/* Tests of code without symbols: functions are found by unwind information, and
 * symbols in a debug file. The library is zlib, which distributions ship
 * without symbols. */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "elf_builder.h"
#include "failing_mem.h"
#include "unwind/dwarf/dwarf_reader.h"
#include "unwind/module_list.h"

/* The function starts in the table of .eh_frame_hdr (LSB Core 5.0, §10.6.2).
 * Every linker writes entries of two 4-byte numbers, relative to the
 * section. */
typedef struct eh_index {
  uint64_t starts[65536];
  size_t count;
} eh_index;

static eh_index eh_starts;

static void eh_index_read(const sp_elf_image *image) {
  struct {
    uint8_t version, pointer, number, table;
    int32_t frame;
    uint32_t count;
  } header;
  sp_elf_unwind unwind;
  uint32_t i;

  CHECK(sp_elf_image_unwind(image, &unwind) && unwind.header_vaddr);
  CHECK(sp_elf_image_read_vaddr(image, unwind.header_vaddr, &header,
                                sizeof header));
  CHECK_EQUAL(header.version, 1);
  CHECK_EQUAL(header.number, SP_DWARF_PE_UDATA4);
  CHECK_EQUAL(header.table, 0x3b); /* DW_EH_PE_datarel | DW_EH_PE_sdata4 */
  CHECK(header.count < SP_COUNT_OF(eh_starts.starts));
  for (i = 0; i < header.count; i++) {
    int32_t entry[2];

    CHECK(sp_elf_image_read_vaddr(image,
                                  unwind.header_vaddr + sizeof header + i * 8,
                                  entry, sizeof entry));
    eh_starts.starts[i] = unwind.header_vaddr + (uint64_t)(int64_t)entry[0];
  }
  eh_starts.count = header.count;
}

static const char *library_path(const char *function) {
  static Dl_info info;

  CHECK(dladdr(dlsym(RTLD_DEFAULT, function), &info));
  return info.dli_fname;
}

static sp_module_entry *library_module(const sp_module_list *list,
                                       const char *function) {
  const void *address = dlsym(RTLD_DEFAULT, function);
  const sp_mapping *mapping =
      sp_module_list_find(list, (uint64_t)(uintptr_t)address);

  CHECK(mapping);
  return sp_module_list_get(list, mapping->module);
}

static void check_starts(const char *function) {
  const sp_unwind_rows *rows;
  sp_module_list list;
  sp_module_entry *module;
  const sp_elf_image *image;
  size_t i;

  sp_module_list_init(&list, &sp_mem_default);
  CHECK_EQUAL(sp_module_list_refresh(&list), SPANPROF_OK);
  module = library_module(&list, function);
  image = sp_module_entry_image(module);
  CHECK(image != NULL);
  eh_index_read(image);
  rows = sp_module_entry_rows(module);
  CHECK(eh_starts.count > 50);
  for (i = 0; i < eh_starts.count; i++) {
    const uint64_t at = eh_starts.starts[i];
    uint64_t start = 0, pc;

    for (pc = at; pc < at + 64; pc++) {
      if (i + 1 < eh_starts.count && pc >= eh_starts.starts[i + 1])
        break;
      if (sp_unwind_rows_find(rows, pc)->cfa_kind == SP_CFA_NONE)
        break;
      CHECK(sp_unwind_rows_function(rows, pc, &start));
      CHECK_EQUAL(start, at);
    }
    CHECK(pc > at);
  }
  sp_module_list_dispose(&list);
}

static void functions_start_where_the_linker_records(void) {
  check_starts("zlibVersion");
  check_starts("hdestroy"); /* a function of the C library */
}

/* Find the function with the longest run of addresses without a name. */
static uint64_t nameless_function(sp_module_entry *module, size_t *length) {
  uint64_t pc, start, at = 0, best = 0;
  char name[SP_SYMBOL_NAME_MAX];
  size_t run = 0;

  *length = 0;
  for (pc = module->view.start; pc < module->view.limit; pc += 16) {
    if (sp_module_entry_symbol(module, pc, name, &start) || start == 0)
      continue;
    CHECK(start <= pc);
    run = start == at ? run + 1 : 1;
    at = start;
    if (run > *length) {
      *length = run;
      best = start;
    }
  }
  return best;
}

static void list_open(sp_module_list *list, const char *debug_directory) {
  sp_module_list_init(list, &sp_mem_default);
  list->debug_directory = debug_directory;
  CHECK_EQUAL(sp_module_list_refresh(list), SPANPROF_OK);
}

static void stripped_functions_are_one_each(void) {
  char name[SP_SYMBOL_NAME_MAX];
  sp_module_entry *module;
  sp_module_list list;
  uint64_t start, found;
  size_t length, i;

  list_open(&list, "/nowhere");
  module = library_module(&list, "zlibVersion");
  start = nameless_function(module, &length);
  CHECK(length >= 8);
  for (i = 0; i < length * 16 - 15; i++) {
    CHECK(!sp_module_entry_symbol(module, start + i, name, &found));
    CHECK(!sp_module_entry_named(module, start + i));
    CHECK_EQUAL(found, start);
  }
  sp_module_list_dispose(&list);
}

/* Write a debug file with one symbol below `directory`, for the build id
 * `build_id`. */
static void write_debug(const char *directory, const char *place,
                        const char *build_id, uint64_t start, uint64_t size) {
  elf_builder file = {.size = 0};
  Elf64_Ehdr header;
  char path[PATH_MAX];
  FILE *out;

  out = fopen("/proc/self/exe", "rb");
  CHECK(out && fread(&header, sizeof header, 1, out) == 1);
  fclose(out);
  elf_builder_symbol(&file, "only_in_the_debug_file", start, size);
  elf_builder_finish(&file, &header, build_id, SHT_SYMTAB);
  snprintf(path, sizeof path, "%s/.build-id", directory);
  (void)mkdir(path, 0700);
  snprintf(path, sizeof path, "%s/.build-id/%.2s", directory, place);
  (void)mkdir(path, 0700);
  snprintf(path, sizeof path, "%s/.build-id/%.2s/%s.debug", directory, place,
           place + 2);
  out = fopen(path, "wb");
  CHECK(out && fwrite(file.bytes, file.size, 1, out) == 1);
  CHECK_EQUAL(fclose(out), 0);
}

static void remove_debug(const char *directory, const char *place) {
  char path[PATH_MAX];

  snprintf(path, sizeof path, "%s/.build-id/%.2s/%s.debug", directory, place,
           place + 2);
  CHECK_EQUAL(unlink(path), 0);
  snprintf(path, sizeof path, "%s/.build-id/%.2s", directory, place);
  rmdir(path);
  snprintf(path, sizeof path, "%s/.build-id", directory);
  rmdir(path);
  rmdir(directory);
}

static void debug_directory_new(char *out, size_t size) {
  const char *directory = getenv("TMPDIR");

  snprintf(out, size, "%s/test_stripped-XXXXXX",
           directory ? directory : "/tmp");
  CHECK(mkdtemp(out));
}

/* Write a debug file with the build id `build_id`. Does it give a name to the
 * longest function without a name? */
static bool debug_file_names(const sp_mem *mem, const char *build_id) {
  static char place[SP_ELF_BUILD_ID_SIZE];
  static uint64_t start;
  char directory[PATH_MAX], name[SP_SYMBOL_NAME_MAX];
  sp_module_entry *module;
  sp_module_list list;
  uint64_t found;
  bool named = false;
  size_t length;

  if (!start) { /* done once, because it is slow and the result is constant */
    list_open(&list, "/nowhere");
    module = library_module(&list, "zlibVersion");
    start = nameless_function(module, &length);
    snprintf(place, sizeof place, "%s", module->view.build_id);
    sp_module_list_dispose(&list);
  }
  debug_directory_new(directory, sizeof directory);
  write_debug(directory, place, build_id ? build_id : place, start, 64);
  sp_module_list_init(&list, mem);
  list.debug_directory = directory;
  if (sp_module_list_refresh(&list) == SPANPROF_OK) {
    module = library_module(&list, "zlibVersion");
    named = sp_module_entry_symbol(module, start + 32, name, &found) &&
            strcmp(name, "only_in_the_debug_file") == 0 && found == start;
    CHECK(!sp_module_entry_symbol(module, start + 64, name, &found) || !named);
    CHECK(sp_module_entry_named(module, start + 32) || !named);
    CHECK(!sp_module_entry_named(module, start + 64) || !named);
  }
  sp_module_list_dispose(&list);
  remove_debug(directory, place);
  return named;
}

static void debug_file_of_the_same_build_is_used(void) {
  CHECK(debug_file_names(&sp_mem_default, NULL));
  CHECK(!debug_file_names(&sp_mem_default, "0102030405060708"));
}

static void debug_scenario(const sp_mem *mem) {
  (void)debug_file_names(mem, NULL);
}

static void every_allocation_may_fail(void) {
  failing_mem_sweep(debug_scenario);
}

static bool symbol_is(const sp_symbol_table *table, const sp_elf_image *image,
                      uint64_t address, uint64_t function,
                      const char *expected) {
  char name[SP_SYMBOL_NAME_MAX];
  uint64_t start;

  return sp_symbol_table_find(table, image, address, function, name, &start)
             ? expected && strcmp(name, expected) == 0
             : !expected;
}

/* .dynsym does not list static functions, so a symbol without a size must not
 * cover the functions after it. */
static void exported_symbol_covers_its_own_code_only(void) {
  elf_builder file = {.size = 0};
  sp_symbol_table table;
  sp_elf_image image, self;
  Elf64_Ehdr header;
  uint64_t start, limit;

  CHECK_EQUAL(
      sp_elf_image_open(&self, library_path("zlibVersion"), &sp_mem_default),
      SPANPROF_OK);
  CHECK(sp_elf_image_read(&self, 0, &header, sizeof header));
  sp_elf_image_dispose(&self);
  elf_builder_symbol(&file, "sized", 0x1000, 0x10);
  elf_builder_symbol(&file, "sizeless", 0x2000, 0);
  elf_builder_symbol(&file, "last", 0x3000, 0x10);
  elf_builder_finish(&file, &header, "0102", SHT_DYNSYM);
  CHECK_EQUAL(sp_elf_image_wrap(&image, file.bytes, file.size, &sp_mem_default),
              SPANPROF_OK);
  sp_symbol_table_init(&table, &sp_mem_default);
  CHECK_EQUAL(sp_symbol_table_load(&table, &image), SPANPROF_OK);
  CHECK(!table.complete);
  CHECK(symbol_is(&table, &image, 0x100f, 0x1000, "sized"));
  CHECK(symbol_is(&table, &image, 0x100f, SP_SYMBOL_NO_FUNCTION, "sized"));
  CHECK(symbol_is(&table, &image, 0x1010, 0x1000, NULL));
  CHECK(symbol_is(&table, &image, 0x2080, 0x2000, "sizeless"));
  CHECK(symbol_is(&table, &image, 0x2080, 0x1ff0, "sizeless"));
  /* The address is in a static function, which begins at 0x2040. */
  CHECK(symbol_is(&table, &image, 0x2080, 0x2040, NULL));
  CHECK(symbol_is(&table, &image, 0x2080, SP_SYMBOL_NO_FUNCTION, NULL));
  CHECK(!sp_symbol_table_bounds(&table, 0x2080, SP_SYMBOL_NO_FUNCTION, &start,
                                &limit));
  CHECK(!sp_symbol_table_bounds(&table, 0x2080, 0x2040, &start, &limit));
  CHECK(sp_symbol_table_bounds(&table, 0x2080, 0x2000, &start, &limit));
  sp_symbol_table_dispose(&table);
  sp_elf_image_dispose(&image);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"functions_start_where_the_linker_records",
       functions_start_where_the_linker_records},
      {"stripped_functions_are_one_each", stripped_functions_are_one_each},
      {"debug_file_of_the_same_build_is_used",
       debug_file_of_the_same_build_is_used},
      {"exported_symbol_covers_its_own_code_only",
       exported_symbol_covers_its_own_code_only},
      {"every_allocation_may_fail", every_allocation_may_fail},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
