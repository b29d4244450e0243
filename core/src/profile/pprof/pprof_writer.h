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
  uint32_t stack;  /* number in `stacks` */
  uint32_t labels; /* number of a list of labels */
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
  sp_encoded sums;     /* sums of the current part, without its bytes */
  uint32_t part_count; /* number of finished parts */
  /* Samples of the current part, as the server counts them. */
  size_t sample_count;
  size_t raw_bytes;
} sp_pprof_writer;

/* Begin the first part. The names of all frames must be resolved. The tables
 * and the window outlive the writer, which adds the names of spans to `names`.
 * If this or a function below returns SPANPROF_ERR_NOMEM, the caller can only
 * dispose of the writer. */
spanprof_status sp_pprof_writer_open(sp_pprof_writer *writer, const sp_mem *mem,
                                     sp_name_table *names,
                                     const sp_stack_table *stacks,
                                     const sp_label_table *lists,
                                     const sp_window *window);
void sp_pprof_writer_dispose(sp_pprof_writer *writer);

/* Add an entry to the current part. Returns SPANPROF_ERR_LIMIT if the part is
 * full; the caller then finishes it and adds the entry to the next part, which
 * always has space for it. */
spanprof_status sp_pprof_writer_add(sp_pprof_writer *writer,
                                    const sp_entry *entry);

/* Finish the current part, which has at least one sample. The caller owns the
 * bytes of *out. */
spanprof_status sp_pprof_writer_finish(sp_pprof_writer *writer,
                                       sp_encoded *out);

/* Begin the next part after sp_pprof_writer_finish(). */
spanprof_status sp_pprof_writer_next(sp_pprof_writer *writer);

#endif
