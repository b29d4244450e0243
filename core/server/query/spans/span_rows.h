/* The rows of a table of spans: one row for each span name, or for each span. A
 * week has millions of rows, so values that few rows have are stored
 * separately. */
#ifndef SP_SPAN_ROWS_H
#define SP_SPAN_ROWS_H

#include "server/model/selector.h"
#include "server/query/selector/text_set.h"
#include "span_durations.h"

typedef struct sp_span_row {
  union {
    uint64_t span_id; /* the span, in a table by id */
    uint64_t spans;   /* number of span ids, in a table by name */
  };
  int64_t total;
  uint64_t samples;
  /* Indexes in the texts and lists of sp_span_rows, plus 1; 0: none. */
  uint32_t name;    /* 0: the samples have no span name */
  uint32_t service; /* 0: the row has several services, or none */
  uint32_t trace;
  uint32_t times;
} sp_span_row;

/* The durations of a row's spans that are in stored traces. */
typedef struct sp_span_times {
  uint64_t traced;
  int64_t duration_ns; /* sum of the durations */
  int64_t longest_ns;
  int64_t p50_ns, p99_ns; /* quantiles */
} sp_span_times;

typedef struct sp_span_rows {
  const sp_mem *mem;
  bool by_id;
  sp_text_set texts;
  sp_index *indexes;
  sp_span_row **blocks;
  size_t block_count, block_capacity;
  size_t count;
  sp_trace_id *traces;
  size_t trace_count, trace_capacity;
  sp_span_times *times;
  size_t times_count, times_capacity;
  sp_span_durations durations; /* by the indexes of `times` */
} sp_span_rows;

/* Returns a number greater than 0 if `left` comes after `right`. No two rows
 * are equal. */
typedef int (*sp_span_row_order)(const sp_span_rows *rows,
                                 const sp_span_row *left,
                                 const sp_span_row *right);

void sp_span_rows_init(sp_span_rows *rows, sp_arena *arena, bool by_id);
void sp_span_rows_dispose(sp_span_rows *rows);

/* Get the number by which a row refers to a text. It is 0 for NULL. */
spanprof_status sp_span_rows_text(sp_span_rows *rows, const char *text,
                                  uint32_t *number);
const char *sp_span_rows_text_of(const sp_span_rows *rows, uint32_t number);

sp_span_row *sp_span_rows_at(const sp_span_rows *rows, size_t number);

/* Returns the number of the row of a span id, in a table by id, or of a name.
 * `name` is the number of the name's text. Returns SP_INDEX_NONE if there is no
 * such row. */
uint32_t sp_span_rows_find(const sp_span_rows *rows, uint64_t span_id,
                           uint32_t name);

/* Find or add the row of a span id or a name. Can return SPANPROF_ERR_NOMEM,
 * and SPANPROF_ERR_LIMIT if there are already two million rows. */
spanprof_status sp_span_rows_get(sp_span_rows *rows, uint64_t span_id,
                                 uint32_t name, uint32_t *out);

/* Set the trace of a row, in a table by id. */
spanprof_status sp_span_rows_set_trace(sp_span_rows *rows, uint32_t number,
                                       sp_trace_id trace);

/* Add the duration of a span in a trace to its row. */
spanprof_status sp_span_rows_add_time(sp_span_rows *rows, uint32_t number,
                                      int64_t ns);

/* Compute the quantiles of all rows. Call this after the last
 * sp_span_rows_add_time(). */
void sp_span_rows_quantiles(sp_span_rows *rows);

/* Returns the durations of a row. All are 0 if no span of the row is in a
 * stored trace. */
sp_span_times sp_span_rows_times(const sp_span_rows *rows,
                                 const sp_span_row *row);

/* Returns the order with this name, or NULL. */
sp_span_row_order sp_span_rows_order(const char *name);

/* Sort the rows partially. Those that are the first `count` in the order become
 * the last rows, in reverse order. After this call, no row may be found or
 * added. */
void sp_span_rows_select(sp_span_rows *rows, sp_span_row_order order,
                         size_t count);

#endif
