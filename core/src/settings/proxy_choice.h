/* Chooses the proxy: the option's, otherwise the environment's for the URL
 * scheme. */
#ifndef SP_PROXY_CHOICE_H
#define SP_PROXY_CHOICE_H

#include "option_value.h"
#include "util/memory/buffer.h"

/* If given->text is NULL (neither the option nor PYROSCOPE_PROXY is set), read
 * https_proxy or http_proxy, by the server's scheme, and then all_proxy; each
 * in lower case first, as curl does
 * (https://everything.curl.dev/usingcurl/proxies/env.html). The value "" ends
 * the search: no proxy. HTTP_PROXY in upper case is ignored, with a note, if
 * REQUEST_METHOD is set: in a CGI program it may be a header of the request
 * (https://httpoxy.org). */
void sp_proxy_choose(sp_option_value *given, bool encrypted,
                     char *const *environment, sp_buffer *notes);

/* Check that curl can use the URL as a proxy. A missing scheme means http.
 * SPANPROF_ERR_ARGUMENT: the message does not contain the value, which may have
 * credentials. */
spanprof_status sp_proxy_check(const sp_option_value *given);

/* If given->text is NULL, read no_proxy or NO_PROXY. */
void sp_proxy_choose_exceptions(sp_option_value *given,
                                char *const *environment);

#endif
