/* The frames of the interrupted thread. */
#ifndef PY_WALKER_H
#define PY_WALKER_H

#include <stdint.h>

#include "base/py_base.h"

/* The line that a frame shows. */
typedef enum py_sp_line_numbers {
  PY_SP_LINES_EXECUTED = 0,
  PY_SP_LINES_FIRST = 1, /* first line of the function */
  PY_SP_LINES_NONE = 2,
} py_sp_line_numbers;

/* Determine how a thread looks up its PyThreadState. Returns 0 if this CPython
 * uses an unknown way. Needs the GIL. */
int py_sp_walk_open(void);

/* Set the ranges of the eval loop, once, before the first walk. Call it only if
 * no other code links frames, as a just-in-time compiler does. */
void py_sp_walk_set_loop(const spanprof_range *ranges, size_t count);

/* Returns the calling thread's state, or NULL if it has none. Signal-safe. */
const PyThreadState *py_sp_walk_thread(void);

/* The `walk` callback of spanprof_runtime, for the thread whose state is
 * `thread`. Call it between py_sp_space_enter() and py_sp_space_leave(). A
 * frame's code is an id of py_code.h, its offset is an instruction unit.
 *
 * The interpreter may be interrupted at any instruction: frames may be half
 * linked, a structure on the C stack may not be written yet or may belong to
 * another greenlet. A frame is accepted if it is on the used part of the
 * thread's data stack, if its page is readable, or, in 3.10, if it is linked.
 * In addition, its owner must be that of a running frame, its code must be a
 * code object that contains its instruction, and, on the data stack, it must
 * end where the next frame begins. The stack is cut at the first frame that is
 * not accepted. */
size_t py_sp_walk(const PyThreadState *thread, const spanprof_capture *capture,
                  spanprof_frame *frames, size_t max, int *cut);

/* Prefetch the thread's frames. Signal-safe. */
void py_sp_walk_prefetch(const PyThreadState *thread);

/* Replace instruction units by lines. Any thread. */
void py_sp_walk_set_lines(spanprof_frame *frames, size_t count,
                          py_sp_line_numbers which);

#endif
