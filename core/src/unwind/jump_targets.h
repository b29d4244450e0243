/* The jumps between the functions of a module. There are two kinds:
 *
 * - A compiler can move a part of a function to another address (.cold). The
 *   unwind information treats this part as a function of its own. Its first
 *   unwind rule is not that of a function's entry, and only its own function
 *   jumps into it.
 * - Any other jump to the start of a function is a tail call. If the target of
 *   a tail call is on the stack, its return address does not show which
 *   function was called. */
#ifndef SP_JUMP_TARGETS_H
#define SP_JUMP_TARGETS_H

#include "unwind/dwarf/unwind_rows.h"
#include "unwind/elf/elf_image.h"

/* A jump from one function to another. Both are distances from `start`. */
typedef struct sp_jump {
  uint32_t to;
  uint32_t from; /* the start of the function that jumps */
} sp_jump;

typedef struct sp_jump_list {
  sp_jump *jumps; /* sorted, without duplicates */
  size_t count;
  size_t capacity;
} sp_jump_list;

typedef struct sp_jump_targets {
  const sp_mem *mem;
  sp_jump_list parts; /* `to` is the start of a part, `from` its function */
  sp_jump_list tails; /* `to` is the start of a function that is called by a
                         tail call */
  uint64_t start;     /* ELF virtual addresses of the code; 0: not read */
  uint64_t limit;
} sp_jump_targets;

void sp_jump_targets_init(sp_jump_targets *targets, const sp_mem *mem);
void sp_jump_targets_dispose(sp_jump_targets *targets);

/* Read all code from `start` to `limit`. `rows` has the starts of the
 * functions. */
spanprof_status sp_jump_targets_read(sp_jump_targets *targets,
                                     const sp_elf_image *image,
                                     const sp_unwind_rows *rows, uint64_t start,
                                     uint64_t limit);

/* If *start, the start of a function according to the unwind information,
 * begins a part of another function, replace it by the start of that function.
 * Returns false if a tail call may have entered the function, or if the code
 * was not read. */
bool sp_jump_targets_entry(const sp_jump_targets *targets, uint64_t *start);

#endif
