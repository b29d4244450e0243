/* Spans: started, named, ended; found by number. See spanprof_span_start().
 *
 * Words. The parent of a span is the one it was started under, by ids; its root
 * is the outermost of its ancestors in this process. Active is the span that a
 * thread entered last and has not left. Carried is the span whose id a sample
 * gets while another is active: that one itself; where it is not sampled, what
 * its parent carries; its root where the rules say root_span_only.
 *
 * Life: a span is kept while it is not ended, while any context has it on its
 * stack or a descendant refers to it, and until the sweep after the next one,
 * so that a sample that carries it, or a descendant, can always be named. */
#ifndef SP_SPAN_H
#define SP_SPAN_H

#include "settings/settings.h"
#include "util/base.h"

/* Ancestors that a sample names, the nearest ones. */
#define SP_SPAN_ANCESTORS_MAX 16

typedef struct sp_span_view {
  char profile_id[17]; /* 16 lowercase hex */
  uint64_t id;         /* the same as a number */
  bool span_id_label;  /* label span_id, else profile_id */
  char trace_id[33];   /* "" unless the rules ask for the label */
  const char *name;    /* NULL unless the rules ask for it; see below */
  size_t name_bytes;
  const char *name_label; /* "span_name" or "span" */
  spanprof_span parent;   /* the nearest sampled local ancestor, which can be
                           * described as long as this span can; 0: none, or
                           * root_span_only */
} sp_span_view;

/* Describe a span a sample carries: copies the name, cleaned and capped
 * ("[other]"), into `name_buffer`, cut to `size` (2048 is always enough; no
 * NUL). False: unknown number. Collector only. */
bool sp_span_describe(spanprof_span span, char *name_buffer, size_t size,
                      sp_span_view *out);

/* spanprof_span_attribute_get() at a given time. */
spanprof_status sp_span_attribute_at(const spanprof_span_rules *rules,
                                     spanprof_span span,
                                     spanprof_span_attribute attribute,
                                     int64_t now_s, char *buffer, size_t size,
                                     size_t *length);

/* Free what no sample can carry any more and nobody holds; called by the
 * collector once a second, after the samples taken so far were seen. */
void sp_span_sweep(void);

/* What rules without own values use: application name, server address, static
 * labels, and the cap of span names; NULL: no session. Copied. While there is a
 * session the sweep is the collector's; else spans sweep themselves as they
 * end, so the collector must be gone before it is reset. */
spanprof_status sp_span_defaults_set(const sp_settings *settings);

/* The session's server opens links to spans: see SPANPROF_URL_AUTO. Until the
 * defaults are set again. Any thread. */
void sp_span_links_open(void);

/* Another application name for them. SPANPROF_ERR_NOMEM: as before. */
spanprof_status sp_span_defaults_name(const char *name);

#endif
