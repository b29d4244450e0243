#include "py_selftest.h"

#include <stdio.h>
#include <string.h>

#include "base/py_version.h"
#include "memory/py_space.h"
#include "py_record.h"
#include "py_walker.h"

#define SELFTEST_FILE       "<spanprof self-test>"
#define SELFTEST_FRAMES_MAX 512

/* This program has all ways in which the interpreter links frames: a Python
 * function calls a Python function or a method, C code resumes a generator, and
 * C code calls a Python function. */
static const char selftest_source[] =
    "def leaf(probe):\n"
    "    here = 1\n"
    "    return probe(\n"
    "        here)\n"
    "\n"
    "def generate(probe):\n"
    "    yield leaf(probe)\n"
    "\n"
    "class Nest:\n"
    "    def inner(self, probe):\n"
    "        for i in range(2):\n"
    "            list(generate(probe))\n"
    "\n"
    "def outer(probe):\n"
    "    def back(item):\n"
    "        return Nest().inner(probe) or 0\n"
    "    return max([1, 2], key=back)\n"
    "\n"
    "outer(probe)\n";

typedef struct selftest_frame {
  const char *name;
  const char *qualified_name; /* used from CPython 3.11 on */
  uint32_t line;
  int64_t start_line;
  bool ends_run;
} selftest_frame;

/* The expected frames, innermost first. */
static const selftest_frame selftest_frames[] = {
    {"leaf", "leaf", 3, 1, false},
    {"generate", "generate", 7, 6, true},
    {"inner", "Nest.inner", 12, 10, false},
    {"back", "outer.<locals>.back", 16, 15, true},
    {"outer", "outer", 17, 14, false},
    {"<module>", "<module>", 19, 1, true},
};

#define SELFTEST_DEPTH (sizeof selftest_frames / sizeof selftest_frames[0])

static struct {
  spanprof_frame frames[SELFTEST_FRAMES_MAX];
  char *reason;
  size_t reason_size;
  unsigned walks; /* number of stack walks with the expected frames */
  bool wrong;
} selftest;

static void selftest_fail(const char *what, size_t depth,
                          const spanprof_name *found, uint32_t line) {
  if (selftest.wrong)
    return;
  selftest.wrong = true;
  snprintf(
      selftest.reason, selftest.reason_size,
      "Python %.*s lays out its frames differently from its headers: frame "
      "%zu has %s (%.*s:%u)",
      (int)strcspn(Py_GetVersion(), " "), Py_GetVersion(), depth, what,
      (int)(found ? found->function_bytes : 1), found ? found->function : "?",
      line);
}

static bool frame_is(size_t depth, const spanprof_frame *frame) {
  const selftest_frame *expected = &selftest_frames[depth];
  const char *name =
      PY_SP_VERSION_QUALIFIED_NAMES ? expected->qualified_name : expected->name;
  spanprof_name found = {.struct_size = sizeof found};

  if (py_sp_record_name(frame->code, &found))
    selftest_fail("no name", depth, NULL, frame->offset);
  else if (found.function_bytes != strlen(name) ||
           memcmp(found.function, name, found.function_bytes) != 0)
    selftest_fail("another function", depth, &found, frame->offset);
  else if (found.file_bytes != strlen(SELFTEST_FILE) ||
           memcmp(found.file, SELFTEST_FILE, found.file_bytes) != 0)
    selftest_fail("another file", depth, &found, frame->offset);
  else if (frame->offset != expected->line ||
           found.start_line != expected->start_line)
    selftest_fail("another line", depth, &found, frame->offset);
  else if (expected->ends_run && !(frame->flags & SPANPROF_FRAME_ENTRY))
    selftest_fail("no flag for the end of an eval loop", depth, &found,
                  frame->offset);
  else
    return true;
  return false;
}

static PyObject *selftest_probe(PyObject *self, PyObject *unused) {
  const PyThreadState *thread = py_sp_walk_thread();
  const spanprof_capture capture = {.struct_size = sizeof capture};
  size_t count, depth;
  int cut = 0;

  (void)self;
  (void)unused;
  if (thread != PyGILState_GetThisThreadState() ||
      thread != PyThreadState_Get()) {
    selftest_fail("another thread's state", 0, NULL, 0);
    Py_RETURN_NONE;
  }
  py_sp_space_enter();
  count =
      py_sp_walk(thread, &capture, selftest.frames, SELFTEST_FRAMES_MAX, &cut);
  py_sp_space_leave();
  py_sp_walk_set_lines(selftest.frames, count, PY_SP_LINES_EXECUTED);
  for (depth = 0; depth < SELFTEST_DEPTH && depth < count; depth++)
    if (!frame_is(depth, &selftest.frames[depth]))
      Py_RETURN_NONE;
  if (depth < SELFTEST_DEPTH || (cut && count < SELFTEST_FRAMES_MAX))
    selftest_fail("no valid data", count, NULL, 0);
  else
    selftest.walks++;
  Py_RETURN_NONE;
}

static PyMethodDef selftest_method = {"probe", selftest_probe, METH_O, NULL};

static PyObject *nest_run(void) {
  PyObject *probe = PyCFunction_New(&selftest_method, NULL);
  PyObject *names = PyDict_New();
  PyObject *code = NULL, *result = NULL;

  if (probe && names && PyDict_SetItemString(names, "probe", probe) == 0 &&
      PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins()) == 0)
    code = Py_CompileString(selftest_source, SELFTEST_FILE, Py_file_input);
  if (code)
    result = PyEval_EvalCode(code, names, names);
  Py_XDECREF(code);
  Py_XDECREF(names);
  Py_XDECREF(probe);
  return result;
}

int py_sp_selftest_run(char *reason, size_t size) {
  PyObject *result;

  selftest.reason = reason;
  selftest.reason_size = size;
  selftest.walks = 0;
  selftest.wrong = false;
  if (!py_sp_walk_open())
    selftest_fail("another thread's state", 0, NULL, 0);
  result = nest_run();
  if (!result)
    return -1;
  Py_DECREF(result);
  if (!selftest.wrong && selftest.walks == 0)
    selftest_fail("not been walked", 0, NULL, 0);
  return !selftest.wrong;
}
