/* The rows of a table of spans, by name or one by one. A week has millions, so
 * that what few of them have is kept apart. */
#ifndef SP_SPAN_ROWS_H
#define SP_SPAN_ROWS_H

#include "server/model/selector.h"
#include "server/query/selector/text_set.h"
#include "span_durations.h"

typedef struct sp_span_row {
  union {
    uint64_t span_id; /* by id */
    uint64_t spans;   /* by name: distinct ids */
  };
  int64_t total;
  uint64_t samples;
  /* 1 more than a place in the texts and lists of sp_span_rows; 0: none. */
  uint32_t name;    /* 0: samples have no name */
  uint32_t service; /* 0: several, or none */
  uint32_t trace;
  uint32_t times;
} sp_span_row;

/* Of a row's spans that are in traces. */
typedef struct sp_span_times {
  uint64_t traced;
  int64_t duration_ns; /* together */
  int64_t longest_ns;
  int64_t p50_ns, p99_ns; /* which so many of them did not exceed */
} sp_span_times;

typedef struct sp_span_rows {
  const sp_mem *mem;
  bool by_id;
  sp_text_set texts;
  sp_index *indexes;
  sp_span_row **blocks;
  size_t block_count, block_room;
  size_t count;
  sp_trace_id *traces;
  size_t trace_count, trace_room;
  sp_span_times *times;
  size_t times_count, times_room;
  sp_span_durations durations; /* by places in `times` */
} sp_span_rows;

/* Greater than 0: `left` comes behind `right`. No two rows are equal. */
typedef int (*sp_span_row_order)(const sp_span_rows *rows,
                                 const sp_span_row *left,
                                 const sp_span_row *right);

void sp_span_rows_init(sp_span_rows *rows, sp_arena *arena, bool by_id);
void sp_span_rows_dispose(sp_span_rows *rows);

/* The number of a text in rows; 0 of NULL. */
spanprof_status sp_span_rows_text(sp_span_rows *rows, const char *text,
                                  uint32_t *number);
const char *sp_span_rows_text_of(const sp_span_rows *rows, uint32_t number);

sp_span_row *sp_span_rows_at(const sp_span_rows *rows, size_t number);

/* The row of an id, or of a name's number. SP_INDEX_NONE: there is none yet. */
uint32_t sp_span_rows_find(const sp_span_rows *rows, uint64_t span_id,
                           uint32_t name);

/* The same; a row where there is none. SPANPROF_ERR_NOMEM,
 * SPANPROF_ERR_LIMIT: two million rows. */
spanprof_status sp_span_rows_get(sp_span_rows *rows, uint64_t span_id,
                                 uint32_t name, uint32_t *out);

/* The trace of a row by id. */
spanprof_status sp_span_rows_set_trace(sp_span_rows *rows, uint32_t number,
                                       sp_trace_id trace);

/* How long a span of a row took. */
spanprof_status sp_span_rows_add_time(sp_span_rows *rows, uint32_t number,
                                      int64_t ns);

/* Behind the last time: which durations so many did not exceed. */
void sp_span_rows_quantiles(sp_span_rows *rows);

/* Zero where none of the row's spans is in a trace. */
sp_span_times sp_span_rows_times(const sp_span_rows *rows,
                                 const sp_span_row *row);

/* NULL: no such order. */
sp_span_row_order sp_span_rows_order(const char *name);

/* Afterwards the first `count` rows in the order are the last, backwards, and
 * none is found or added. */
void sp_span_rows_select(sp_span_rows *rows, sp_span_row_order order,
                         size_t count);

#endif
