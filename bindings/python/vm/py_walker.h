/* Reads the Python frames of the interrupted thread. */
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

/* Determine how py_sp_walk_thread() looks up the PyThreadState. Returns 1, or 0
 * if this CPython stores it in an unknown way. Needs the GIL. */
int py_sp_walk_open(void);

/* Set the address ranges of the eval loop, once, before the first stack walk.
 * Do not call it if other code also writes frames, as the code of a
 * just-in-time compiler does. */
void py_sp_walk_set_loop(const spanprof_range *ranges, size_t count);

/* Returns the calling thread's state, or NULL if it has none. Signal-safe. */
const PyThreadState *py_sp_walk_thread(void);

/* The `walk` callback of spanprof_runtime, for the thread whose state is
 * `thread`. Call it between py_sp_space_enter() and py_sp_space_leave(). In the
 * returned frames, `code` is an id of py_code.h, and `offset` an instruction
 * unit.
 *
 * A thread may be interrupted at any machine instruction: its frames may be
 * half linked, and a structure on the C stack may not be written yet or may
 * belong to another greenlet. Therefore each frame is checked. It must be on
 * the used part of the thread's data stack, or in a readable page, or, in 3.10,
 * be linked from the thread's state or another frame. Its owner must be that of
 * a running frame, its code must be a code object that contains its
 * instruction, and on the data stack it must end where the frame that it called
 * begins. The stack is cut at the first frame that fails a check, and *cut
 * becomes 1. */
size_t py_sp_walk(const PyThreadState *thread, const spanprof_capture *capture,
                  spanprof_frame *frames, size_t max, int *cut);

/* Prefetch the innermost frames of the thread. Signal-safe. */
void py_sp_walk_prefetch(const PyThreadState *thread);

/* Replace the offset of each frame, an instruction unit, by its line. May be
 * called on any thread. */
void py_sp_walk_set_lines(spanprof_frame *frames, size_t count,
                          py_sp_line_numbers which);

#endif
