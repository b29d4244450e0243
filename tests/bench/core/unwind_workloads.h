/* Workloads whose stacks are unwound. Each does a few milliseconds of real
 * work. */
#ifndef UNWIND_WORKLOADS_H
#define UNWIND_WORKLOADS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct unwind_workload {
  const char *name;
  void (*run)(unsigned round);
  bool usual; /* the work is in libc, sqlite, zlib or curl, for which the bar
               * applies */
} unwind_workload;

extern const unwind_workload unwind_workloads[];
extern const size_t unwind_workload_count;

/* Call this once, before any sample is taken. */
void unwind_workloads_begin(void);

#endif
