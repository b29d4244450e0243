/* Unwinds copied stacks to native frames, and finds the frames' names. Only the
 * collector's thread may use it; no function is signal-safe. */
#ifndef SP_UNWINDER_H
#define SP_UNWINDER_H

#include "unwind/dwarf/registers.h"
#include "util/memory/mem.h"

typedef struct sp_unwinder sp_unwinder;

typedef struct sp_stack_slice {
  sp_registers registers;
  /* Address of bytes[0]: the interrupted sp, or better, SP_RED_ZONE_BYTES below
   * it. */
  uint64_t base;
  const void *bytes; /* aligned to 8 */
  size_t size;
  bool whole; /* the slice reaches the stack's outer end */
} sp_stack_slice;

typedef struct sp_native_frame {
  uint32_t module; /* a number for sp_unwinder_module(); 0: in no module */
  /* ELF virtual address, or `pc` if `module` is 0. A caller's address is inside
   * its call instruction (return address - 1). */
  uint64_t address;
  uint64_t pc; /* run-time address of `address` */
} sp_native_frame;

typedef enum sp_unwind_end {
  SP_UNWIND_COMPLETE, /* the walk reached the outermost frame */
  SP_UNWIND_CUT,      /* the slice or `max` ended the walk */
  SP_UNWIND_NO_INFO,  /* the walk reached code without unwind information */
} sp_unwind_end;

typedef struct sp_module {
  const char *path;     /* "[vdso]" for the vDSO */
  const char *build_id; /* lowercase hex, "" if there is none */
  uint64_t start;       /* ELF virtual address of the executable segment */
  uint64_t limit;
  uint64_t file_offset;
} sp_module;

spanprof_status sp_unwinder_new(sp_unwinder **out, const sp_mem *mem);
void sp_unwinder_free(sp_unwinder *unwinder); /* `unwinder` may be NULL */

/* Update the list of modules, which is cheap if nothing changed. The collector
 * calls this function once in each round. Samples of an unloaded module can be
 * unwound until the second call after the unloading. Holds the loader's lock
 * during one dl_iterate_phdr(). A module that cannot be read causes shorter
 * stacks, never a failure. */
void sp_unwinder_refresh(sp_unwinder *unwinder);

/* Update the list of modules like sp_unwinder_refresh(), but do not age
 * unloaded modules. If a module was loaded at the address of an unloaded one,
 * later lookups find the new module. */
void sp_unwinder_scan(sp_unwinder *unwinder);

/* Unwind the stack in `slice`. Writes at most `max` (> 0) frames, innermost
 * first. Returns their number, which is at least 1, because the first frame is
 * the interrupted pc. Reads only the slice and the unwinder's own tables. If an
 * address is in no known module, it looks for new modules. */
size_t sp_unwinder_walk(sp_unwinder *unwinder, const sp_stack_slice *slice,
                        sp_native_frame *out, size_t max, sp_unwind_end *end);

/* The module with this number, or NULL for 0. Valid until
 * sp_unwinder_close_files(), even after the module was unloaded. */
const sp_module *sp_unwinder_module(const sp_unwinder *unwinder,
                                    uint32_t module);

/* Returns the number of the module at a run-time address, 0 if there is none.
 */
uint32_t sp_unwinder_module_at(const sp_unwinder *unwinder, uint64_t address);

/* The demangled name of the function at an ELF virtual address, valid until the
 * next call. Returns false if the function has no name; *start is then the
 * start of the function according to the unwind information, or 0. Files stay
 * open until sp_unwinder_close_files(). */
bool sp_unwinder_symbol(sp_unwinder *unwinder, uint32_t module,
                        uint64_t address, const char **name, uint64_t *start);

/* Find the ELF virtual address at which the function at an address begins.
 * Returns false if this address is not known, or if a tail call may have
 * entered the function. */
bool sp_unwinder_function(sp_unwinder *unwinder, uint32_t module,
                          uint64_t address, uint64_t *start);

/* Is the instruction before the return address `address` + 1 a call by a
 * pointer, such as call *%rax? A call that reads the address of a fixed
 * function from the module's own table (GOT) does not count. */
bool sp_unwinder_calls_by_pointer(sp_unwinder *unwinder, uint32_t module,
                                  uint64_t address);

/* Could the module not be read completely since the last
 * sp_unwinder_close_files(), because memory or descriptors were missing? Its
 * data may become readable after the next sp_unwinder_close_files(). */
bool sp_unwinder_incomplete(const sp_unwinder *unwinder, uint32_t module);

/* Would sp_unwinder_symbol() find a name? This does not read the name. */
bool sp_unwinder_named(sp_unwinder *unwinder, uint32_t module,
                       uint64_t address);

/* Close the files from which names were read, and remove the modules that were
 * unloaded; their numbers become invalid. */
void sp_unwinder_close_files(sp_unwinder *unwinder);

#endif
