/* Converts .eh_frame, the unwind information of a module, to unwind rows
 * (unwind_rows.h). */
#ifndef SP_EH_FRAME_H
#define SP_EH_FRAME_H

#include "unwind_rows.h"

typedef struct sp_eh_frame {
  const uint8_t *bytes;
  size_t size;
  uint64_t vaddr; /* virtual address of bytes[0] */
  /* Functions outside [code_start, code_limit) are ignored. */
  uint64_t code_start;
  uint64_t code_limit;
} sp_eh_frame;

/* Add the rows of every function to `rows`, which is empty. Broken entries are
 * skipped, so their code has no unwind information. If it returns
 * SPANPROF_ERR_NOMEM, the rows are incomplete. */
spanprof_status sp_eh_frame_rows(const sp_eh_frame *frame,
                                 sp_unwind_rows *rows);

#endif
