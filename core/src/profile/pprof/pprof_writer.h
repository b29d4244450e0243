/* Writes samples as gzip-compressed pprof, message by message, so that no tree
 * of the whole profile exists. The exact size of a sample is known before it is
 * added. */
#ifndef SP_PPROF_WRITER_H
#define SP_PPROF_WRITER_H

#include "gzip_stream.h"
#include "pprof_labels.h"
#include "profile/tables/stack_table.h"
#include "window.h"

/* Aggregated samples of one stack, one list of labels and one span. */
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
  uint32_t part_count; /* finished parts */
  size_t sample_count; /* of the part, as the server counts */
  size_t raw_bytes;
} sp_pprof_writer;

/* Begin the first part. All the tables (whose frames are named) and the window
 * outlive the writer; `names` receives the names of spans. SPANPROF_ERR_NOMEM,
 * also from all functions below: dispose of the writer. */
spanprof_status sp_pprof_writer_open(sp_pprof_writer *writer, const sp_mem *mem,
                                     sp_name_table *names,
                                     const sp_stack_table *stacks,
                                     const sp_label_table *lists,
                                     const sp_window *window);
void sp_pprof_writer_dispose(sp_pprof_writer *writer);

/* Add an entry to the part. SPANPROF_ERR_LIMIT: the part is full; finish it and
 * add the entry to the next one, where it fits. */
spanprof_status sp_pprof_writer_add(sp_pprof_writer *writer,
                                    const sp_entry *entry);

/* Finish the part, which has at least one sample. The caller owns its bytes. */
spanprof_status sp_pprof_writer_finish(sp_pprof_writer *writer,
                                       sp_encoded *out);

/* Begin the next part after a finished one. */
spanprof_status sp_pprof_writer_next(sp_pprof_writer *writer);

#endif
