/* The modules that belong to the interpreter of the language. */
#ifndef SP_INTERPRETER_H
#define SP_INTERPRETER_H

#include <spanprof/runtime.h>

#include "unwind/unwinder.h"

/* Does the module contain the eval loop, or is it in the runtime's
 * `library_directory`? */
bool sp_interpreter_has(const spanprof_runtime *runtime,
                        const sp_unwinder *unwinder, uint32_t module);

#endif
