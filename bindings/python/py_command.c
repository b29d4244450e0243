#include "py_command.h"

#include "command/command.h"

/* The texts belong to the items of `arguments`. */
static char **command_words(PyObject *arguments) {
  Py_ssize_t i, count = PyList_GET_SIZE(arguments);
  char **words = PyMem_New(char *, (size_t)count + 1);

  if (!words)
    return (char **)PyErr_NoMemory();
  for (i = 0; i < count; i++) {
    words[i] = (char *)PyUnicode_AsUTF8(PyList_GET_ITEM(arguments, i));
    if (!words[i]) {
      PyMem_Free(words);
      return NULL;
    }
  }
  words[count] = NULL;
  return words;
}

static PyObject *command_run(PyObject *module, PyObject *arguments) {
  PyObject *list = PySequence_List(arguments);
  char **words = list ? command_words(list) : NULL;
  PyObject *status = NULL;
  int result;

  (void)module;
  if (words) {
    Py_BEGIN_ALLOW_THREADS
    result = sp_command_main((int)PyList_GET_SIZE(list), words);
    Py_END_ALLOW_THREADS
    status = PyLong_FromLong(result);
  }
  PyMem_Free(words);
  Py_XDECREF(list);
  return status;
}

static PyMethodDef command_methods[] = {
    {"command", command_run, METH_O,
     "command(argv): run the command spanprof; its exit status."},
    {NULL, NULL, 0, NULL},
};

int py_sp_command_init(PyObject *module) {
  return PyModule_AddFunctions(module, command_methods);
}
