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

/* Maximum number of ancestors that a sample names. It names the nearest
 * ones. */
#define SP_SPAN_ANCESTORS_MAX 16

typedef struct sp_span_view {
  char profile_id[17]; /* 16 lowercase hex digits */
  uint64_t id;         /* `profile_id` as a number */
  bool span_id_label;  /* name the label span_id instead of profile_id */
  char trace_id[33];   /* "" unless the rules add this label */
  /* NULL unless the rules add it; otherwise in `name_buffer`. */
  const char *name;
  size_t name_bytes;
  const char *name_label; /* "span_name" or "span" */
  /* The nearest sampled local ancestor. sp_span_describe() can describe it at
   * least until this span is freed. 0: there is none, or the rule
   * root_span_only is set. */
  spanprof_span parent;
} sp_span_view;

/* Describe a span that a sample carries. Copies the name into `name_buffer`,
 * truncated to `size` (2048 is always enough; without NUL); the name is
 * cleaned, and "[other]" if there are too many names. Returns false if the
 * number is unknown. Only the collector calls it. */
bool sp_span_describe(spanprof_span span, char *name_buffer, size_t size,
                      sp_span_view *out);

/* Like spanprof_span_attribute_get(), but for the time `now_s`. */
spanprof_status sp_span_attribute_at(const spanprof_span_rules *rules,
                                     spanprof_span span,
                                     spanprof_span_attribute attribute,
                                     int64_t now_s, char *buffer, size_t size,
                                     size_t *length);

/* Free spans that no future sample can carry and that have no references. The
 * collector calls this once a second, after it has read the samples in the
 * ring. */
void sp_span_sweep(void);

/* Set the values for rules that do not set them: application name, server
 * address, static labels, and the maximum number of span names. They are
 * copied. NULL: there is no session.
 *
 * During a session the collector calls sp_span_sweep(). Without a session, the
 * threads that end spans free them. The collector must therefore have finished
 * before a call with NULL. */
spanprof_status sp_span_defaults_set(const sp_settings *settings);

/* Record that the session's server opens links to spans (see
 * SPANPROF_URL_AUTO). This is valid until sp_span_defaults_set() is called. Any
 * thread may call it. */
void sp_span_links_open(void);

/* Change the default application name. If it returns SPANPROF_ERR_NOMEM, the
 * name is unchanged. */
spanprof_status sp_span_defaults_name(const char *name);

#endif
