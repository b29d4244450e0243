/* Unwinds a copied stack with libunwind, for frames that unwind rows
 * (unwind_rows.h) cannot express. It reads the copied slice of the stack and
 * the modules' files, never the process's memory. libunwind is loaded when it
 * is first needed, so that its _Unwind_* functions never take precedence over
 * libgcc's. */
#ifndef SP_REMOTE_UNWIND_H
#define SP_REMOTE_UNWIND_H

#include "module_list.h"

typedef struct sp_remote_unwind sp_remote_unwind;

/* Create an unwinder for the modules of `list`, which outlives it. Returns
 * SPANPROF_ERR_UNSUPPORTED if libunwind is not available, or
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_remote_unwind_new(sp_remote_unwind **out,
                                     const sp_module_list *list,
                                     const sp_mem *mem);
void sp_remote_unwind_free(sp_remote_unwind *remote); /* `remote` may be NULL */

/* Walk the stack. Writes at most `max` (> 0) run-time addresses, innermost
 * first; the addresses of callers are return addresses. Returns the number of
 * addresses. */
size_t sp_remote_unwind_walk(sp_remote_unwind *remote,
                             const sp_stack_slice *slice, uint64_t *out,
                             size_t max, sp_unwind_end *end);

#endif
