/* Programs to be unwound: each does a few milliseconds of real work. */
#ifndef UNWIND_WORKLOADS_H
#define UNWIND_WORKLOADS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct unwind_workload {
  const char *name;
  void (*run)(unsigned round);
  bool usual; /* libc, sqlite, zlib, curl: what the bar is about */
} unwind_workload;

extern const unwind_workload unwind_workloads[];
extern const size_t unwind_workload_count;

/* Once, before any sample is taken. */
void unwind_workloads_begin(void);

#endif
