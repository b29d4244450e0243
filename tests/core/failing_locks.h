/* Simulates a file system that has no file locks, such as NFS without a lock
 * daemon. */
#ifndef FAILING_LOCKS_H
#define FAILING_LOCKS_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

#include "check.h"

static bool locks_fail;

/* The library calls this function instead of libc's, because the program's
 * symbols have priority. */
int fcntl(int fd, int command, ...) {
  int (*next)(int, int, ...);
  void *symbol = dlsym(RTLD_NEXT, "fcntl"), *argument;
  va_list arguments;

  va_start(arguments, command);
  argument = va_arg(arguments, void *);
  va_end(arguments);
  if (locks_fail && command == F_SETLK) {
    errno = ENOLCK;
    return -1;
  }
  memcpy(&next, &symbol, sizeof next);
  return next(fd, command, argument);
}

#endif
