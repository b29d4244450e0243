#include "py_fork.h"

#include <dirent.h>
#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/number.h"
#include "util/own_thread.h"

/* A process whose threads cannot be listed is taken for one that has some. */
static int fork_only_own_threads(void) {
  const int self = (int)syscall(SYS_gettid);
  DIR *tasks = opendir("/proc/self/task");
  const struct dirent *task;
  int only = tasks != NULL;

  while (only && (task = readdir(tasks))) {
    uint64_t tid;

    only = !sp_number_is(task->d_name, INT_MAX, &tid) || (int)tid == self ||
           sp_own_thread_is((int)tid);
  }
  if (tasks)
    closedir(tasks);
  return only;
}

static PyObject *module_only_own_threads(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  return PyBool_FromLong(fork_only_own_threads());
}

static PyMethodDef fork_methods[] = {
    {"only_own_threads", module_only_own_threads, METH_NOARGS,
     "only_own_threads(): whether every other thread of this process is the "
     "library's."},
    {NULL, NULL, 0, NULL},
};

int py_sp_fork_init(PyObject *module) {
  return PyModule_AddFunctions(module, fork_methods);
}
