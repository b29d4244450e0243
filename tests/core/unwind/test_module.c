#include <dlfcn.h>
#include <limits.h>
#include <sys/auxv.h>
#include <unistd.h>
#include <zlib.h>

#include "check.h"
#include "failing_mem.h"
#include "unwind/module_list.h"
#include "unwind/elf/process_maps.h"

static sp_module_entry *module_at(const sp_module_list *list,
                                  const void *address, uint32_t *number) {
  const sp_mapping *mapping =
      sp_module_list_find(list, (uint64_t)(uintptr_t)address);

  *number = mapping ? mapping->module : 0;
  return sp_module_list_get(list, *number);
}

/* Write a copy of zlib that tests can load, replace and delete. */
static void copy_library(const char *to) {
  char buffer[4096];
  FILE *from, *file;
  Dl_info info;
  size_t n;

  CHECK(dladdr(dlsym(RTLD_DEFAULT, "zlibVersion"), &info));
  from = fopen(info.dli_fname, "rb");
  file = fopen(to, "wb");
  CHECK(from && file);
  while ((n = fread(buffer, 1, sizeof buffer, from)) > 0)
    CHECK_EQUAL(fwrite(buffer, 1, n, file), n);
  fclose(from);
  CHECK_EQUAL(fclose(file), 0);
}

static void temporary_path(char *path, size_t size, const char *name) {
  const char *directory = getenv("TMPDIR");

  snprintf(path, size, "%s/test_module-%d-%s", directory ? directory : "/tmp",
           (int)getpid(), name);
}

static void program_libraries_and_vdso_are_found(void) {
  char path[PATH_MAX];
  sp_module_list list;
  sp_module_entry *module;
  uint32_t number;
  ssize_t n;
  size_t i, vdsos = 0;

  sp_module_list_init(&list, &sp_mem_default);
  CHECK_EQUAL(sp_module_list_refresh(&list), SPANPROF_OK);
  n = readlink("/proc/self/exe", path, sizeof path - 1);
  CHECK(n > 0);
  path[n] = '\0';
  module = module_at(&list, (const void *)module_at, &number);
  CHECK(module != NULL);
  CHECK_TEXT(module->view.path, path);
  CHECK(module->view.limit > module->view.start);
  CHECK(sp_module_entry_rows(module)->count > 0);
  module = module_at(&list, dlsym(RTLD_DEFAULT, "zlibVersion"), &number);
  CHECK(module && strstr(module->view.path, "libz"));
  CHECK(sp_module_entry_rows(module)->count > 0);
  for (i = 0; i < list.module_count; i++)
    if (strcmp(list.modules[i]->view.path, "[vdso]") == 0) {
      CHECK(sp_module_entry_rows(list.modules[i])->count > 0);
      vdsos++;
    }
  CHECK_EQUAL(vdsos, getauxval(AT_SYSINFO_EHDR) ? 1 : 0);
  CHECK(!sp_module_list_find(&list, 0));
  CHECK(!sp_module_list_find(&list, UINT64_MAX));
  CHECK(!sp_module_list_get(&list, 0));
  CHECK(!sp_module_list_get(&list, (uint32_t)list.module_count + 1));
  sp_module_list_dispose(&list);
}

static void an_unchanged_process_is_not_scanned_again(void) {
  sp_module_list list;
  uint64_t generation;

  sp_module_list_init(&list, &sp_mem_default);
  CHECK_EQUAL(sp_module_list_refresh(&list), SPANPROF_OK);
  generation = list.generation;
  CHECK_EQUAL(sp_module_list_refresh(&list), SPANPROF_OK);
  CHECK_EQUAL(list.generation, generation);
  sp_module_list_dispose(&list);
}

static void a_library_is_loaded_unloaded_and_loaded_again(void) {
  char path[PATH_MAX], name[SP_SYMBOL_NAME_MAX];
  uint32_t number, again;
  sp_module_entry *module;
  sp_module_list list;
  uint64_t address, start;
  void *library, *function;

  temporary_path(path, sizeof path, "come.so");
  copy_library(path);
  sp_module_list_init(&list, &sp_mem_default);
  CHECK_EQUAL(sp_module_list_refresh(&list), SPANPROF_OK);
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  CHECK(library != NULL);
  function = dlsym(library, "zlibVersion");
  CHECK(!module_at(&list, function, &number));
  CHECK_EQUAL(sp_module_list_refresh(&list), SPANPROF_OK);
  module = module_at(&list, function, &number);
  CHECK(module != NULL);
  CHECK_TEXT(module->view.path, path);
  CHECK(sp_module_entry_rows(module)->count > 0);
  address = (uint64_t)(uintptr_t)function -
            sp_module_list_find(&list, (uint64_t)(uintptr_t)function)->bias;
  CHECK_EQUAL(dlclose(library), 0);

  /* Samples taken before the unloading may still arrive, so the module is still
   * found. */
  CHECK_EQUAL(sp_module_list_refresh(&list), SPANPROF_OK);
  sp_module_list_age(&list);
  CHECK(module_at(&list, function, &again) == module);
  sp_module_list_age(&list);
  CHECK(!module_at(&list, function, &again));
  CHECK_EQUAL(module->rows.count, 0);
  CHECK(sp_module_list_get(&list, number) == module);
  CHECK(sp_module_entry_symbol(module, address, name, &start));
  CHECK_TEXT(name, "zlibVersion");

  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  CHECK(library != NULL);
  CHECK_EQUAL(sp_module_list_refresh(&list), SPANPROF_OK);
  CHECK(module_at(&list, dlsym(library, "zlibVersion"), &again) == module);
  CHECK_EQUAL(again, number);
  dlclose(library);
  unlink(path);
  sp_module_list_dispose(&list);
}

/* Plug-ins that are rebuilt under new names must not accumulate. */
static void unloaded_modules_leave_the_list(void) {
  enum { TIMES = 40 };
  char path[PATH_MAX], name[32];
  size_t modules, mappings;
  sp_module_list list;
  uint32_t number, before = 0;
  void *library;
  int i;

  sp_module_list_init(&list, &sp_mem_default);
  CHECK_EQUAL(sp_module_list_refresh(&list), SPANPROF_OK);
  modules = list.module_count;
  mappings = list.mapping_count;
  for (i = 0; i < TIMES; i++) {
    snprintf(name, sizeof name, "unique%d.so", i);
    temporary_path(path, sizeof path, name);
    copy_library(path);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL);
    CHECK_EQUAL(sp_module_list_refresh(&list), SPANPROF_OK);
    CHECK(module_at(&list, dlsym(library, "zlibVersion"), &number));
    CHECK(number > before);
    CHECK(!sp_module_list_get(&list, before));
    dlclose(library);
    unlink(path);
    CHECK_EQUAL(sp_module_list_refresh(&list), SPANPROF_OK);
    sp_module_list_close_files(&list);
    /* Late samples may still need the module. */
    CHECK(sp_module_list_get(&list, number));
    sp_module_list_age(&list);
    sp_module_list_age(&list);
    sp_module_list_close_files(&list);
    CHECK_EQUAL(list.module_count, modules);
    CHECK_EQUAL(list.mapping_count, mappings);
    before = number;
  }
  for (number = 1; number <= modules; number++)
    CHECK(sp_module_list_get(&list, number));
  sp_module_list_dispose(&list);
}

/* The file that replaced the loaded one is not the code that runs. */
static void a_replaced_file_is_not_read(void) {
  char path[PATH_MAX], other[PATH_MAX], name[SP_SYMBOL_NAME_MAX];
  sp_module_entry *module;
  sp_module_list list;
  uint32_t number;
  uint64_t start;
  void *library;

  temporary_path(path, sizeof path, "replaced.so");
  temporary_path(other, sizeof other, "other.so");
  copy_library(path);
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  CHECK(library != NULL);
  sp_module_list_init(&list, &sp_mem_default);
  CHECK_EQUAL(sp_module_list_refresh(&list), SPANPROF_OK);
  module = module_at(&list, dlsym(library, "zlibVersion"), &number);
  CHECK(module != NULL);
  CHECK(sp_module_entry_image(module) != NULL);
  sp_module_entry_close_files(module);

  CHECK_EQUAL(symlink("/proc/self/exe", other), 0);
  CHECK_EQUAL(rename(other, path), 0);
  CHECK(!sp_module_entry_image(module));
  CHECK_EQUAL(sp_module_entry_rows(module)->count, 0);
  CHECK(!sp_module_entry_symbol(module, module->view.start, name, &start));
  CHECK_EQUAL(unlink(path), 0);
  sp_module_entry_close_files(module);
  CHECK(!sp_module_entry_image(module));
  dlclose(library);
  sp_module_list_dispose(&list);
}

static void the_process_map_reports_a_deleted_file(void) {
  char path[PATH_MAX], mapped[PATH_MAX];
  void *library, *function;
  bool deleted;

  temporary_path(path, sizeof path, "deleted.so");
  copy_library(path);
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  CHECK(library != NULL);
  function = dlsym(library, "zlibVersion");
  CHECK(sp_process_maps_file((uint64_t)(uintptr_t)function, mapped,
                             sizeof mapped, &deleted));
  CHECK_TEXT(mapped, path);
  CHECK(!deleted);
  CHECK(sp_process_maps_file((uint64_t)(uintptr_t)&path, mapped, sizeof mapped,
                             &deleted));
  CHECK(!deleted && strcmp(mapped, path) != 0);
  unlink(path);
  CHECK(sp_process_maps_file((uint64_t)(uintptr_t)function, mapped,
                             sizeof mapped, &deleted));
  CHECK_TEXT(mapped, path);
  CHECK(deleted);
  CHECK(
      sp_process_maps_file((uint64_t)(uintptr_t)function, mapped, 5, &deleted));
  CHECK_EQUAL(strlen(mapped), 4);
  CHECK(!sp_process_maps_file(0, mapped, sizeof mapped, &deleted));
  dlclose(library);
}

static void refresh_scenario(const sp_mem *mem) {
  sp_module_list list;
  uint32_t number;
  sp_module_entry *module;

  sp_module_list_init(&list, mem);
  (void)sp_module_list_refresh(&list);
  if (sp_module_list_refresh(&list) == SPANPROF_OK) {
    module = module_at(&list, (const void *)module_at, &number);
    CHECK(module != NULL);
    (void)sp_module_entry_rows(module);
    CHECK(sp_module_entry_rows(module)->count > 0);
  }
  sp_module_list_dispose(&list);
}

static void a_refresh_survives_failed_allocations(void) {
  failing_mem_sweep(refresh_scenario);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"program_libraries_and_vdso_are_found",
       program_libraries_and_vdso_are_found},
      {"an_unchanged_process_is_not_scanned_again",
       an_unchanged_process_is_not_scanned_again},
      {"a_library_is_loaded_unloaded_and_loaded_again",
       a_library_is_loaded_unloaded_and_loaded_again},
      {"unloaded_modules_leave_the_list", unloaded_modules_leave_the_list},
      {"a_replaced_file_is_not_read", a_replaced_file_is_not_read},
      {"the_process_map_reports_a_deleted_file",
       the_process_map_reports_a_deleted_file},
      {"a_refresh_survives_failed_allocations",
       a_refresh_survives_failed_allocations},
  };

  CHECK(zlibVersion() != NULL); /* needed so that zlib is linked */
  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
