/* The rules with which spans are started, and the session's values, which are
 * used where rules set no value. */
#ifndef SP_SPAN_RULES_H
#define SP_SPAN_RULES_H

#include "profile_url.h"
#include "url_template.h"

struct spanprof_span_rules {
  const sp_mem *mem;
  char *application_name; /* NULL: use the session's name */
  /* Without credentials, query and fragment. NULL: use the session's
   * address. */
  char *server_address;
  sp_url_labels baseline;
  sp_url_template *url_template; /* NULL: links have pyroscope-otel's form */
  bool root_span_only;
  uint8_t add_url; /* 0, 1 or SPANPROF_URL_AUTO */
  bool add_baseline_urls;
  uint32_t span_bits; /* bits such as SP_SPAN_ADD_NAME */
};

/* Rules with all defaults. */
extern const spanprof_span_rules sp_span_rules_default;

/* Implements spanprof_span_rules_new() with an allocator. */
spanprof_status sp_span_rules_make(const spanprof_span_rules_options *options,
                                   const sp_mem *mem,
                                   spanprof_span_rules **out);

/* Do the rules add this URL now? Lock-free, because it is called for each
 * span. */
bool sp_span_rules_adds(const spanprof_span_rules *rules,
                        spanprof_span_attribute attribute);

/* Append the URL of the attribute for the time `now_s`. Appends nothing if the
 * application name or the server is unknown. The caller owns `out`. */
void sp_span_rules_url(const spanprof_span_rules *rules,
                       spanprof_span_attribute attribute,
                       const sp_url_span *span, int64_t now_s, sp_buffer *out);

/* Called around a fork. */
void sp_span_rules_lock(void);
void sp_span_rules_unlock(void);

#endif
