/* A link whose form users define: text with placeholders. See url_template of
 * spanprof_span_rules_options. */
#ifndef SP_URL_TEMPLATE_H
#define SP_URL_TEMPLATE_H

#include "profile_url.h"

typedef struct sp_url_template sp_url_template;

/* Parse a template. Returns SPANPROF_ERR_ARGUMENT with a message that names
 * url_template if the template is empty, is not UTF-8, or has a control
 * character or an unknown or unterminated placeholder. Returns
 * SPANPROF_ERR_NOMEM if there is no memory. */
spanprof_status sp_url_template_new(const char *text, const sp_mem *mem,
                                    sp_url_template **out);

/* `url_template` may be NULL. */
void sp_url_template_free(sp_url_template *url_template);

/* Append the link with all placeholders replaced. {app} is the application name
 * without ".cpu", as the server knows it; {query} includes ".cpu". Values are
 * percent-encoded (all characters but [A-Za-z0-9-._~]), except {server} at the
 * very beginning. Nothing is appended if a placeholder has no value because the
 * application name or the server is unknown. */
void sp_url_template_write(const sp_url_template *url_template,
                           const sp_url_place *place, const sp_url_span *span,
                           int64_t now_s, sp_buffer *out);

#endif
