/* The work on one file: read, hash, compress, index. Each step has a label, and
 * the file has a span. */
#ifndef FILE_WORK_H
#define FILE_WORK_H

#include "file_index.h"
#include "file_list.h"
#include "trace_sender.h"

/* The work on the files of one kind. `cpu_s` was measured with the clocks of
 * the threads, for comparison with the profile. */
typedef struct file_work_total {
  size_t files;
  size_t bytes;
  double cpu_s;
} file_work_total;

/* The buffers of one thread, and the sums of its work. */
typedef struct file_work {
  file_index *index;
  trace_sender *traces; /* NULL: do not send spans */
  unsigned char *bytes;
  unsigned char *packed;
  file_work_total totals[FILE_KIND_COUNT];
} file_work;

/* Intern the names of the steps. Called once, before the first file. Returns 0.
 * If it fails, prints a message and returns -1. */
int file_work_prepare(void);

/* Allocate the buffers of a thread. Returns 0. If it fails, prints a message
 * and returns -1. */
int file_work_init(file_work *work, file_index *index, trace_sender *traces);

/* Process a file. An unreadable file is skipped. Returns 0. If it fails, prints
 * a message and returns -1. */
int file_work_do(file_work *work, const file_entry *entry);

void file_work_free(file_work *work);

#endif
