#include "py_resource.h"

#include <pthread.h>

#include "base/py_utf8.h"

bool py_sp_resource_reported;

static void resource_forget(void) {
  py_sp_resource_reported = false;
}

/* Returns a new reference to the value of an attribute, or to None if there is
 * no such attribute. Returns NULL with an exception on failure. */
static PyObject *resource_attribute(PyObject *attributes, const char *name) {
  return PyObject_CallMethod(attributes, "get", "s", name);
}

/* Returns the text of a value in UTF-8, or "" for None. The text is valid until
 * the caller releases the reference *keep. Returns NULL with an exception on
 * failure. */
static const char *resource_text(PyObject *value, size_t *bytes,
                                 PyObject **keep) {
  *keep = NULL;
  *bytes = 0;
  return value == Py_None ? "" : py_sp_utf8(value, bytes, keep);
}

/* Pass the service name and namespace to the core; do nothing if the name is
 * empty. Returns 0, or -1 with an exception. */
static int resource_set(PyObject *name, PyObject *name_space) {
  PyObject *keep, *keep_space = NULL;
  size_t bytes, space_bytes;
  const char *text = resource_text(name, &bytes, &keep), *space = NULL;
  int st = -1;

  if (text)
    space = resource_text(name_space, &space_bytes, &keep_space);
  if (space)
    st = bytes == 0 || py_sp_check(spanprof_resource_set(text, bytes, space,
                                                         space_bytes))
             ? 0
             : -1;
  Py_XDECREF(keep);
  Py_XDECREF(keep_space);
  return st;
}

int py_sp_resource_report(PyObject *owner) {
  PyObject *resource = PyObject_GetAttrString(owner, "resource");
  PyObject *attributes = NULL, *name = NULL, *name_space = NULL;
  int st = -1;

  py_sp_resource_reported = true;
  if (resource)
    attributes = PyObject_GetAttrString(resource, "attributes");
  if (attributes)
    name = resource_attribute(attributes, "service.name");
  if (name)
    name_space = resource_attribute(attributes, "service.namespace");
  if (name_space)
    st = resource_set(name, name_space);
  Py_XDECREF(name_space);
  Py_XDECREF(name);
  Py_XDECREF(attributes);
  Py_XDECREF(resource);
  return st;
}

void py_sp_resource_init(void) {
  static bool done;

  if (!done)
    pthread_atfork(NULL, NULL, resource_forget);
  done = true;
}
