/* A dictionary of options as the structure that starts a session. */
#ifndef PY_OPTIONS_H
#define PY_OPTIONS_H

#include "py_spanprof.h"

#include "py_walker.h"

typedef struct py_sp_options {
  spanprof_options options;
  PyObject *kept;       /* list: what the texts belong to */
  PyObject *on_profile; /* borrowed from the dictionary, or NULL */
  spanprof_pair *pairs;
  py_sp_line_numbers line_numbers;
} py_sp_options;

/* Every field of spanprof_options by its name, except the log's; None is "not
 * given". label_pairs is a mapping, line_numbers a py_sp_line_numbers. -1:
 * spanprof.Error names the option. py_sp_options_dispose() in either case. */
int py_sp_options_read(py_sp_options *out, PyObject *dictionary);
void py_sp_options_dispose(py_sp_options *options);

#endif
