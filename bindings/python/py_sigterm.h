/* SIGTERM where nobody handles it, which is how a pool of multiprocessing ends
 * its workers: what they have is handed on before they go. */
#ifndef PY_SIGTERM_H
#define PY_SIGTERM_H

#include "py_spanprof.h"

/* _native.hand_on_at_sigterm(): once per process, and only while the signal has
 * its default action. The process still ends by the signal, within 1 s. A
 * handler that the program installs later replaces ours; what it forks has the
 * default action again. */
int py_sp_sigterm_init(PyObject *module);

#endif
