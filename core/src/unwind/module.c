#include "module.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "unwind/dwarf/eh_frame.h"
#include "unwind/elf/elf_notes.h"
#include "unwind/elf/process_maps.h"

/* Maximum number of attempts to read a file while memory or descriptors are
 * missing. sp_module_entry_close_files() starts again. */
#define MODULE_TRIES_MAX 3

static bool module_matches(const sp_module_entry *module,
                           const sp_elf_image *image) {
  char build_id[SP_ELF_BUILD_ID_SIZE];
  char path[PATH_MAX];
  bool deleted;

  if (image->segments_hash != module->segments_hash)
    return false;
  sp_elf_image_build_id(image, build_id);
  if (strcmp(build_id, module->build_id) != 0)
    return false;
  if (build_id[0] != '\0' || module->code_address == 0)
    return true;
  /* Without a build id, two builds may have equal program headers, so the
   * process's memory map must show that the file was not replaced. */
  return sp_process_maps_file(module->code_address, path, sizeof path,
                              &deleted) &&
         !deleted;
}

static spanprof_status module_open_file(const sp_module_entry *module,
                                        const char *path, sp_elf_image *image) {
  spanprof_status st = sp_elf_image_open(image, path, module->mem);

  if (!st && !module_matches(module, image)) {
    sp_elf_image_dispose(image);
    return SPANPROF_ERR_STATE;
  }
  return st;
}

static spanprof_status module_open(const sp_module_entry *module,
                                   sp_elf_image *image) {
  spanprof_status st;

  switch (module->kind) {
  case SP_MODULE_VDSO:
    return sp_elf_image_wrap(image, module->bytes, module->byte_count,
                             module->mem);
  case SP_MODULE_MAIN:
    /* /proc/self/exe refers to the program even if its file was deleted. But if
     * the dynamic loader was called to run the program, it refers to the
     * loader. */
    st = module_open_file(module, "/proc/self/exe", image);
    if (!st || st == SPANPROF_ERR_NOMEM)
      return st;
    return module_open_file(module, module->path, image);
  case SP_MODULE_FILE:
  default:
    return module_open_file(module, module->path, image);
  }
}

static spanprof_status module_read_rows(sp_module_entry *module) {
  sp_elf_unwind unwind;
  sp_elf_bytes bytes = {0};
  sp_elf_image image;
  spanprof_status st = module_open(module, &image);

  if (st)
    return st;
  if (!sp_elf_image_unwind(&image, &unwind))
    goto cleanup;
  st = sp_elf_image_load(&image, unwind.offset, unwind.size, &bytes);
  if (!st) {
    const sp_eh_frame frame = {bytes.data, bytes.size, unwind.vaddr,
                               module->view.start, module->view.limit};

    st = sp_eh_frame_rows(&frame, &module->rows);
  }

cleanup:
  sp_elf_bytes_dispose(&bytes);
  sp_elf_image_dispose(&image);
  return st;
}

/* Open the separate debug file of this build, at the path that GDB's manual
 * specifies ("Debugging Information in Separate Files"). */
static spanprof_status module_open_debug(const sp_module_entry *module,
                                         sp_elf_image *image) {
  char build_id[SP_ELF_BUILD_ID_SIZE], path[PATH_MAX];
  spanprof_status st;
  int size;

  if (strlen(module->build_id) <= 2 || !module->debug_directory)
    return SPANPROF_ERR_STATE;
  size =
      snprintf(path, sizeof path, "%s/.build-id/%.2s/%s.debug",
               module->debug_directory, module->build_id, module->build_id + 2);
  if (size < 0 || (size_t)size >= sizeof path)
    return SPANPROF_ERR_LIMIT;
  st = sp_elf_image_open(image, path, module->mem);
  if (st)
    return st;
  sp_elf_image_build_id(image, build_id);
  if (strcmp(build_id, module->build_id) == 0)
    return SPANPROF_OK;
  sp_elf_image_dispose(image);
  return SPANPROF_ERR_STATE;
}

/* If there is a debug file, replace the symbols of .dynsym by those of its
 * .symtab. */
static spanprof_status module_read_debug(sp_module_entry *module) {
  sp_symbol_table table;
  sp_elf_image image;
  spanprof_status st = module_open_debug(module, &image);

  if (st)
    return st == SPANPROF_ERR_NOMEM ? st : SPANPROF_OK;
  sp_symbol_table_init(&table, module->mem);
  st = sp_symbol_table_load(&table, &image);
  sp_elf_image_dispose(&image);
  if (st || !table.complete) {
    sp_symbol_table_dispose(&table);
    return st == SPANPROF_ERR_NOMEM ? st : SPANPROF_OK;
  }
  sp_symbol_table_dispose(&module->symbols);
  module->symbols = table;
  module->symbols_apart = true;
  return SPANPROF_OK;
}

static spanprof_status module_read_symbols(sp_module_entry *module) {
  sp_elf_image image;
  spanprof_status st = module_open(module, &image);

  if (st)
    return st;
  st = sp_symbol_table_load(&module->symbols, &image);
  sp_elf_image_dispose(&image);
  if (!st && !module->symbols.complete)
    st = module_read_debug(module);
  if (st)
    sp_symbol_table_dispose(&module->symbols);
  return st;
}

/* Record in a `_tries` field whether another attempt may succeed. */
static void module_tried(sp_module_entry *module, uint8_t *tries,
                         spanprof_status st) {
  module->incomplete = module->incomplete || st == SPANPROF_ERR_NOMEM;
  *tries = st == SPANPROF_ERR_NOMEM ? *tries + 1 : SP_MODULE_KNOWN;
}

static void module_need_symbols(sp_module_entry *module) {
  if (module->symbols_tries < MODULE_TRIES_MAX)
    module_tried(module, &module->symbols_tries, module_read_symbols(module));
}

static const sp_elf_image *
module_file(sp_module_entry *module, sp_module_file *file,
            spanprof_status (*open)(const sp_module_entry *module,
                                    sp_elf_image *image)) {
  if (file->state == SP_MODULE_FILE_UNTRIED) {
    const spanprof_status st = open(module, &file->image);

    module->incomplete = module->incomplete || st == SPANPROF_ERR_NOMEM;
    file->state = st ? SP_MODULE_FILE_REFUSED : SP_MODULE_FILE_OPEN;
  }
  return file->state == SP_MODULE_FILE_OPEN ? &file->image : NULL;
}

static void module_file_close(sp_module_file *file) {
  if (file->state == SP_MODULE_FILE_OPEN)
    sp_elf_image_dispose(&file->image);
  file->state = SP_MODULE_FILE_UNTRIED;
}

spanprof_status sp_module_entry_new(sp_module_entry **out,
                                    const sp_module_facts *facts,
                                    const sp_mem *mem) {
  sp_module_entry *module = sp_mem_zero(mem, sizeof *module);

  *out = NULL;
  if (!module)
    return SPANPROF_ERR_NOMEM;
  module->mem = mem;
  module->kind = facts->kind;
  module->segments_hash = facts->segments_hash;
  module->debug_directory = facts->debug_directory;
  sp_unwind_rows_init(&module->rows, mem);
  sp_symbol_table_init(&module->symbols, mem);
  sp_jump_targets_init(&module->jumps, mem);
  module->path = sp_mem_text(mem, facts->path, strlen(facts->path));
  module->build_id = sp_mem_text(mem, facts->build_id, strlen(facts->build_id));
  if (facts->byte_count > 0) {
    module->bytes = sp_mem_new(mem, facts->byte_count);
    module->byte_count = facts->byte_count;
  }
  if (!module->path || !module->build_id ||
      (facts->byte_count > 0 && !module->bytes)) {
    sp_module_entry_free(module);
    return SPANPROF_ERR_NOMEM;
  }
  if (module->bytes)
    memcpy(module->bytes, facts->bytes, facts->byte_count);
  module->view = (sp_module){
      .path = module->path,
      .build_id = module->build_id,
      .start = facts->start,
      .limit = facts->limit,
      .file_offset = facts->file_offset,
  };
  *out = module;
  return SPANPROF_OK;
}

void sp_module_entry_free(sp_module_entry *module) {
  if (!module)
    return;
  sp_module_entry_unload(module);
  sp_mem_free(module->mem, module->path);
  sp_mem_free(module->mem, module->build_id);
  sp_mem_free(module->mem, module->bytes);
  sp_mem_free(module->mem, module);
}

bool sp_module_entry_is(const sp_module_entry *module,
                        const sp_module_facts *facts) {
  return module->segments_hash == facts->segments_hash &&
         module->kind == facts->kind &&
         strcmp(module->build_id, facts->build_id) == 0 &&
         strcmp(module->path, facts->path) == 0;
}

const sp_elf_image *sp_module_entry_image(sp_module_entry *module) {
  return module_file(module, &module->code, module_open);
}

const sp_unwind_rows *sp_module_entry_rows(sp_module_entry *module) {
  if (SP_UNLIKELY(module->rows_tries < MODULE_TRIES_MAX)) {
    const spanprof_status st = module_read_rows(module);

    if (st)
      sp_unwind_rows_dispose(&module->rows);
    module_tried(module, &module->rows_tries, st);
  }
  return &module->rows;
}

bool sp_module_entry_function(sp_module_entry *module, uint64_t address,
                              uint64_t *start) {
  const sp_unwind_rows *rows = sp_module_entry_rows(module);

  if (module->jumps_tries < MODULE_TRIES_MAX) {
    const sp_elf_image *image = sp_module_entry_image(module);
    spanprof_status st =
        module->incomplete ? SPANPROF_ERR_NOMEM : SPANPROF_ERR_STATE;

    if (image)
      st = sp_jump_targets_read(&module->jumps, image, rows, module->view.start,
                                module->view.limit);
    module_tried(module, &module->jumps_tries, st);
  }
  return sp_unwind_rows_function(rows, address, start) &&
         sp_jump_targets_entry(&module->jumps, start);
}

bool sp_module_entry_close_files(sp_module_entry *module) {
  const bool incomplete = module->incomplete;

  module_file_close(&module->code);
  module_file_close(&module->debug);
  if (module->rows_tries != SP_MODULE_KNOWN)
    module->rows_tries = 0;
  if (module->symbols_tries != SP_MODULE_KNOWN)
    module->symbols_tries = 0;
  if (module->jumps_tries != SP_MODULE_KNOWN)
    module->jumps_tries = 0;
  module->incomplete = false;
  return incomplete;
}

const sp_elf_unwind *sp_module_entry_unwind(sp_module_entry *module) {
  const sp_elf_image *image;

  if (!module->unwind_known && (image = sp_module_entry_image(module))) {
    if (!sp_elf_image_unwind(image, &module->unwind))
      module->unwind = (sp_elf_unwind){0};
    module->unwind_known = true;
  }
  return module->unwind.size ? &module->unwind : NULL;
}

bool sp_module_entry_symbol(sp_module_entry *module, uint64_t address,
                            char *name, uint64_t *start) {
  uint64_t function = SP_SYMBOL_NO_FUNCTION;
  const sp_elf_image *image;

  *start = 0;
  if (sp_unwind_rows_function(sp_module_entry_rows(module), address, &function))
    *start = function;
  module_need_symbols(module);
  if (module->symbols.count == 0)
    return false;
  image = module->symbols_apart
              ? module_file(module, &module->debug, module_open_debug)
              : sp_module_entry_image(module);
  return image && sp_symbol_table_find(&module->symbols, image, address,
                                       function, name, start);
}

bool sp_module_entry_named(sp_module_entry *module, uint64_t address) {
  uint64_t function = SP_SYMBOL_NO_FUNCTION, start, limit;

  sp_unwind_rows_function(sp_module_entry_rows(module), address, &function);
  module_need_symbols(module);
  return sp_symbol_table_bounds(&module->symbols, address, function, &start,
                                &limit);
}

bool sp_module_entry_bounds(sp_module_entry *module, uint64_t address,
                            uint64_t *start, uint64_t *limit) {
  module_need_symbols(module);
  return sp_symbol_table_bounds(&module->symbols, address,
                                SP_SYMBOL_NO_FUNCTION, start, limit);
}

bool sp_module_entry_read(sp_module_entry *module, uint64_t vaddr, void *out,
                          size_t size) {
  const sp_elf_image *image = sp_module_entry_image(module);

  return image && sp_elf_image_read_vaddr(image, vaddr, out, size);
}

void sp_module_entry_unload(sp_module_entry *module) {
  sp_module_entry_close_files(module);
  sp_unwind_rows_dispose(&module->rows);
  sp_symbol_table_dispose(&module->symbols);
  sp_jump_targets_dispose(&module->jumps);
  module->rows_tries = 0;
  module->symbols_tries = 0;
  module->jumps_tries = 0;
  module->symbols_apart = false;
}
