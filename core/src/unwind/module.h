/* One module: an executable, a shared object or the vDSO, whether loaded now
 * or once. Rows and symbols are read from its file when they are first needed,
 * and only if the file is still the one that was loaded. */
#ifndef SP_MODULE_H
#define SP_MODULE_H

#include "unwind/dwarf/unwind_rows.h"
#include "unwind/elf/elf_image.h"
#include "unwind/elf/symbol_table.h"
#include "unwinder.h"

typedef enum sp_module_kind {
  SP_MODULE_FILE,
  SP_MODULE_MAIN, /* the program: also there when its file was deleted */
  SP_MODULE_VDSO, /* read from memory, of which `bytes` is a copy */
} sp_module_kind;

/* What the loader says of a module; the texts are borrowed. */
typedef struct sp_module_facts {
  sp_module_kind kind;
  const char *path;
  const char *build_id;
  uint64_t segments_hash; /* of the program headers in memory */
  uint64_t start;         /* as in sp_module */
  uint64_t limit;
  uint64_t file_offset;
  const void *bytes; /* of the vDSO */
  size_t byte_count;
  const char *debug_directory; /* of separate debug files; outlives the entry */
} sp_module_facts;

typedef enum sp_module_file_state {
  SP_MODULE_FILE_UNTRIED,
  SP_MODULE_FILE_OPEN,
  SP_MODULE_FILE_REFUSED, /* until the next sp_module_entry_close_files() */
} sp_module_file_state;

typedef struct sp_module_file {
  sp_module_file_state state;
  sp_elf_image image; /* where it is open */
} sp_module_file;

typedef struct sp_module_entry {
  const sp_mem *mem;
  sp_module view;
  sp_module_kind kind;
  uint64_t segments_hash;
  char *path;
  char *build_id;
  void *bytes;
  size_t byte_count;
  const char *debug_directory;
  uint64_t code_address; /* where it was last loaded; 0: not loaded */
  /* The list's. */
  uint32_t number;
  bool found; /* a mapping leads to it */
  /* Filled on demand. */
  sp_unwind_rows rows;
  sp_symbol_table symbols;
  sp_elf_unwind unwind;
  bool unwind_known;
  uint8_t rows_tries; /* SP_MODULE_KNOWN: done */
  uint8_t symbols_tries;
  bool lacking;       /* memory or descriptors, since the last rest */
  bool symbols_apart; /* in the separate debug file */
  /* Open until sp_module_entry_close_files(). */
  sp_module_file code;  /* the module's own file */
  sp_module_file debug; /* the separate debug file */
} sp_module_entry;

/* Of a `_tries` field: read, whether there was something or not. */
#define SP_MODULE_KNOWN 255

spanprof_status sp_module_entry_new(sp_module_entry **out,
                                    const sp_module_facts *facts,
                                    const sp_mem *mem);
void sp_module_entry_free(sp_module_entry *module); /* NULL is fine */

/* Whether `facts` are this module's. */
bool sp_module_entry_is(const sp_module_entry *module,
                        const sp_module_facts *facts);

/* The module's file, or its memory; NULL: it cannot be read, or is another one
 * by now. Stays open until sp_module_entry_close_files(), since opening can be
 * dear: without a build id the process's map is read to see that the file is
 * still the one that was loaded. */
const sp_elf_image *sp_module_entry_image(sp_module_entry *module);

/* Its rows, empty where there are none to be had. */
const sp_unwind_rows *sp_module_entry_rows(sp_module_entry *module);

/* Where its unwind information lies; NULL: there is none, or it cannot be read.
 */
const sp_elf_unwind *sp_module_entry_unwind(sp_module_entry *module);

/* As sp_symbol_table_find(). False: *start is where unwind information says
 * that the function begins, or 0. */
bool sp_module_entry_symbol(sp_module_entry *module, uint64_t address,
                            char *name, uint64_t *start);

/* Whether sp_module_entry_symbol() would find a name, without reading it. */
bool sp_module_entry_named(sp_module_entry *module, uint64_t address);

/* As sp_symbol_table_bounds(), of no function known. */
bool sp_module_entry_bounds(sp_module_entry *module, uint64_t address,
                            uint64_t *start, uint64_t *limit);

/* Read code or other constants by ELF virtual address. */
bool sp_module_entry_read(sp_module_entry *module, uint64_t vaddr, void *out,
                          size_t size);

/* Close what is open. True: something was not read for want of memory or
 * descriptors, and will be tried again: what was concluded without it is to be
 * forgotten. */
bool sp_module_entry_close_files(sp_module_entry *module);

/* Free what was filled on demand; it is read again when needed again. */
void sp_module_entry_forget(sp_module_entry *module);

#endif
