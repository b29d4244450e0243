/* From a copied stack to native frames, and from those to names. Everything
 * here runs on the collector's thread alone; nothing is signal-safe. */
#ifndef SP_UNWINDER_H
#define SP_UNWINDER_H

#include "unwind/dwarf/registers.h"
#include "util/memory/mem.h"

typedef struct sp_unwinder sp_unwinder;

typedef struct sp_stack_slice {
  sp_registers registers;
  uint64_t base;     /* address that bytes[0] had: the interrupted sp, better
                      * SP_RED_ZONE_BYTES less */
  const void *bytes; /* aligned to 8 */
  size_t size;
  bool whole; /* the slice reaches the stack's outer end */
} sp_stack_slice;

typedef struct sp_native_frame {
  uint32_t module;  /* sp_unwinder_module(); 0: in no module */
  uint64_t address; /* ELF virtual address, or pc where module is 0. Of a
                     * caller: inside its call instruction (return address
                     * less 1) */
  uint64_t pc;      /* the same as a run-time address */
} sp_native_frame;

typedef enum sp_unwind_end {
  SP_UNWIND_COMPLETE, /* reached the outermost frame */
  SP_UNWIND_CUT,      /* the slice or `max` ended first */
  SP_UNWIND_NO_INFO,  /* code without unwind information */
} sp_unwind_end;

typedef struct sp_module {
  const char *path;     /* "[vdso]" for the vDSO */
  const char *build_id; /* lowercase hex, "" where there is none */
  uint64_t start;       /* of the executable segment, ELF virtual address */
  uint64_t limit;
  uint64_t file_offset;
} sp_module;

spanprof_status sp_unwinder_new(sp_unwinder **out, const sp_mem *mem);
void sp_unwinder_free(sp_unwinder *unwinder); /* NULL is fine */

/* Take notice of modules that came and went since the last call; cheap where
 * nothing did. Once per pass of the collector: samples of a module that went
 * are unwound until the second call after that. Takes the loader's lock for the
 * time of one dl_iterate_phdr(). A module that cannot be read gives shorter
 * stacks, never a failure. */
void sp_unwinder_refresh(sp_unwinder *unwinder);

/* The same without that passing of time: a module that took another's place is
 * told apart from then on. */
void sp_unwinder_scan(sp_unwinder *unwinder);

/* Write at most `max` (> 0) frames, innermost first; returns how many (at least
 * 1: the pc). Never reads outside the slice and its own tables. An address in
 * no known module makes it look for new ones by itself. */
size_t sp_unwinder_walk(sp_unwinder *unwinder, const sp_stack_slice *slice,
                        sp_native_frame *out, size_t max, sp_unwind_end *end);

/* Valid until sp_unwinder_close_files(), also after the module was unloaded;
 * NULL for 0. */
const sp_module *sp_unwinder_module(const sp_unwinder *unwinder,
                                    uint32_t module);

/* The function an ELF virtual address is in, demangled; valid until the next
 * call. False: it has no name; *start is where unwind information says that it
 * begins, or 0. Files stay open until sp_unwinder_close_files(). */
bool sp_unwinder_symbol(sp_unwinder *unwinder, uint32_t module,
                        uint64_t address, const char **name, uint64_t *start);

/* Whether memory or descriptors were wanting to read the module, since
 * sp_unwinder_close_files(): what it does not know now it may know then. */
bool sp_unwinder_incomplete(const sp_unwinder *unwinder, uint32_t module);

/* Whether sp_unwinder_symbol() would find a name, without reading it. */
bool sp_unwinder_named(sp_unwinder *unwinder, uint32_t module,
                       uint64_t address);

/* Close the files that names were read from, and forget the modules that went:
 * their numbers lead to none. */
void sp_unwinder_close_files(sp_unwinder *unwinder);

#endif
