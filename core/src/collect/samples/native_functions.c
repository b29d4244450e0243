#include "native_functions.h"

#include <string.h>

#include "interpreter.h"

/* Returns the runtime's number of the function at an address, or 0. */
static uint64_t number_find(const sp_native_functions *functions,
                            const spanprof_runtime *runtime,
                            const sp_native_frame *frame) {
  uint64_t start;

  if (!sp_interpreter_has(runtime, functions->unwinder, frame->module) ||
      !sp_unwinder_function(functions->unwinder, frame->module, frame->address,
                            &start))
    return 0;
  return runtime->native_function(runtime->data,
                                  start + (frame->pc - frame->address));
}

/* An entry of the cache is valid until sp_native_functions_clear(), or until
 * another address replaces it: module numbers are not reused. */
static sp_native_function_slot *slot_find(sp_native_functions *functions,
                                          const spanprof_runtime *runtime,
                                          const sp_native_frame *frame) {
  const uint64_t mixed = (frame->address ^ ((uint64_t)frame->module << 40)) *
                         UINT64_C(0x9e3779b97f4a7c15);
  sp_native_function_slot *slot =
      &functions->slots[(size_t)(mixed >> 32) % SP_NATIVE_FUNCTION_SLOTS];

  if (slot->module != frame->module || slot->address != frame->address)
    *slot = (sp_native_function_slot){
        .address = frame->address,
        .number = number_find(functions, runtime, frame),
        .module = frame->module};
  return slot;
}

static bool calls_by_pointer(sp_native_functions *functions,
                             const spanprof_runtime *runtime,
                             const sp_native_frame *frame) {
  sp_native_function_slot *slot;

  if (frame->module == 0)
    return false;
  slot = slot_find(functions, runtime, frame);
  if (!slot->asked)
    slot->by_pointer = sp_unwinder_calls_by_pointer(
        functions->unwinder, frame->module, frame->address);
  slot->asked = true;
  return slot->by_pointer;
}

void sp_native_functions_find(sp_native_functions *functions,
                              const spanprof_runtime *runtime,
                              const sp_native_frame *native, size_t count,
                              uint64_t *out) {
  size_t i;

  for (i = 0; i < count; i++) {
    out[i] = native[i].module == 0
                 ? 0
                 : slot_find(functions, runtime, &native[i])->number;
    if (out[i] && (i + 1 == count ||
                   !calls_by_pointer(functions, runtime, &native[i + 1])))
      out[i] = 0;
  }
}

void sp_native_functions_clear(sp_native_functions *functions) {
  memset(functions->slots, 0, sizeof functions->slots);
}

void sp_native_functions_refresh(sp_native_functions *functions,
                                 const spanprof_runtime *runtime) {
  const uint64_t version = runtime->native_functions_version(runtime->data);

  if (functions->version != version)
    sp_native_functions_clear(functions);
  functions->version = version;
}
