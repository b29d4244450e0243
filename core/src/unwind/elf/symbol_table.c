#include "symbol_table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* Number of symbols that are read at a time. */
#define SYMBOL_CHUNK 256

/* Symbols may overlap: a function with several entry points has a symbol for
 * each, and the symbol of the whole function begins before the others. This is
 * the maximum number of preceding symbols that are checked to find one that
 * contains the address. Such functions are hand-written and have few entry
 * points. */
#define SYMBOL_LOOK_BACK 16

/* Maximum number of names of one function. glibc has a function with nine. */
#define SYMBOL_NAMES_MAX 32

static bool symbol_is_function(const Elf64_Sym *symbol) {
  const unsigned type = ELF64_ST_TYPE(symbol->st_info);

  return (type == STT_FUNC || type == STT_GNU_IFUNC) &&
         symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 &&
         symbol->st_value <= INT64_MAX && symbol->st_name != 0;
}

static int symbol_order(const void *a, const void *b) {
  const sp_symbol *left = a, *right = b;

  if (left->start != right->start)
    return left->start < right->start ? -1 : 1;
  if (left->size != right->size)
    return left->size < right->size ? -1 : 1;
  return left->name < right->name ? -1 : left->name > right->name;
}

/* Called for each function symbol of a section. */
typedef spanprof_status (*symbol_fn)(sp_symbol_table *table,
                                     const Elf64_Sym *symbol);

static spanprof_status symbol_each(sp_symbol_table *table,
                                   const sp_elf_image *image,
                                   const sp_elf_section *section,
                                   symbol_fn accept) {
  const uint64_t total = section->size / sizeof(Elf64_Sym);
  spanprof_status st = SPANPROF_OK;
  Elf64_Sym chunk[SYMBOL_CHUNK];
  uint64_t done = 0;

  while (done < total && !st) {
    const size_t n = (size_t)sp_min_u64(total - done, SYMBOL_CHUNK);
    size_t i;

    if (!sp_elf_image_read(image, section->offset + done * sizeof *chunk, chunk,
                           n * sizeof *chunk))
      return SPANPROF_ERR_FORMAT;
    for (i = 0; i < n && !st; i++)
      if (symbol_is_function(&chunk[i]))
        st = accept(table, &chunk[i]);
    done += n;
  }
  return st;
}

static spanprof_status symbol_lowest(sp_symbol_table *table,
                                     const Elf64_Sym *symbol) {
  table->base = sp_min_u64(table->base, symbol->st_value);
  return SPANPROF_OK;
}

static spanprof_status symbol_add(sp_symbol_table *table,
                                  const Elf64_Sym *symbol) {
  const uint64_t start = symbol->st_value - table->base;
  spanprof_status st;

  if (start > UINT32_MAX)
    return SPANPROF_OK;
  st = sp_mem_reserve(table->mem, (void **)&table->symbols, &table->capacity,
                      table->count + 1, sizeof *table->symbols);
  if (!st)
    table->symbols[table->count++] = (sp_symbol){
        .start = (uint32_t)start,
        .size = (uint32_t)sp_min_u64(symbol->st_size, UINT32_MAX),
        .name = symbol->st_name,
    };
  return st;
}

static spanprof_status symbol_section(sp_symbol_table *table,
                                      const sp_elf_image *image,
                                      uint32_t type) {
  sp_elf_section section, names;
  spanprof_status st;

  if (!sp_elf_image_section_typed(image, type, &section) ||
      !sp_elf_image_section(image, section.link, &names) ||
      section.item_bytes != sizeof(Elf64_Sym))
    return SPANPROF_OK;
  table->names_offset = names.offset;
  table->names_size = names.size;
  table->base = UINT64_MAX;
  st = symbol_each(table, image, &section, symbol_lowest);
  if (!st)
    st = symbol_each(table, image, &section, symbol_add);
  return st;
}

static void symbol_table_finish(sp_symbol_table *table) {
  const size_t bytes = table->count * sizeof *table->symbols;
  void *smaller;

  if (table->count == 0)
    return;
  qsort(table->symbols, table->count, sizeof *table->symbols, symbol_order);
  smaller = sp_mem_resize(table->mem, table->symbols, bytes);
  if (!smaller)
    return; /* without memory, the larger array stays */
  table->symbols = smaller;
  table->capacity = table->count;
}

/* The index of the first symbol that starts after `offset`. */
static size_t symbol_after(const sp_symbol_table *table, uint32_t offset) {
  size_t low = 0, high = table->count;

  while (low < high) {
    const size_t middle = low + (high - low) / 2;

    if (table->symbols[middle].start <= offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static uint64_t symbol_limit(const sp_symbol_table *table, size_t index,
                             size_t after) {
  const sp_symbol *symbol = &table->symbols[index];

  if (symbol->size > 0)
    return (uint64_t)symbol->start + symbol->size;
  return after < table->count ? table->symbols[after].start
                              : (uint64_t)symbol->start + 1;
}

/* Find the innermost symbol that contains an address. If several symbols have
 * the same start, the last one is used. */
static bool symbol_around(const sp_symbol_table *table, uint64_t address,
                          uint64_t function, size_t *index, uint64_t *limit) {
  size_t after, i, looked;
  uint32_t offset;

  if (table->count == 0 || address < table->base ||
      address - table->base > UINT32_MAX)
    return false;
  offset = (uint32_t)(address - table->base);
  after = symbol_after(table, offset);
  for (i = after, looked = 0; i > 0 && looked < SYMBOL_LOOK_BACK; looked++) {
    i--;
    if (table->symbols[i].size == 0 && !table->complete &&
        (function == SP_SYMBOL_NO_FUNCTION ||
         table->base + table->symbols[i].start < function))
      continue;
    *limit = symbol_limit(table, i, after);
    if (offset < *limit) {
      *index = i;
      return true;
    }
  }
  return false;
}

/* Read a symbol's name, without its version ("memcpy@@GLIBC_2.14"). */
static bool symbol_name(const sp_symbol_table *table, const sp_elf_image *image,
                        uint32_t name, char *out) {
  uint64_t size;
  size_t done = 0;
  char *at;

  if (name >= table->names_size)
    return false;
  size = sp_min_u64(table->names_size - name, SP_SYMBOL_NAME_MAX);
  for (;;) {
    const size_t piece = (size_t)sp_min_u64(size - done, done ? size : 128);

    if (!sp_elf_image_read(image, table->names_offset + name + done, out + done,
                           piece))
      return false;
    done += piece;
    if (memchr(out + done - piece, '\0', piece))
      break;
    if (done == size) {
      out[done - 1] = '\0';
      break;
    }
  }
  at = strchr(out, '@');
  if (at && at != out)
    *at = '\0';
  return out[0] != '\0';
}

/* Returns a negative number if `a` is the better name for a function. */
static int symbol_name_order(const char *a, const char *b) {
  const size_t a_underscores = strspn(a, "_"), b_underscores = strspn(b, "_");
  const size_t a_size = strlen(a), b_size = strlen(b);

  if (a_underscores != b_underscores)
    return a_underscores < b_underscores ? -1 : 1;
  if (a_size != b_size)
    return a_size < b_size ? -1 : 1;
  return strcmp(a, b);
}

void sp_symbol_table_init(sp_symbol_table *table, const sp_mem *mem) {
  *table = (sp_symbol_table){.mem = mem};
}

void sp_symbol_table_dispose(sp_symbol_table *table) {
  sp_mem_free(table->mem, table->symbols);
  sp_symbol_table_init(table, table->mem);
}

spanprof_status sp_symbol_table_load(sp_symbol_table *table,
                                     const sp_elf_image *image) {
  spanprof_status st = symbol_section(table, image, SHT_SYMTAB);

  table->complete = table->count > 0;
  if (!st && !table->complete) {
    st = symbol_section(table, image, SHT_DYNSYM);
  }
  if (st) {
    sp_symbol_table_dispose(table);
    return st;
  }
  symbol_table_finish(table);
  return SPANPROF_OK;
}

bool sp_symbol_table_find(const sp_symbol_table *table,
                          const sp_elf_image *image, uint64_t address,
                          uint64_t function, char *name, uint64_t *start) {
  char other[SP_SYMBOL_NAME_MAX];
  bool found = false;
  size_t index, i, tried;
  uint64_t limit;

  if (!symbol_around(table, address, function, &index, &limit))
    return false;
  for (i = index, tried = 0; tried < SYMBOL_NAMES_MAX; i--, tried++) {
    if (table->symbols[i].start != table->symbols[index].start)
      break;
    if (symbol_name(table, image, table->symbols[i].name, other) &&
        (!found || symbol_name_order(other, name) < 0)) {
      memcpy(name, other, strlen(other) + 1);
      found = true;
    }
    if (i == 0)
      break;
  }
  *start = table->base + table->symbols[index].start;
  return found;
}

bool sp_symbol_table_bounds(const sp_symbol_table *table, uint64_t address,
                            uint64_t function, uint64_t *start,
                            uint64_t *limit) {
  size_t index;

  if (!symbol_around(table, address, function, &index, limit))
    return false;
  *start = table->base + table->symbols[index].start;
  *limit += table->base;
  return true;
}
