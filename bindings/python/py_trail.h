/* Where the last sample of a thread led. What is read one pointer after the
 * other is mostly what was read then, and all of it can be fetched at once:
 * hints, nothing here is followed. Signal-safe. */
#ifndef PY_TRAIL_H
#define PY_TRAIL_H

#include "py_spanprof.h"

/* Fetch what the thread's last sample noted; it notes anew from here on. */
void py_sp_trail_begin(const PyThreadState *thread);

/* `address` will be read in the next sample too, probably. What is beyond the
 * room is not noted. */
void py_sp_trail_note(const PyThreadState *thread, const void *address);

#endif
