#include "py_fork.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/own_thread.h"

/* A process whose threads cannot be listed is taken for one that has some. */
static int fork_alone(void) {
  const int self = (int)syscall(SYS_gettid);
  DIR *tasks = opendir("/proc/self/task");
  const struct dirent *task;
  int alone = tasks != NULL;

  while (alone && (task = readdir(tasks))) {
    int tid = atoi(task->d_name);

    alone = tid == 0 || tid == self || sp_own_thread_is(tid);
  }
  if (tasks)
    closedir(tasks);
  return alone;
}

static PyObject *module_alone(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  return PyBool_FromLong(fork_alone());
}

static PyMethodDef fork_methods[] = {
    {"alone", module_alone, METH_NOARGS,
     "alone(): whether every other thread of this process is the library's."},
    {NULL, NULL, 0, NULL},
};

int py_sp_fork_init(PyObject *module) {
  return PyModule_AddFunctions(module, fork_methods);
}
