/* Functions that change the labels of the current context. */
#ifndef PY_LABEL_H
#define PY_LABEL_H

#include "base/py_base.h"

int py_sp_label_init(PyObject *module);

#endif
