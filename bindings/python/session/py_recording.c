#include "py_recording.h"

#include <unistd.h>

#include "context/py_context.h"
#include "py_runtime.h"
#include "settings/option_table.h"

#define RECORDING_NAME  "spanprof.recording"
#define RECORDING_ENDED "spanprof.recording.ended"

static spanprof_status recording_finish(spanprof_recording *recording,
                                        const spanprof_profile **out) {
  spanprof_status st;

  Py_BEGIN_ALLOW_THREADS
  st = spanprof_recording_end(recording, out);
  Py_END_ALLOW_THREADS
  return st;
}

/* The destructor of a recording's capsule: discards the recording if
 * recording_end() was not called. */
static void recording_drop(PyObject *capsule) {
  const char *name = PyCapsule_GetName(capsule);

  if (name && strcmp(name, RECORDING_NAME) == 0)
    recording_finish(PyCapsule_GetPointer(capsule, RECORDING_NAME), NULL);
}

/* Set *out to an option's value; leave it unset if the value is None. Returns
 * 0, or -1 with an exception. */
static int recording_option(PyObject *value, int64_t *out) {
  if (value != Py_None)
    *out = PyLong_AsLongLong(value);
  return PyErr_Occurred() ? -1 : 0;
}

/* Read one of the names of native_frames. None leaves it unset. Returns -1 with
 * an exception. */
static int recording_native_frames(PyObject *value, int64_t *out) {
  const char *text;

  if (value == Py_None)
    return 0;
  if (!PyUnicode_Check(value)) {
    PyErr_Format(PyExc_TypeError, "native_frames must be %s, not %.100s",
                 sp_option_names(SP_OPTION_NATIVE), Py_TYPE(value)->tp_name);
    return -1;
  }
  text = PyUnicode_AsUTF8(value);
  if (!text)
    return -1;
  if (sp_option_name(SP_OPTION_NATIVE, text, out))
    return 0;
  PyErr_Format(PyExc_ValueError, "native_frames is \"%.100s\", not %s", text,
               sp_option_names(SP_OPTION_NATIVE));
  return -1;
}

/* recording_begin(own, sample_rate_hz, native_frames, ms) */
static PyObject *recording_begin(PyObject *module, PyObject *arguments) {
  PyObject *rate, *native_frames, *ms, *capsule;
  spanprof_recording_options options;
  spanprof_recording *recording;
  spanprof_status st;
  int own;

  (void)module;
  spanprof_recording_options_init(&options, sizeof options);
  if (!PyArg_ParseTuple(arguments, "pOOO", &own, &rate, &native_frames, &ms) ||
      recording_option(rate, &options.sample_rate_hz) < 0 ||
      recording_native_frames(native_frames, &options.native_frames) < 0 ||
      recording_option(ms, &options.duration_ms) < 0 ||
      py_sp_context_get_mark(&options.outer) < 0 || py_sp_runtime_start() < 0)
    return NULL;
  options.scope = own ? SPANPROF_RECORDING_MARK : SPANPROF_RECORDING_ALL;
  Py_BEGIN_ALLOW_THREADS
  st = spanprof_recording_begin(&options, &recording);
  Py_END_ALLOW_THREADS
  if (!py_sp_check(st))
    return NULL;
  capsule = PyCapsule_New(recording, RECORDING_NAME, recording_drop);
  if (!capsule)
    recording_finish(recording, NULL);
  else if (own &&
           py_sp_context_set_mark(spanprof_recording_mark(recording)) < 0)
    Py_CLEAR(capsule);
  return capsule;
}

/* Remove the recording from its capsule, so that no other call can end it.
 * Returns the recording, or NULL with an exception. */
static spanprof_recording *recording_of(PyObject *capsule) {
  spanprof_recording *recording = PyCapsule_GetPointer(capsule, RECORDING_NAME);

  return recording && PyCapsule_SetName(capsule, RECORDING_ENDED) == 0
             ? recording
             : NULL;
}

/* If the current context belongs to this recording, set its mark to `outer`,
 * the mark of the enclosing recording. Returns 0, or -1 with an exception. */
static int recording_unmark(const spanprof_recording *recording,
                            spanprof_mark outer) {
  const spanprof_mark mark = spanprof_recording_mark(recording);
  spanprof_mark now;

  if (!mark)
    return 0;
  if (py_sp_context_get_mark(&now) < 0)
    return -1;
  return now == mark ? py_sp_context_set_mark(outer) : 0;
}

/* recording_end(recording, outer) */
static PyObject *recording_end(PyObject *module, PyObject *arguments) {
  const spanprof_profile *profile;
  spanprof_recording *recording;
  unsigned long long outer;
  PyObject *capsule, *result;

  (void)module;
  if (!PyArg_ParseTuple(arguments, "OK", &capsule, &outer))
    return NULL;
  recording = recording_of(capsule);
  if (!recording)
    return NULL;
  if (recording_unmark(recording, outer) < 0) {
    recording_finish(recording, NULL);
    return NULL;
  }
  if (!py_sp_check(recording_finish(recording, &profile)))
    return NULL;
  result = Py_BuildValue("(y#Kz)", (const char *)profile->bytes,
                         (Py_ssize_t)profile->size_bytes,
                         (unsigned long long)profile->samples, profile->note);
  spanprof_profile_free(profile);
  return result;
}

/* mark_get() */
static PyObject *mark_get(PyObject *module, PyObject *unused) {
  spanprof_mark mark;

  (void)module;
  (void)unused;
  if (py_sp_context_get_mark(&mark) < 0)
    return NULL;
  return PyLong_FromUnsignedLongLong(mark);
}

/* mark_set(mark) */
static PyObject *mark_set(PyObject *module, PyObject *number) {
  spanprof_mark mark = PyLong_AsUnsignedLongLong(number);

  (void)module;
  if (PyErr_Occurred() || py_sp_context_set_mark(mark) < 0)
    return NULL;
  Py_RETURN_NONE;
}

/* Call a function with a recording's mark in the current context; `self` is the
 * tuple (mark, function). */
static PyObject *mark_run(PyObject *self, PyObject *arguments,
                          PyObject *keywords) {
  spanprof_mark mark = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(self, 0));
  PyObject *result, *type, *value, *traceback;
  spanprof_mark before;

  if (py_sp_context_get_mark(&before) < 0 || py_sp_context_set_mark(mark) < 0)
    return NULL;
  result = PyObject_Call(PyTuple_GET_ITEM(self, 1), arguments, keywords);
  PyErr_Fetch(&type, &value, &traceback);
  if (py_sp_context_set_mark(before) < 0)
    PyErr_Clear();
  PyErr_Restore(type, value, traceback);
  return result;
}

static PyMethodDef mark_run_method = {"marked",
                                      (PyCFunction)(void (*)(void))mark_run,
                                      METH_VARARGS | METH_KEYWORDS, NULL};

/* mark_call(mark, function). Written in C, so that the returned function adds
 * no Python frame to stacks. */
static PyObject *mark_call(PyObject *module, PyObject *arguments) {
  (void)module;
  if (PyTuple_GET_SIZE(arguments) == 2 &&
      PyLong_Check(PyTuple_GET_ITEM(arguments, 0)))
    return PyCFunction_New(&mark_run_method, arguments);
  PyErr_SetString(PyExc_TypeError, "mark_call() needs a mark and a function");
  return NULL;
}

static PyMethodDef recording_methods[] = {
    {"recording_begin", recording_begin, METH_VARARGS,
     "recording_begin(own, sample_rate_hz, native_frames, ms)\n\nBegin and "
     "return a recording: of the current context and its copies if `own`\n"
     "is true, otherwise of all threads. The other arguments may be None.\n"
     "A recording that is freed without recording_end() is discarded."},
    {"recording_end", recording_end, METH_VARARGS,
     "recording_end(recording, outer)\n\nEnd the recording. Return (profile, "
     "samples, note): gzip-compressed pprof, the number of samples, and a\n"
     "sentence if the profile differs from the requested one, else None. If\n"
     "the current context belongs to the recording, set its mark to `outer`."},
    {"mark_get", mark_get, METH_NOARGS,
     "mark_get()\n\nReturn the mark (number) of the recording that the "
     "current context\nbelongs to, or 0."},
    {"mark_set", mark_set, METH_O,
     "mark_set(mark)\n\nAdd the current context to the recording with this "
     "mark; 0: to none."},
    {"mark_call", mark_call, METH_VARARGS,
     "mark_call(mark, function)\n\nReturn a function that calls `function` as "
     "a part of the recording\nwith this mark."},
    {NULL, NULL, 0, NULL},
};

int py_sp_recording_init(PyObject *module) {
  return PyModule_AddFunctions(module, recording_methods);
}
