/* Spans: start, rename, end, and description by number. See
 * spanprof_span_start().
 *
 * Terms. The parent of a span is the span under which it was started, by its
 * ids. Its root is its outermost ancestor in this process. A thread's active
 * span is the one that it entered last and has not left. While a span is
 * active, samples carry the id of the carried span: the active span itself; or,
 * if it is not sampled, the span that its parent carries; or, with the rule
 * root_span_only, its root.
 *
 * Lifetime: a span is needed until it has ended, no context has it on its
 * stack, and no descendant refers to it. The second sweep after that frees it.
 * So a sample that carries the span or a descendant can always be described. */
#ifndef SP_SPAN_H
#define SP_SPAN_H

#include "settings/settings.h"
#include "util/base.h"

/* Maximum number of ancestors that a sample names, the nearest ones. */
#define SP_SPAN_ANCESTORS_MAX 16

typedef struct sp_span_view {
  char profile_id[17]; /* 16 lowercase hex digits */
  uint64_t id;         /* profile_id as a number */
  bool span_id_label;  /* use the label span_id, not profile_id */
  char trace_id[33];   /* "" unless the rules add this label */
  const char *name;    /* NULL unless the rules add it; see below */
  size_t name_bytes;
  const char *name_label; /* "span_name" or "span" */
  /* The nearest sampled local ancestor, which can be described as long as this
   * span; 0: none, or root_span_only. */
  spanprof_span parent;
} sp_span_view;

/* Describe a span that a sample carries. Copies the name, cleaned and capped
 * ("[other]"), into `name_buffer`, truncated to `size` (2048 is always enough;
 * no NUL). Returns false if the number is unknown. Collector only. */
bool sp_span_describe(spanprof_span span, char *name_buffer, size_t size,
                      sp_span_view *out);

/* As spanprof_span_attribute_get(), at a given time. */
spanprof_status sp_span_attribute_at(const spanprof_span_rules *rules,
                                     spanprof_span span,
                                     spanprof_span_attribute attribute,
                                     int64_t now_s, char *buffer, size_t size,
                                     size_t *length);

/* Free spans that no future sample can carry and that have no references. The
 * collector calls this once a second, after it has read the samples taken
 * before. */
void sp_span_sweep(void);

/* Set the values for rules without values of their own: application name,
 * server address, static labels, and the cap of span names. Copies them. NULL:
 * no session.
 *
 * During a session the collector sweeps. Without a session, the threads that
 * end spans sweep. The collector must therefore have finished before a call
 * with NULL. */
spanprof_status sp_span_defaults_set(const sp_settings *settings);

/* Record that the session's server opens links to spans (see
 * SPANPROF_URL_AUTO), until the defaults are set again. Any thread. */
void sp_span_links_open(void);

/* Change the default application name. On SPANPROF_ERR_NOMEM the old one
 * stays. */
spanprof_status sp_span_defaults_name(const char *name);

#endif
