/* The functions of a module, by address. Each function uses twelve bytes of
 * memory; its name is read from the file when it is needed. */
#ifndef SP_SYMBOL_TABLE_H
#define SP_SYMBOL_TABLE_H

#include "elf_image.h"

/* Maximum length of a returned name. Some C++ names are longer; they are
 * truncated. */
#define SP_SYMBOL_NAME_MAX 4096

typedef struct sp_symbol {
  uint32_t start; /* relative to the `base` of the table */
  uint32_t size;  /* 0: the symbol extends to the next one */
  uint32_t name;  /* offset in the string table */
} sp_symbol;

typedef struct sp_symbol_table {
  const sp_mem *mem;
  uint64_t base;         /* ELF virtual address of the lowest symbol */
  uint64_t names_offset; /* file offset of the string table */
  uint64_t names_size;
  sp_symbol *symbols; /* sorted by start, then size */
  size_t count;
  size_t capacity;
  bool complete; /* read from .symtab, so static functions are included */
} sp_symbol_table;

void sp_symbol_table_init(sp_symbol_table *table, const sp_mem *mem);
void sp_symbol_table_dispose(sp_symbol_table *table);

/* Read the functions of .symtab, or, if there is none, of .dynsym, into an
 * empty table. If the file has neither, the table stays empty. Returns
 * SPANPROF_ERR_FORMAT if the file is broken, or SPANPROF_ERR_NOMEM. */
spanprof_status sp_symbol_table_load(sp_symbol_table *table,
                                     const sp_elf_image *image);

/* A value of `function` that means: unknown. */
#define SP_SYMBOL_NO_FUNCTION UINT64_MAX

/* Find the function that contains an ELF virtual address, and its name as it is
 * in the file. If the function has several names, the one with the fewest
 * leading underscores is chosen, then the shortest, then the first in byte
 * order. `name` has SP_SYMBOL_NAME_MAX bytes. `image` is the file from which
 * the table was loaded. `function` is the start of the function according to
 * unwind information. It is needed because any number of static functions may
 * follow a .dynsym symbol without a size; such a symbol contains only addresses
 * of its own function. Returns false if no function is found. */
bool sp_symbol_table_find(const sp_symbol_table *table,
                          const sp_elf_image *image, uint64_t address,
                          uint64_t function, char *name, uint64_t *start);

/* Find a function like sp_symbol_table_find(), but return its start and end
 * instead of its name. */
bool sp_symbol_table_bounds(const sp_symbol_table *table, uint64_t address,
                            uint64_t function, uint64_t *start,
                            uint64_t *limit);

#endif
