/* Finds the C functions of the language (spanprof_runtime.native_function) in
 * native stacks. A native frame is such a function only if all of this is true:
 * its code is in the interpreter, the runtime knows the start of the code, no
 * other function jumps to this start (a tail call), and the function was called
 * by a pointer. C code of the interpreter also calls such functions directly,
 * for its own purposes: list() calls the code of list.extend(). Used by the
 * collector's thread. */
#ifndef SP_NATIVE_FUNCTIONS_H
#define SP_NATIVE_FUNCTIONS_H

#include <spanprof/runtime.h>

#include "unwind/unwinder.h"

/* Number of cached addresses (48 KiB). */
#define SP_NATIVE_FUNCTION_SLOTS 2048

typedef struct sp_native_function_slot {
  uint64_t address;
  uint64_t number; /* the runtime's number, or 0 */
  uint32_t module; /* 0: the slot is free */
  bool asked;      /* `by_pointer` is known */
  bool by_pointer; /* the call before this return address is by a pointer */
} sp_native_function_slot;

typedef struct sp_native_functions {
  sp_unwinder *unwinder;
  uint64_t version; /* the runtime's native_functions_version */
  sp_native_function_slot slots[SP_NATIVE_FUNCTION_SLOTS];
} sp_native_functions;

/* For each native frame of a stack, write the number of its C function to
 * `out`, or 0 if the frame is no such function. */
void sp_native_functions_find(sp_native_functions *functions,
                              const spanprof_runtime *runtime,
                              const sp_native_frame *native, size_t count,
                              uint64_t *out);

/* Empty the cache. */
void sp_native_functions_clear(sp_native_functions *functions);

/* Empty the cache if the runtime has other functions than before. */
void sp_native_functions_refresh(sp_native_functions *functions,
                                 const spanprof_runtime *runtime);

#endif
