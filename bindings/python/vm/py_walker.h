/* The frames of the interrupted thread. */
#ifndef PY_WALKER_H
#define PY_WALKER_H

#include <stdint.h>

#include "base/py_base.h"

/* The line that a frame shows. */
typedef enum py_sp_line_numbers {
  PY_SP_LINES_EXECUTED = 0,
  PY_SP_LINES_FIRST = 1, /* of its function */
  PY_SP_LINES_NONE = 2,
} py_sp_line_numbers;

/* Learn how a thread finds its state; 0: as on no CPython known. With the
 * GIL. */
int py_sp_walk_open(void);

/* Where the eval loop is, once, before the first walk; to be called only where
 * no frame is linked elsewhere, as compilers at run time do. */
void py_sp_walk_know_loop(const spanprof_range *ranges, size_t count);

/* The calling thread's state, NULL: it has none. Signal-safe. */
const PyThreadState *py_sp_walk_thread(void);

/* The walk of spanprof_runtime, for the thread whose state is `thread`;
 * inside the space (py_space.h). A frame's code is the id of py_code.h, its
 * offset the instruction unit.
 *
 * Any instant of the interpreter is expected: frames half linked, a structure
 * on the C stack not written yet, another greenlet's. A frame is believed where
 * it lies on the used part of the thread's data stack, where its page can be
 * read, or, in 3.10, where it is linked; then its owner must be one of those
 * that run, its code a code object, its instruction one of that code, and, on
 * the data stack, its end where the next one begins. Else the stack is cut
 * there. */
size_t py_sp_walk(const PyThreadState *thread, const spanprof_capture *capture,
                  spanprof_frame *frames, size_t max, int *cut);

/* Have the thread's frames fetched from memory meanwhile. Signal-safe. */
void py_sp_walk_prefetch(const PyThreadState *thread);

/* From units to lines. Any thread. */
void py_sp_walk_settle(spanprof_frame *frames, size_t count,
                       py_sp_line_numbers which);

#endif
