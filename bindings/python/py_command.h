/* The program `spanprof`, from the same code as the C one. */
#ifndef PY_COMMAND_H
#define PY_COMMAND_H

#include "py_spanprof.h"

/* _native.command(argv): runs it on the process's streams; the exit status. */
int py_sp_command_init(PyObject *module);

#endif
