/* The functions of a module, by address. Twelve bytes a function stay in
 * memory; the name is read from the file when it is asked for. */
#ifndef SP_SYMBOL_TABLE_H
#define SP_SYMBOL_TABLE_H

#include "elf_image.h"

/* The longest name handed out; C++ ones are cut. */
#define SP_SYMBOL_NAME_MAX 4096

typedef struct sp_symbol {
  uint32_t start; /* less the table's base */
  uint32_t size;  /* 0: to the next symbol */
  uint32_t name;  /* offset in the names */
} sp_symbol;

typedef struct sp_symbol_table {
  const sp_mem *mem;
  uint64_t base;         /* ELF virtual address of the lowest symbol */
  uint64_t names_offset; /* of the names in the file */
  uint64_t names_size;
  sp_symbol *symbols; /* by start, then size */
  size_t count;
  size_t capacity;
  bool complete; /* from .symtab: static functions too */
} sp_symbol_table;

void sp_symbol_table_init(sp_symbol_table *table, const sp_mem *mem);
void sp_symbol_table_dispose(sp_symbol_table *table);

/* Read the functions of .symtab, else of .dynsym, into an empty table. A file
 * without leaves it empty. SPANPROF_ERR_NOMEM, SPANPROF_ERR_FORMAT. */
spanprof_status sp_symbol_table_load(sp_symbol_table *table,
                                     const sp_elf_image *image);

/* Of a `function`: not known. */
#define SP_SYMBOL_NO_FUNCTION UINT64_MAX

/* The function around an ELF virtual address, its name as the file has it;
 * of several names the one with the fewest leading underscores, then the
 * shortest, then the first by byte. `name` holds SP_SYMBOL_NAME_MAX bytes.
 * `image` is the file the table was loaded from. `function` is where unwind
 * information says that the function begins: a symbol of .dynsym without size,
 * which might stand before any number of static functions, does not reach
 * beyond its own. False: none. */
bool sp_symbol_table_find(const sp_symbol_table *table,
                          const sp_elf_image *image, uint64_t address,
                          uint64_t function, char *name, uint64_t *start);

/* As above without reading a name: start and end of the function. */
bool sp_symbol_table_bounds(const sp_symbol_table *table, uint64_t address,
                            uint64_t function, uint64_t *start,
                            uint64_t *limit);

#endif
