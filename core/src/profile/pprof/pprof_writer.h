/* Samples to gzip-compressed pprof, message by message: no tree of the profile
 * exists, and what a sample takes is known to the byte before it is in. */
#ifndef SP_PPROF_WRITER_H
#define SP_PPROF_WRITER_H

#include "gzip_stream.h"
#include "pprof_labels.h"
#include "profile/tables/stack_table.h"
#include "window.h"

/* Samples of one stack, one list of labels and one span, added up. */
typedef struct sp_entry {
  uint32_t stack;  /* in `stacks` */
  uint32_t labels; /* in `lists` */
  spanprof_span span;
  uint64_t samples;
  uint64_t ticks;
  uint64_t cpu_ns;
} sp_entry;

typedef struct sp_pprof_writer {
  const sp_mem *mem;
  const sp_stack_table *stacks;
  const sp_window *window;
  sp_pprof_part part;
  sp_pprof_labels labels;
  sp_gzip gzip;
  sp_encoded sums;     /* of the part, without its bytes */
  uint32_t part_count; /* finished ones */
  size_t sample_count; /* of the part, as the server counts */
  size_t raw_bytes;
} sp_pprof_writer;

/* Begin the first part. All the tables, whose frames are named, and the window
 * outlive the writer; `names` gets the names of spans.
 * SPANPROF_ERR_NOMEM: as with every call; dispose of the writer. */
spanprof_status sp_pprof_writer_open(sp_pprof_writer *writer, const sp_mem *mem,
                                     sp_name_table *names,
                                     const sp_stack_table *stacks,
                                     const sp_label_table *lists,
                                     const sp_window *window);
void sp_pprof_writer_dispose(sp_pprof_writer *writer);

/* Add an entry to the part. SPANPROF_ERR_LIMIT: the part is full; finish it and
 * add the entry to the next, where it fits. */
spanprof_status sp_pprof_writer_add(sp_pprof_writer *writer,
                                    const sp_entry *entry);

/* End the part, which has a sample at least; the caller owns its bytes. */
spanprof_status sp_pprof_writer_finish(sp_pprof_writer *writer,
                                       sp_encoded *out);

/* Begin the part after a finished one. */
spanprof_status sp_pprof_writer_next(sp_pprof_writer *writer);

#endif
