#include "py_sigterm.h"

#include "session/sigterm.h"

static PyObject *sigterm_arm(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  return PyBool_FromLong(sp_sigterm_arm());
}

static PyObject *sigterm_cover(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  sp_sigterm_wrap_handler();
  Py_RETURN_NONE;
}

static PyObject *sigterm_flush(PyObject *module, PyObject *unused) {
  bool ends;

  (void)module;
  (void)unused;
  Py_BEGIN_ALLOW_THREADS
  ends = sp_sigterm_was_forwarded() && sp_sigterm_deliver();
  Py_END_ALLOW_THREADS
  return PyBool_FromLong(ends);
}

static PyMethodDef sigterm_methods[] = {
    {"sigterm_arm", sigterm_arm, METH_NOARGS,
     "sigterm_arm(): install the core's handler of SIGTERM if SIGTERM has its "
     "default action; return whether the running session flushes at SIGTERM."},
    {"sigterm_cover", sigterm_cover, METH_NOARGS,
     "sigterm_cover(): replace the interpreter's handler of SIGTERM by the "
     "core's, which then calls the interpreter's."},
    {"sigterm_flush", sigterm_flush, METH_NOARGS,
     "sigterm_flush(): flush within 2 s if SIGTERM arrived; return whether "
     "the process must exit."},
    {NULL, NULL, 0, NULL},
};

int py_sp_sigterm_init(PyObject *module) {
  return PyModule_AddFunctions(module, sigterm_methods);
}
