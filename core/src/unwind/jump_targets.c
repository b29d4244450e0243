#include "jump_targets.h"

#include <stdlib.h>
#include <string.h>

#define JUMP_CHUNK_BYTES 65536

/* Maximum number of bytes of a jump. */
#define JUMP_BYTES 6

typedef enum jump_kind { JUMP_NONE, JUMP_NEAR, JUMP_FAR } jump_kind;

/* The state of a scan of code. `from` and `from_end` are the bounds of the
 * current function. */
typedef struct jump_scan {
  sp_jump_targets *targets;
  const sp_unwind_rows *rows;
  uint64_t from;
  uint64_t from_end;
} jump_scan;

#if defined(__x86_64__)
#define JUMP_STEP 1

/* Find the target of the jump to a fixed address that begins with `code` at the
 * address `vaddr`. JUMP_NEAR is jmp rel8, JUMP_FAR is jmp rel32 or jcc rel32
 * (Intel SDM 2A, JMP and Jcc). Compilers do not use jcc rel8 for a tail call.
 */
static jump_kind jump_read(const uint8_t *code, uint64_t vaddr,
                           uint64_t *target) {
  const size_t opcode_bytes = code[0] == 0x0f ? 2 : 1;
  int32_t offset;

  if (code[0] == 0xeb) {
    *target = vaddr + 2 + (uint64_t)(int64_t)(int8_t)code[1];
    return JUMP_NEAR;
  }
  if (code[0] != 0xe9 && !(code[0] == 0x0f && (code[1] & 0xf0) == 0x80))
    return JUMP_NONE;
  memcpy(&offset, code + opcode_bytes, sizeof offset);
  *target = vaddr + opcode_bytes + sizeof offset + (uint64_t)(int64_t)offset;
  return JUMP_FAR;
}
#else
#define JUMP_STEP 4

/* Find the target of the branch at `code`, the code at the address `vaddr`:
 * b, b.cond, cbz or cbnz (Arm ARM DDI 0487J, C4.1.67). */
static jump_kind jump_read(const uint8_t *code, uint64_t vaddr,
                           uint64_t *target) {
  uint32_t word;
  int64_t words;

  memcpy(&word, code, sizeof word);
  if ((word & 0xfc000000) == 0x14000000)
    words = (int32_t)(word << 6) >> 6;
  else if ((word & 0xff000010) == 0x54000000 ||
           (word & 0x7e000000) == 0x34000000)
    words = (int32_t)(word << 8) >> 13;
  else
    return JUMP_NONE;
  *target = vaddr + (uint64_t)(words * 4);
  return JUMP_FAR;
}
#endif

void sp_jump_targets_init(sp_jump_targets *targets, const sp_mem *mem) {
  *targets = (sp_jump_targets){.mem = mem};
}

void sp_jump_targets_dispose(sp_jump_targets *targets) {
  sp_mem_free(targets->mem, targets->parts.jumps);
  sp_mem_free(targets->mem, targets->tails.jumps);
  sp_jump_targets_init(targets, targets->mem);
}

static spanprof_status list_add(const sp_mem *mem, sp_jump_list *list,
                                sp_jump jump) {
  spanprof_status st;

  if (list->count > 0 &&
      memcmp(&list->jumps[list->count - 1], &jump, sizeof jump) == 0)
    return SPANPROF_OK;
  st = sp_mem_reserve(mem, (void **)&list->jumps, &list->capacity,
                      list->count + 1, sizeof *list->jumps);
  if (!st)
    list->jumps[list->count++] = jump;
  return st;
}

/* Add a jump from the current function to `target` if it is a tail call, or if
 * it leads into a part of a function that the compiler has moved away. Such a
 * jump is always a far one, and may lead to any address in the part. Near jumps
 * into a part are ignored, because many bytes only look like a near jump. */
static spanprof_status jump_add(jump_scan *scan, jump_kind kind,
                                uint64_t target) {
  sp_jump_targets *targets = scan->targets;
  uint64_t start, end;
  sp_jump jump;

  if (target < targets->start || target >= targets->limit ||
      !sp_unwind_rows_bounds(scan->rows, target, &start, &end))
    return SPANPROF_OK;
  jump = (sp_jump){.to = (uint32_t)(start - targets->start),
                   .from = (uint32_t)(scan->from - targets->start)};
  if (!sp_unwind_rule_enters(sp_unwind_rows_find(scan->rows, start)))
    return kind == JUMP_FAR ? list_add(targets->mem, &targets->parts, jump)
                            : SPANPROF_OK;
  return start == target ? list_add(targets->mem, &targets->tails, jump)
                         : SPANPROF_OK;
}

/* Scan `bytes` bytes of code, which begin at `vaddr`. At least JUMP_BYTES more
 * bytes can be read after them. */
static spanprof_status chunk_read(jump_scan *scan, const uint8_t *code,
                                  size_t bytes, uint64_t vaddr) {
  spanprof_status st = SPANPROF_OK;
  uint64_t target;
  size_t i;

  for (i = 0; i < bytes && !st; i += JUMP_STEP) {
    const jump_kind kind = jump_read(code + i, vaddr + i, &target);

    if (kind == JUMP_NONE || (target >= scan->from && target < scan->from_end &&
                              vaddr + i < scan->from_end))
      continue;
    if (vaddr + i >= scan->from_end &&
        !sp_unwind_rows_bounds(scan->rows, vaddr + i, &scan->from,
                               &scan->from_end))
      continue;
    if (target < scan->from || target >= scan->from_end)
      st = jump_add(scan, kind, target);
  }
  return st;
}

static int jump_compare(const void *a, const void *b) {
  const sp_jump *one = a, *other = b;

  if (one->to != other->to)
    return (one->to > other->to) - (one->to < other->to);
  return (one->from > other->from) - (one->from < other->from);
}

static void list_sort(sp_jump_list *list) {
  size_t kept = 0, i;

  if (list->count > 1)
    qsort(list->jumps, list->count, sizeof *list->jumps, jump_compare);
  for (i = 0; i < list->count; i++)
    if (kept == 0 || jump_compare(&list->jumps[i], &list->jumps[kept - 1]) != 0)
      list->jumps[kept++] = list->jumps[i];
  list->count = kept;
}

/* Returns the first jump to `to`, or NULL. */
static const sp_jump *list_find(const sp_jump_list *list, uint32_t to) {
  size_t low = 0, high = list->count;

  while (low < high) {
    const size_t middle = low + (high - low) / 2;

    if (list->jumps[middle].to < to)
      low = middle + 1;
    else
      high = middle;
  }
  return low < list->count && list->jumps[low].to == to ? &list->jumps[low]
                                                        : NULL;
}

/* Returns the jump into a part, or NULL if no function or several functions
 * jump into the part. */
static const sp_jump *part_find(const sp_jump_list *parts, uint32_t part) {
  const sp_jump *found = list_find(parts, part);

  if (found && found + 1 < parts->jumps + parts->count && found[1].to == part)
    return NULL;
  return found;
}

/* Remove the jumps that lead from a moved part back to the start of its own
 * function, because they are not tail calls. */
static void tails_remove_own(sp_jump_targets *targets) {
  sp_jump_list *tails = &targets->tails;
  size_t kept = 0, i;

  for (i = 0; i < tails->count; i++) {
    const sp_jump *part = part_find(&targets->parts, tails->jumps[i].from);

    if (!part || part->from != tails->jumps[i].to)
      tails->jumps[kept++] = tails->jumps[i];
  }
  tails->count = kept;
}

spanprof_status sp_jump_targets_read(sp_jump_targets *targets,
                                     const sp_elf_image *image,
                                     const sp_unwind_rows *rows, uint64_t start,
                                     uint64_t limit) {
  uint8_t *code = sp_mem_new(targets->mem, JUMP_CHUNK_BYTES + JUMP_BYTES);
  jump_scan scan = {.targets = targets, .rows = rows};
  spanprof_status st = code ? SPANPROF_OK : SPANPROF_ERR_NOMEM;
  uint64_t at;

  targets->start = start;
  targets->limit = limit;
  for (at = start; at < limit && !st; at += JUMP_CHUNK_BYTES) {
    const size_t bytes = (size_t)sp_min_u64(JUMP_CHUNK_BYTES, limit - at);
    const size_t more = (size_t)sp_min_u64(JUMP_BYTES, limit - at - bytes);

    memset(code + bytes, 0, JUMP_BYTES);
    if (!sp_elf_image_read_vaddr(image, at, code, bytes + more))
      st = SPANPROF_ERR_STATE;
    else
      st = chunk_read(&scan, code, bytes, at);
  }
  sp_mem_free(targets->mem, code);
  list_sort(&targets->parts);
  list_sort(&targets->tails);
  tails_remove_own(targets);
  if (st)
    sp_jump_targets_dispose(targets);
  return st;
}

bool sp_jump_targets_entry(const sp_jump_targets *targets, uint64_t *start) {
  const sp_jump *part;

  if (*start < targets->start || *start >= targets->limit)
    return false;
  part = part_find(&targets->parts, (uint32_t)(*start - targets->start));
  if (part)
    *start = targets->start + part->from;
  return !list_find(&targets->tails, (uint32_t)(*start - targets->start));
}
