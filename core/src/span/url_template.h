/* A user's own form of a link: text with placeholders. See url_template of
 * spanprof_span_rules_options. */
#ifndef SP_URL_TEMPLATE_H
#define SP_URL_TEMPLATE_H

#include "profile_url.h"

typedef struct sp_url_template sp_url_template;

/* SPANPROF_ERR_ARGUMENT: empty, not UTF-8, control characters, an unknown
 * placeholder or one without its end; the sentence names url_template.
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_url_template_new(const char *text, const sp_mem *mem,
                                    sp_url_template **out);

/* NULL is fine. */
void sp_url_template_free(sp_url_template *url_template);

/* Fill it in. {app} is the application name without ".cpu", as the server
 * knows it; {query} has it. Values are percent-encoded (all but
 * [A-Za-z0-9-._~]), {server} at the very beginning is not. Nothing is written
 * where a placeholder has no value because no application name or server is
 * known. */
void sp_url_template_write(const sp_url_template *url_template,
                           const sp_url_place *place, const sp_url_span *span,
                           int64_t now_s, sp_buffer *out);

#endif
