/* A user-defined link: text with placeholders. See url_template of
 * spanprof_span_rules_options. */
#ifndef SP_URL_TEMPLATE_H
#define SP_URL_TEMPLATE_H

#include "profile_url.h"

typedef struct sp_url_template sp_url_template;

/* Parse a template. SPANPROF_ERR_ARGUMENT: empty, not UTF-8, control
 * characters, an unknown or unterminated placeholder; the message names
 * url_template. SPANPROF_ERR_NOMEM. */
spanprof_status sp_url_template_new(const char *text, const sp_mem *mem,
                                    sp_url_template **out);

/* NULL is fine. */
void sp_url_template_free(sp_url_template *url_template);

/* Append the link with all placeholders replaced. {app} is the application name
 * without ".cpu", as the server knows it; {query} includes ".cpu". Values are
 * percent-encoded (all but [A-Za-z0-9-._~]), except {server} at the very
 * beginning. Appends nothing if a placeholder has no value because the
 * application name or the server is unknown. */
void sp_url_template_write(const sp_url_template *url_template,
                           const sp_url_place *place, const sp_url_span *span,
                           int64_t now_s, sp_buffer *out);

#endif
