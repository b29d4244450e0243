/* The frames of the interrupted thread. */
#ifndef PY_WALKER_H
#define PY_WALKER_H

#include "py_spanprof.h"

#include <stdint.h>

/* The walk of spanprof_runtime, for the thread whose state is `thread`;
 * between py_sp_code_enter() and py_sp_code_leave(). A frame's
 * code is the id of py_code.h, its offset the line.
 *
 * Any instant of the interpreter is expected: frames half linked, a structure
 * on the C stack not written yet, another greenlet's. A frame is believed where
 * it lies on the used part of the thread's data stack, or where its page can be
 * read, its owner is one of those that run, its code is a code object, its
 * instruction is one of that code, and, on the data stack, it ends where the
 * next one begins. Where it is not, the stack is cut there. */
size_t py_sp_walk(const PyThreadState *thread, const spanprof_capture *capture,
                  spanprof_frame *frames, size_t max, int *cut);

#endif
