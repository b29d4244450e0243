/* Profiles, traces and small documents in one SQLite file.
 *
 * Threads: any thread may call these functions. One thread writes: it puts the
 * work of several calls into one transaction. Each reading call has its own
 * connection, and sees the data that was durable when the call began. Another
 * thread compacts profiles by series and hour into blocks, and deletes data
 * that is too old or exceeds the limits.
 *
 * A function that fails sets the error text (spanprof_last_error()). All of
 * them may return SPANPROF_ERR_IO if the file cannot be written or read, which
 * may be temporary (disk full), SPANPROF_ERR_NOMEM, or SPANPROF_ERR_LIMIT if a
 * call needs more than it may use. */
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
  const char *path;      /* path of the SQLite file; its directory must exist */
  uint64_t retention_ns; /* 0: no limit */
  uint64_t max_bytes;    /* limit for the store's files together; 0: only the
                          * volume limits them */
  uint64_t max_series;   /* 0: no limit */
  uint64_t max_series_per_application; /* 0: no limit */
  uint64_t page_count_max; /* SQLite's max_page_count, which only tests set; 0:
                            * no limit */
} sp_store_options;

/* Open the store, or create it. Returns SPANPROF_ERR_STATE if another process
 * has it open, and SPANPROF_ERR_FORMAT if the file is not a store or has a
 * newer version. */
spanprof_status sp_store_open(sp_store **out, const sp_store_options *options);

/* Stop the store's threads after their current transactions, and free the
 * store. `store` may be NULL. */
void sp_store_close(sp_store *store);

/* ---- Profiles ---------------------------------------------------------- */

/* Store all the profiles, or none. Returns once they are durable and visible.
 *
 * A profile is not stored again if the store already has one with the same
 * source (labels of the upload), time and content. repeated[i] is set to true
 * if this is so for profile i. `repeated` may be NULL. */
spanprof_status sp_store_put(sp_store *store,
                             const sp_received *const *profiles, size_t count,
                             bool *repeated);

/* Returns the gate for threads that parse uploads. A thread enters it for one
 * profile at a time, so that the writer's thread gets a core. The thread leaves
 * the gate before it calls sp_store_put(), which enters the gate itself. */
sp_gate *sp_store_gate(sp_store *store);

/* Add up the samples that match the selector, by stack. The caller owns *out,
 * which is an empty tree if no sample matches. Returns SPANPROF_ERR_TIMEOUT if
 * the query was cancelled. */
spanprof_status sp_store_stacks(sp_store *store, const sp_selector *selector,
                                sp_stack_tree **out);

/* Like sp_store_stacks(), but with separate sums for each series, span and
 * trace. Returns SPANPROF_ERR_LIMIT if there are too many sums. */
spanprof_status sp_store_samples(sp_store *store, const sp_selector *selector,
                                 sp_stack_tree **out);

/* The value of one profile of one series, or the part of this value that
 * belongs to one span. Valid during the callback only. */
typedef struct sp_store_point {
  const sp_text_pairs *labels; /* all labels of the series; equal series of
                                * one selection have the same pointer */
  int64_t time_ns;
  int64_t duration_ns;
  int64_t value;
  uint64_t sample_count; /* number of samples in `value`: sp_sample_count() */
  sp_profile_uuid profile;
  uint64_t span_id;     /* 0: samples without a span, or spans are not
                         * requested */
  sp_trace_id trace_id; /* both halves 0: samples without a trace, or spans are
                         * not requested */
} sp_store_point;

/* Returns false to stop sp_store_points(), which then returns SPANPROF_OK. */
typedef bool (*sp_store_point_fn)(void *data, const sp_store_point *point);

typedef enum sp_store_points_of {
  SP_STORE_POINT_PER_PROFILE, /* one point for each profile and series */
  SP_STORE_POINT_PER_SPAN, /* one point for each profile, series, span and trace
                            */
} sp_store_points_of;

/* Call `fn` for each point, in any order. */
spanprof_status sp_store_points(sp_store *store, const sp_selector *selector,
                                sp_store_points_of of, sp_store_point_fn fn,
                                void *data);

/* Receives the labels of a series of one profile type, sorted, with __name__,
 * __type__, __unit__, __period_type__, __period_unit__, __profile_type__ and
 * __service_name__. Called once for each matching series that has a profile in
 * the selector's range. The labels are valid during the call only. */
typedef bool (*sp_store_series_fn)(void *data, const sp_text_pairs *labels);

/* Names of the labels that the caller uses. Other labels may be missing, and
 * series that differ only in other labels may be merged. An empty list stands
 * for all labels. */
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
  uint64_t parent_id; /* 0: a root span */
  const char *name;
  const char *service;
  int64_t start_ns;
  int64_t duration_ns;
  int32_t kind;   /* as in OTLP */
  int32_t status; /* 0 unset, 1 ok, 2 error */
  const char *status_message;
  const char *attributes; /* a JSON object of the span's attributes; those of
                           * the resource are under "resource" */
} sp_store_span;

/* Store all the spans, or none. Returns once they are durable and visible. A
 * span replaces a stored span with the same trace and span id. */
spanprof_status sp_store_put_spans(sp_store *store, const sp_store_span *spans,
                                   size_t count);

typedef bool (*sp_store_span_fn)(void *data, const sp_store_span *span);

typedef enum sp_store_span_order {
  SP_STORE_SPANS_LATEST,
  SP_STORE_SPANS_SLOWEST,
} sp_store_span_order;

/* The value of an attribute, as text: a number in decimal, a boolean as "true"
 * or "false". `value` is NULL for any value. */
typedef struct sp_store_attribute {
  const char *key;
  const char *value;
} sp_store_attribute;

/* A member that is NULL, 0 or an empty list does not restrict the result. */
typedef struct sp_store_span_filter {
  const char *service;
  const char *name;
  int64_t from_ns; /* range of the spans' start times */
  int64_t until_ns;
  int64_t duration_min_ns;
  const sp_trace_id *trace_ids;
  size_t trace_count;
  const uint64_t *span_ids;
  size_t span_count;
  bool roots_only;
  /* Only spans whose trace has a span with the status 2 (error). */
  bool with_errors;
  /* Only spans whose trace has a span with all these attributes. The attributes
   * of a resource belong to its spans. */
  const sp_store_attribute *attributes;
  size_t attribute_count;
  sp_store_span_order order;
  size_t limit;
  size_t offset;     /* spans to skip before the first of `limit` */
  sp_cancel *cancel; /* stops the query with SPANPROF_ERR_TIMEOUT; may be
                      * NULL */
} sp_store_span_filter;

spanprof_status sp_store_spans(sp_store *store,
                               const sp_store_span_filter *filter,
                               sp_store_span_fn fn, void *data);

/* The spans of one service that have the same name. The texts are valid during
 * the callback only. */
typedef struct sp_store_span_name {
  const char *service;
  const char *name;
  int64_t spans;
} sp_store_span_name;

typedef bool (*sp_store_span_name_fn)(void *data,
                                      const sp_store_span_name *name);

/* Count the spans of a filter, whose order, limit and offset do not matter. */
spanprof_status sp_store_span_count(sp_store *store,
                                    const sp_store_span_filter *filter,
                                    int64_t *out);

/* Call `fn` for each service and name of the filter's spans, the most frequent
 * ones first, until it returns false. The filter's limit and offset apply to
 * the names. */
spanprof_status sp_store_span_names(sp_store *store,
                                    const sp_store_span_filter *filter,
                                    sp_store_span_name_fn fn, void *data);

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

/* Call `fn` for each document of the kind with from_ms <= time_ms <= until_ms,
 * ordered by time, until it returns false. If `key` is not NULL, only a
 * document with this key is passed. */
spanprof_status sp_store_documents(sp_store *store, const char *kind,
                                   const char *key, int64_t from_ms,
                                   int64_t until_ms, sp_store_document_fn fn,
                                   void *data);

/* ---- State ------------------------------------------------------------- */

typedef struct sp_store_stats {
  int64_t oldest_ns; /* time of the oldest profile; 0: no profile */
  int64_t newest_ns;
  uint64_t profiles;       /* profiles stored now */
  uint64_t bytes;          /* size of all files on disk */
  uint64_t limit_bytes;    /* limit of `bytes`, set by max_bytes or by the
                            * volume */
  uint64_t blocks;         /* blocks of several profiles */
  uint64_t damaged_blocks; /* damaged blocks found since the start */
  uint64_t dropped_blocks; /* blocks deleted since the start because they were
                            * too old or the store was too large */
  uint64_t dropped_profiles;
  uint64_t series;            /* series stored now */
  uint64_t other_series;      /* new series since the start that were beyond the
                               * limits, stored with "[other]" */
  uint64_t repeated_profiles; /* repeated uploads since the start */
} sp_store_stats;

spanprof_status sp_store_get_stats(sp_store *store, sp_store_stats *out);

/* Do a part of the regular maintenance now. sp_store_compact() compacts
 * everything that can be compacted. sp_store_drop_old() deletes data that is
 * older than the retention or exceeds the limits. Of the documents, only
 * annotations are deleted because of their age. */
spanprof_status sp_store_compact(sp_store *store);
spanprof_status sp_store_drop_old(sp_store *store);

/* Delete names, stacks and series that no profile or span refers to any more.
 * Does nothing while another call of this function is running. */
spanprof_status sp_store_collect(sp_store *store);

#endif
