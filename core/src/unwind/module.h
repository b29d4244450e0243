/* A module: an executable, a shared object or the vDSO, which is or was loaded.
 * Its unwind rows (unwind_rows.h) and symbols are read from its file when they
 * are first needed, and only if the file is still the one that was loaded. */
#ifndef SP_MODULE_H
#define SP_MODULE_H

#include "jump_targets.h"
#include "unwind/dwarf/unwind_rows.h"
#include "unwind/elf/elf_image.h"
#include "unwind/elf/symbol_table.h"
#include "unwinder.h"

typedef enum sp_module_kind {
  SP_MODULE_FILE,
  SP_MODULE_MAIN, /* the program; readable even if its file was deleted */
  SP_MODULE_VDSO, /* read from memory; `bytes` is a copy of it */
} sp_module_kind;

/* The loader's description of a module. The texts are borrowed. */
typedef struct sp_module_facts {
  sp_module_kind kind;
  const char *path;
  const char *build_id;
  uint64_t segments_hash; /* hash of the program headers in memory */
  /* These three fields have the same meaning as in sp_module. */
  uint64_t start;
  uint64_t limit;
  uint64_t file_offset;
  const void *bytes; /* the vDSO's memory */
  size_t byte_count;
  /* Where separate debug files are. The text outlives the entry. */
  const char *debug_directory;
} sp_module_facts;

typedef enum sp_module_file_state {
  SP_MODULE_FILE_UNTRIED,
  SP_MODULE_FILE_OPEN,
  /* Not tried again until sp_module_entry_close_files(). */
  SP_MODULE_FILE_REFUSED,
} sp_module_file_state;

typedef struct sp_module_file {
  sp_module_file_state state;
  sp_elf_image image; /* valid while the state is SP_MODULE_FILE_OPEN */
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
  /* Address at which the module was last loaded; 0: it is not loaded. */
  uint64_t code_address;
  /* These fields are used by the module list. */
  uint32_t number;
  bool found; /* a mapping of the list refers to the module */
  /* These fields are filled when they are first needed. */
  sp_unwind_rows rows;
  sp_symbol_table symbols;
  sp_jump_targets jumps;
  sp_elf_unwind unwind;
  bool unwind_known;
  uint8_t rows_tries; /* number of attempts, or SP_MODULE_KNOWN */
  uint8_t symbols_tries;
  uint8_t jumps_tries;
  bool incomplete;    /* a read failed since sp_module_entry_close_files() */
  bool symbols_apart; /* symbols are read from the separate debug file */
  /* These files stay open until sp_module_entry_close_files(). */
  sp_module_file code;  /* the module's own file */
  sp_module_file debug; /* the separate debug file */
} sp_module_entry;

/* Value of a `_tries` field: reading has finished, even if there was nothing to
 * read. */
#define SP_MODULE_KNOWN 255

spanprof_status sp_module_entry_new(sp_module_entry **out,
                                    const sp_module_facts *facts,
                                    const sp_mem *mem);
void sp_module_entry_free(sp_module_entry *module); /* `module` may be NULL */

/* Do `facts` describe this module? */
bool sp_module_entry_is(const sp_module_entry *module,
                        const sp_module_facts *facts);

/* The module's file or memory. Returns NULL if it cannot be read or is no
 * longer the one that was loaded. It stays open until
 * sp_module_entry_close_files(), because opening can be expensive: without a
 * build id, the process's memory map is read to check that the file is still
 * the loaded one. */
const sp_elf_image *sp_module_entry_image(sp_module_entry *module);

/* The module's unwind rows. There are no rows if the module has no unwind
 * information. */
const sp_unwind_rows *sp_module_entry_rows(sp_module_entry *module);

/* Find the start of the function that contains an address, also if the address
 * is in a part that the compiler has moved away from the function. Returns
 * false if the start is not known, or if a tail call may have entered the
 * function. */
bool sp_module_entry_function(sp_module_entry *module, uint64_t address,
                              uint64_t *start);

/* The place of the module's unwind information. Returns NULL if there is none
 * or if it cannot be read. */
const sp_elf_unwind *sp_module_entry_unwind(sp_module_entry *module);

/* Find the function that contains an address, and its name, with
 * sp_symbol_table_find(). If this returns false, *start is the start of the
 * function according to the unwind information, or 0. */
bool sp_module_entry_symbol(sp_module_entry *module, uint64_t address,
                            char *name, uint64_t *start);

/* Would sp_module_entry_symbol() find a name? This does not read the name. */
bool sp_module_entry_named(sp_module_entry *module, uint64_t address);

/* Find start and end of the function that contains an address, with
 * sp_symbol_table_bounds(). */
bool sp_module_entry_bounds(sp_module_entry *module, uint64_t address,
                            uint64_t *start, uint64_t *limit);

/* Read code or other constants at an ELF virtual address. */
bool sp_module_entry_read(sp_module_entry *module, uint64_t vaddr, void *out,
                          size_t size);

/* Close the open files. Returns true if a read failed because memory or
 * descriptors were missing. The read will be tried again, so the caller must
 * discard conclusions drawn without its data. */
bool sp_module_entry_close_files(sp_module_entry *module);

/* Free the data that was read on demand. It is read again when needed. */
void sp_module_entry_unload(sp_module_entry *module);

#endif
