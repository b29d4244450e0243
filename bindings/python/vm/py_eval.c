#include "py_eval.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "unwind/module_list.h"

#define EVAL_NAME "_PyEval_EvalFrameDefault"

/* Prefix of the names of functions that execute one instruction each, from
 * CPython 3.14 on (Python/generated_cases.c.h, if it is built with
 * Py_TAIL_CALL_INTERP). */
#define EVAL_TAIL_NAME "_TAIL_CALL_"

/* Number of entries of the interpreter's table of these functions: one for each
 * opcode (Python/opcode_targets.h). */
#define EVAL_TAIL_COUNT 256

/* A function of at least this size contains the code of all instructions: in
 * CPython 3.10 to 3.13 it has 37 to 61 KB (gcc 12). A function that calls a
 * function per instruction has some hundred bytes. */
#define EVAL_LOOP_BYTES_MIN 16384

typedef struct eval_search {
  sp_module_entry *module;
  uint64_t bias; /* run-time address minus ELF virtual address */
  spanprof_range *ranges;
  size_t count; /* number of ranges found; `ranges` has the first
                   SPANPROF_RUNTIME_RANGES_MAX */
  bool tail_named;
} eval_search;

static size_t ranges_stored(const eval_search *search) {
  return (size_t)sp_min_u64(search->count, SPANPROF_RUNTIME_RANGES_MAX);
}

static void range_add(eval_search *search, uint64_t start, uint64_t end) {
  const size_t kept = ranges_stored(search);
  size_t i;

  for (i = 0; i < kept; i++) {
    spanprof_range *range = &search->ranges[i];

    if (start >= range->start && end <= range->end)
      return;
    if (start <= range->end && end >= range->start) {
      range->start = sp_min_u64(range->start, start);
      range->end = sp_max_u64(range->end, end);
      return;
    }
  }
  if (kept < SPANPROF_RUNTIME_RANGES_MAX)
    search->ranges[kept] = (spanprof_range){.start = start, .end = end};
  search->count++;
}

static bool name_is_tail(const char *name) {
  return strncmp(name, EVAL_TAIL_NAME, sizeof EVAL_TAIL_NAME - 1) == 0;
}

static bool name_evaluates(const char *name) {
  const size_t length = sizeof EVAL_NAME - 1;

  return strncmp(name, EVAL_NAME, length) == 0 &&
         (name[length] == '\0' || name[length] == '.');
}

/* Add the functions of the eval loop that have symbols. A stripped program has
 * only the symbol EVAL_NAME. */
static void names_search(eval_search *search) {
  const sp_elf_image *image = sp_module_entry_image(search->module);
  sp_symbol_table symbols;
  sp_elf_bytes names;
  size_t i;

  if (!image)
    return;
  sp_symbol_table_init(&symbols, &sp_mem_paged);
  if (!sp_symbol_table_load(&symbols, image) &&
      !sp_elf_image_load(image, symbols.names_offset, symbols.names_size,
                         &names)) {
    const char *text = (const char *)names.data;

    for (i = 0; i < symbols.count; i++) {
      const sp_symbol *symbol = &symbols.symbols[i];
      uint64_t start = search->bias + symbols.base + symbol->start;

      if (symbol->size > 0 && symbol->name < names.size &&
          memchr(text + symbol->name, 0, names.size - symbol->name)) {
        const bool tail = name_is_tail(text + symbol->name);

        search->tail_named |= tail;
        if (tail || name_evaluates(text + symbol->name))
          range_add(search, start, start + symbol->size);
      }
    }
    sp_elf_bytes_dispose(&names);
  }
  sp_symbol_table_dispose(&symbols);
}

static uint64_t rows_function_end(const sp_unwind_rows *rows, uint64_t start) {
  uint64_t function;
  uint32_t i;

  for (i = 0; i < rows->count; i++) {
    uint64_t pc = sp_unwind_rows_pc(rows, i);

    if (pc > start &&
        (!sp_unwind_rows_function(rows, pc, &function) || function != start))
      return pc;
  }
  return start;
}

#if defined(__x86_64__)
#define JUMP_STEP 1

/* Returns the target of the near jump at `at`, conditional or not, or 0 if the
 * bytes are not such a jump. Intel SDM volume 2, JMP and Jcc. */
static uint64_t jump_target(const uint8_t *at) {
  size_t opcode_bytes = at[0] == 0xe9 ? 1 : 2;
  int32_t offset;

  if (at[0] != 0xe9 && !(at[0] == 0x0f && (at[1] & 0xf0) == 0x80))
    return 0;
  memcpy(&offset, at + opcode_bytes, sizeof offset);
  return (uint64_t)(uintptr_t)at + opcode_bytes + sizeof offset +
         (uint64_t)(int64_t)offset;
}
#else
#define JUMP_STEP 4

/* Returns the target of the branch at `at`, or 0 if the word is not a branch B,
 * B.cond, CBZ or CBNZ. Arm ARM, C4.1.66, "Branches". */
static uint64_t jump_target(const uint8_t *at) {
  uint32_t code;
  int64_t words;

  memcpy(&code, at, sizeof code);
  if ((code & 0xfc000000) == 0x14000000)
    words = (int32_t)(code << 6) >> 6;
  else if ((code & 0xff000010) == 0x54000000 ||
           (code & 0x7e000000) == 0x34000000)
    words = (int32_t)(code << 8) >> 13;
  else
    return 0;
  return (uint64_t)(uintptr_t)at + (uint64_t)(words * 4);
}
#endif

/* Add the parts of the eval loop's function that the compiler placed elsewhere:
 * they are the targets of jumps out of `from`, a known part of the function. A
 * target that is the entry of a function is another function and is not added.
 */
static void jumps_search(eval_search *search, const spanprof_range *from,
                         const sp_mapping *mapping) {
  const sp_unwind_rows *rows = sp_module_entry_rows(search->module);
  const uint8_t *at = (const uint8_t *)(uintptr_t)from->start;
  const uint8_t *last = (const uint8_t *)(uintptr_t)from->end - 6;
  uint64_t start;

  for (; at <= last; at += JUMP_STEP) {
    uint64_t target = jump_target(at);

    if (target < mapping->code_start || target >= mapping->code_limit ||
        (target >= from->start && target < from->end) ||
        !sp_unwind_rows_function(rows, target - search->bias, &start) ||
        sp_unwind_rule_enters(sp_unwind_rows_find(rows, start)))
      continue;
    range_add(search, search->bias + start,
              search->bias + rows_function_end(rows, start));
  }
}

/* Returns whether a word of constant data is the address of a function of the
 * module. */
static bool word_is_function(const eval_search *search,
                             const sp_mapping *mapping, uint64_t word) {
  uint64_t start;

  return word >= mapping->code_start && word < mapping->code_limit &&
         sp_unwind_rows_function(sp_module_entry_rows(search->module),
                                 word - search->bias, &start) &&
         start == word - search->bias;
}

/* Search `words` for the table of the functions of instructions, and add these
 * functions. It is the only table with EVAL_TAIL_COUNT consecutive addresses of
 * functions. */
static void table_search(eval_search *search, const sp_mapping *mapping,
                         const uint64_t *words, size_t count) {
  const sp_unwind_rows *rows = sp_module_entry_rows(search->module);
  size_t row = 0, i, k;

  for (i = 0; i < count; i++) {
    row = word_is_function(search, mapping, words[i]) ? row + 1 : 0;
    if (row == EVAL_TAIL_COUNT)
      for (k = i + 1 - row; k <= i; k++)
        range_add(search, words[k],
                  search->bias +
                      rows_function_end(rows, words[k] - search->bias));
  }
}

/* Returns whether the function at `eval` is so large that it contains the code
 * of all instructions. */
static bool loop_is_whole(const eval_search *search, uint64_t eval) {
  const uint64_t start = eval - search->bias;

  return rows_function_end(sp_module_entry_rows(search->module), start) -
             start >=
         EVAL_LOOP_BYTES_MIN;
}

/* Find the functions of instructions in a stripped program by the table of
 * their addresses. Reads all constants of the interpreter, several MiB, which
 * then count as resident memory of the process. */
static void tables_search(eval_search *search, const sp_mapping *mapping) {
  const sp_elf_image *image = sp_module_entry_image(search->module);
  size_t i;

  for (i = 0; image && i < image->segment_count; i++) {
    const sp_elf_segment *segment = &image->segments[i];
    uint64_t start = (search->bias + segment->vaddr + 7) & ~UINT64_C(7);
    uint64_t end = search->bias + segment->vaddr + segment->file_bytes;

    if (segment->type == PT_LOAD && (segment->flags & PF_R) &&
        !(segment->flags & PF_X) && end > start)
      table_search(search, mapping, (const uint64_t *)(uintptr_t)start,
                   (size_t)(end - start) / sizeof(uint64_t));
  }
}

size_t py_sp_eval_find(spanprof_range ranges[SPANPROF_RUNTIME_RANGES_MAX]) {
  uint64_t eval = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, EVAL_NAME);
  eval_search search = {.ranges = ranges};
  const sp_mapping *mapping = NULL;
  sp_module_list modules;
  spanprof_range found;
  size_t i;

  sp_module_list_init(&modules, &sp_mem_paged);
  if (eval != 0 && !sp_module_list_refresh(&modules))
    mapping = sp_module_list_find(&modules, eval);
  if (mapping) {
    search.module = sp_module_list_get(&modules, mapping->module);
    search.bias = mapping->bias;
    names_search(&search);
    if (!search.tail_named && !loop_is_whole(&search, eval))
      tables_search(&search, mapping);
    for (i = 0; i < ranges_stored(&search); i++) {
      found = ranges[i];
      if (eval >= found.start && eval < found.end)
        jumps_search(&search, &found, mapping);
    }
  }
  sp_module_list_dispose(&modules);
  return search.count;
}
