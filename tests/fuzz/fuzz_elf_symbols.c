/* Reads the input as an ELF file: its headers, build id, symbols and unwind
 * rows. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/dwarf/eh_frame.h"
#include "unwind/elf/elf_notes.h"
#include "unwind/elf/symbol_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Check a property that every result must have. */
static void fuzz_must(bool promise) {
  if (!promise)
    abort();
}

static void fuzz_symbols(const sp_elf_image *image) {
  static char name[SP_SYMBOL_NAME_MAX];
  sp_symbol_table table;
  size_t i;

  sp_symbol_table_init(&table, &sp_mem_default);
  if (sp_symbol_table_load(&table, image) != SPANPROF_OK)
    fuzz_must(table.count == 0);
  for (i = 0; i < table.count; i++) {
    const uint64_t address = table.base + table.symbols[i].start;
    uint64_t start = 0, limit = 0;

    fuzz_must(i == 0 || table.symbols[i].start >= table.symbols[i - 1].start);
    if (sp_symbol_table_find(&table, image, address, address, name, &start))
      fuzz_must(start <= address && strlen(name) < sizeof name && name[0]);
    if (sp_symbol_table_bounds(&table, address, address, &start, &limit))
      fuzz_must(start <= address && limit > address);
  }
  sp_symbol_table_dispose(&table);
}

static void fuzz_unwind(const sp_elf_image *image) {
  sp_elf_unwind unwind;
  sp_unwind_rows rows;
  sp_elf_bytes bytes;

  if (!sp_elf_image_unwind(image, &unwind) ||
      sp_elf_image_load(image, unwind.offset, unwind.size, &bytes) !=
          SPANPROF_OK)
    return;
  sp_unwind_rows_init(&rows, &sp_mem_default);
  (void)sp_eh_frame_rows(
      &(sp_eh_frame){bytes.data, bytes.size, unwind.vaddr, 0, UINT64_MAX},
      &rows);
  sp_unwind_rows_dispose(&rows);
  sp_elf_bytes_dispose(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char build_id[SP_ELF_BUILD_ID_SIZE];
  uint64_t word;
  sp_elf_image image;

  (void)sp_elf_notes_build_id(data, size, build_id);
  fuzz_must(strlen(build_id) < sizeof build_id);
  if (sp_elf_image_wrap(&image, data, size, &sp_mem_default) != SPANPROF_OK)
    return 0;
  sp_elf_image_build_id(&image, build_id);
  fuzz_must(strlen(build_id) < sizeof build_id);
  if (image.segment_count > 0)
    (void)sp_elf_image_read_vaddr(&image, image.segments[0].vaddr, &word,
                                  sizeof word);
  fuzz_symbols(&image);
  fuzz_unwind(&image);
  sp_elf_image_dispose(&image);
  return 0;
}
