#include "py_take.h"

#include <stdlib.h>
#include <string.h>

#include "py_runtime.h"

#define TAKE_NAME  "spanprof.take"
#define TAKE_ENDED "spanprof.take.ended"

typedef struct take_bytes {
  char *bytes;
  size_t size;
} take_bytes;

static void take_keep(void *data, const spanprof_profile_view *profile) {
  take_bytes *out = data;

  out->bytes = malloc(profile->size_bytes);
  if (!out->bytes)
    return;
  memcpy(out->bytes, profile->bytes, profile->size_bytes);
  out->size = profile->size_bytes;
}

static spanprof_status take_finish(spanprof_take *take, uint32_t timeout_ms,
                                   take_bytes *out) {
  spanprof_status st;

  Py_BEGIN_ALLOW_THREADS
  st = spanprof_take_end(take, timeout_ms, take_keep, out);
  Py_END_ALLOW_THREADS
  return st;
}

/* Nobody ended it: whoever asked was interrupted. */
static void take_drop(PyObject *capsule) {
  take_bytes unwanted = {NULL, 0};

  if (strcmp(PyCapsule_GetName(capsule), TAKE_NAME) == 0)
    take_finish(PyCapsule_GetPointer(capsule, TAKE_NAME), 0, &unwanted);
  free(unwanted.bytes);
}

static PyObject *take_begin(PyObject *module, PyObject *arguments) {
  take_bytes unwanted = {NULL, 0};
  spanprof_take *take;
  PyObject *capsule;
  spanprof_status st;
  unsigned int ms;

  (void)module;
  if (!PyArg_ParseTuple(arguments, "I", &ms) || py_sp_runtime_start() < 0)
    return NULL;
  Py_BEGIN_ALLOW_THREADS
  st = spanprof_take_begin(ms, &take);
  Py_END_ALLOW_THREADS
  if (!py_sp_check(st))
    return NULL;
  capsule = PyCapsule_New(take, TAKE_NAME, take_drop);
  if (!capsule)
    take_finish(take, 0, &unwanted);
  free(unwanted.bytes);
  return capsule;
}

static PyObject *take_end(PyObject *module, PyObject *arguments) {
  take_bytes found = {NULL, 0};
  PyObject *capsule, *profile;
  spanprof_take *take;
  spanprof_status st;
  unsigned int ms;

  (void)module;
  if (!PyArg_ParseTuple(arguments, "OI", &capsule, &ms))
    return NULL;
  take = PyCapsule_GetPointer(capsule, TAKE_NAME);
  if (!take || PyCapsule_SetName(capsule, TAKE_ENDED) < 0)
    return NULL;
  st = take_finish(take, ms, &found);
  if (st == SPANPROF_ERR_TIMEOUT)
    Py_RETURN_NONE;
  if (!py_sp_check(st))
    return NULL;
  if (!found.bytes)
    return PyErr_NoMemory();
  profile = PyBytes_FromStringAndSize(found.bytes, (Py_ssize_t)found.size);
  free(found.bytes);
  return profile;
}

static PyMethodDef take_methods[] = {
    {"take_begin", take_begin, METH_VARARGS,
     "take_begin(ms): begin a profile of so long, beside the session or "
     "without "
     "one; drop what it returns, or give it to take_end()."},
    {"take_end", take_end, METH_VARARGS,
     "take_end(take, timeout_ms): the profile, pprof in gzip, or None where it "
     "is not over by then."},
    {NULL, NULL, 0, NULL},
};

int py_sp_take_init(PyObject *module) {
  return PyModule_AddFunctions(module, take_methods);
}
