/* Profiles, traces and small documents in one SQLite file.
 *
 * Threads: any thread may call these functions. One thread writes: it puts the
 * work of several calls into one transaction. Each reader has its own
 * connection and sees the data that was durable when it began. Another thread
 * compacts profiles by series and hour into blocks, and deletes data that is
 * too old or exceeds the limits.
 *
 * Each failure has a sentence (spanprof_last_error()). SPANPROF_ERR_IO: the
 * file cannot be written or read, which may be temporary (disk full).
 * SPANPROF_ERR_NOMEM. SPANPROF_ERR_LIMIT: too much for one call. */
#ifndef SP_STORE_H
#define SP_STORE_H

#include "server/model/gate.h"
#include "server/model/received.h"
#include "server/model/selector.h"
#include "server/model/stack_tree.h"
#include "server/model/text_pair.h"
#include "util/system/clock.h"
#include "util/system/log.h"

typedef struct sp_store sp_store;

typedef struct sp_store_options {
  const sp_mem *mem;
  const sp_clock *clock;
  sp_log *log;
  const char *path;      /* of the file; its directory must exist */
  uint64_t retention_ns; /* 0: no limit */
  uint64_t max_bytes;    /* of all files; 0: limited by the volume only */
  uint64_t max_series;   /* 0: no limit */
  uint64_t max_series_per_application; /* 0: no limit */
  uint64_t page_count_max; /* tests: SQLite's max_page_count; 0: no limit */
} sp_store_options;

/* Open the store, or create it. SPANPROF_ERR_STATE: another process has it
 * open. SPANPROF_ERR_FORMAT: the file is not a store, or has a newer version.
 */
spanprof_status sp_store_open(sp_store **out, const sp_store_options *options);

/* Stop the store's threads after their transactions. NULL is allowed. */
void sp_store_close(sp_store *store);

/* ---- Profiles ---------------------------------------------------------- */

/* Store all the profiles, or none. Returns once they are durable and visible.
 *
 * If the store already has a profile with the same series and time, an equal
 * profile is not stored again, and a different one is stored as well.
 * `repeated` (or NULL) receives for each profile whether it is such a
 * repetition. */
spanprof_status sp_store_put(sp_store *store,
                             const sp_received *const *profiles, size_t count,
                             bool *repeated);

/* Returns the gate for threads that parse uploads. A thread enters it for one
 * profile at a time, so that the writer's thread gets a core. Leave it before
 * sp_store_put(), which enters it itself. */
sp_gate *sp_store_gate(sp_store *store);

/* Add up the stacks of a selection. The caller owns *out; an empty selection
 * gives an empty tree. SPANPROF_ERR_TIMEOUT: it was cancelled. */
spanprof_status sp_store_stacks(sp_store *store, const sp_selector *selector,
                                sp_stack_tree **out);

/* As sp_store_stacks(), with one sum for each series, span and trace.
 * SPANPROF_ERR_LIMIT: too many of them. */
spanprof_status sp_store_samples(sp_store *store, const sp_selector *selector,
                                 sp_stack_tree **out);

/* One profile of one series, or the part of it that one span has. Valid during
 * the callback. */
typedef struct sp_store_point {
  const sp_text_pairs *labels; /* all labels of the series; equal series of
                                * one selection have the same pointer */
  int64_t time_ns;
  int64_t duration_ns;
  int64_t value;
  uint64_t sample_count; /* in the interval of its profile, if known */
  sp_profile_uuid profile;
  uint64_t span_id;     /* 0: samples without a span, or spans are not
                         * requested */
  sp_trace_id trace_id; /* likewise; both halves 0: none */
} sp_store_point;

/* Returns false to stop the selection, which is not a failure. */
typedef bool (*sp_store_point_fn)(void *data, const sp_store_point *point);

typedef enum sp_store_points_of {
  SP_STORE_POINT_PER_PROFILE, /* one for each profile and series */
  SP_STORE_POINT_PER_SPAN,    /* one for each profile, series, span and trace */
} sp_store_points_of;

/* Call `fn` for each point, in any order. */
spanprof_status sp_store_points(sp_store *store, const sp_selector *selector,
                                sp_store_points_of of, sp_store_point_fn fn,
                                void *data);

/* Receives the labels of a series of one profile type, sorted, with __name__,
 * __type__, __unit__, __period_type__, __period_unit__, __profile_type__ and
 * __service_name__. Each series is passed once, if it has a profile in the
 * range. The labels are valid during the call only. */
typedef bool (*sp_store_series_fn)(void *data, const sp_text_pairs *labels);

/* Labels that the caller uses. Others may be missing, and series that differ
 * only in others may be merged. No names: all labels. */
typedef struct sp_store_names {
  const char *const *names;
  size_t count;
} sp_store_names;

spanprof_status sp_store_series(sp_store *store, const sp_selector *selector,
                                sp_store_names names, sp_store_series_fn fn,
                                void *data);

/* ---- Traces ------------------------------------------------------------ */

typedef struct sp_store_span {
  sp_trace_id trace_id;
  uint64_t span_id;
  uint64_t parent_id; /* 0: a root */
  const char *name;
  const char *service;
  int64_t start_ns;
  int64_t duration_ns;
  int32_t kind;   /* as in OTLP */
  int32_t status; /* 0 unset, 1 ok, 2 error */
  const char *status_message;
  const char *attributes; /* a JSON object: the span's, and the resource's under
                           * "resource" */
} sp_store_span;

/* As sp_store_put(). A span that was stored before is replaced. */
spanprof_status sp_store_put_spans(sp_store *store, const sp_store_span *spans,
                                   size_t count);

typedef bool (*sp_store_span_fn)(void *data, const sp_store_span *span);

typedef enum sp_store_span_order {
  SP_STORE_SPANS_LATEST,
  SP_STORE_SPANS_SLOWEST,
} sp_store_span_order;

/* NULL, 0 or an empty list: no restriction. */
typedef struct sp_store_span_filter {
  const char *service;
  const char *name;
  int64_t from_ns; /* range of their start times */
  int64_t until_ns;
  int64_t duration_min_ns;
  const sp_trace_id *trace_ids;
  size_t trace_count;
  const uint64_t *span_ids;
  size_t span_count;
  bool roots_only;
  sp_store_span_order order;
  size_t limit;
  size_t offset;     /* spans to skip before the first of `limit` */
  sp_cancel *cancel; /* stops the query with SPANPROF_ERR_TIMEOUT; may be
                      * NULL */
} sp_store_span_filter;

spanprof_status sp_store_spans(sp_store *store,
                               const sp_store_span_filter *filter,
                               sp_store_span_fn fn, void *data);

/* ---- Documents: settings, annotations, ad hoc uploads ------------------- */

typedef struct sp_store_document {
  const char *kind; /* "settings", "annotation", "adhoc" */
  const char *key;  /* unique within its kind */
  int64_t time_ms;
  const void *bytes;
  size_t size;
} sp_store_document;

typedef bool (*sp_store_document_fn)(void *data,
                                     const sp_store_document *document);

spanprof_status sp_store_put_document(sp_store *store,
                                      const sp_store_document *document);
spanprof_status sp_store_remove_document(sp_store *store, const char *kind,
                                         const char *key);

/* Documents with from_ms <= time_ms <= until_ms, ordered by time. `key` NULL:
 * all. */
spanprof_status sp_store_documents(sp_store *store, const char *kind,
                                   const char *key, int64_t from_ms,
                                   int64_t until_ms, sp_store_document_fn fn,
                                   void *data);

/* ---- State ------------------------------------------------------------- */

typedef struct sp_store_stats {
  int64_t oldest_ns; /* of profiles; 0: no profile */
  int64_t newest_ns;
  uint64_t profiles;       /* stored now */
  uint64_t bytes;          /* on disk, of all files */
  uint64_t limit_bytes;    /* of `bytes`, by max_bytes and by the volume */
  uint64_t blocks;         /* blocks of several profiles */
  uint64_t damaged_blocks; /* found since the start */
  uint64_t dropped_blocks; /* by the retention, since the start */
  uint64_t dropped_profiles;
  uint64_t series;            /* stored now */
  uint64_t other_series;      /* beyond the limits, merged as [other] */
  uint64_t repeated_profiles; /* repeated uploads since the start */
} sp_store_stats;

spanprof_status sp_store_get_stats(sp_store *store, sp_store_stats *out);

/* Do the regular maintenance now: compact everything that can be compacted;
 * delete data that is older than the retention or exceeds the limits. Of the
 * documents, only annotations expire. */
spanprof_status sp_store_compact(sp_store *store);
spanprof_status sp_store_drop_old(sp_store *store);

/* Delete names, stacks and series that no profile or span refers to any more.
 * If such a call is running already, do nothing. */
spanprof_status sp_store_collect(sp_store *store);

#endif
