#include "last_thread.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sampler/handler/task_file.h"
#include "sampler/thread_scan.h"
#include "util/system/own_thread.h"

/* The process in which process_end() was started, because exit() may be called
 * only once in a process. */
static pid_t last_thread_exits;

/* Has the first thread of the process ended? The kernel lists this thread until
 * the process ends. A first thread that has ended is a zombie: its state in
 * /proc/PID/stat is Z (proc_pid_stat(5)). */
static bool first_thread_ended(pid_t pid) {
  char text[128];
  const char *name_end;

  if (!sp_task_file_read((int)pid, "stat", text, sizeof text))
    return false;
  name_end = strrchr(text, ')');
  return name_end && strncmp(name_end, ") Z", 3) == 0;
}

static void *process_end(void *nothing) {
  (void)nothing;
  exit(0);
}

void sp_last_thread_exit(size_t threads, sp_log *log) {
  const pid_t pid = getpid();
  pthread_t thread;

  if (threads != 1 || last_thread_exits == pid || !first_thread_ended(pid))
    return;
  /* Scan again, because threads may have started since the last scan. */
  if (sp_threads_scan(log) != 1)
    return;
  if (sp_own_thread_start(&thread, "spanprof-exit", SP_OWN_STACK_DEFAULT,
                          process_end, NULL) == 0) {
    sp_own_thread_defer_join(thread);
    last_thread_exits = pid;
  }
}
