/* Chooses the proxy: the one that the option gives, or, if the option is not
 * given, the one that the environment gives for the scheme of the server's URL.
 */
#ifndef SP_PROXY_CHOICE_H
#define SP_PROXY_CHOICE_H

#include "option_value.h"
#include "util/memory/buffer.h"

/* If given->text is NULL, because neither the option nor PYROSCOPE_PROXY is
 * set, read https_proxy (if `encrypted`) or http_proxy, and if that is not set,
 * all_proxy. Each name is tried in lower case and then in upper case, as curl
 * does (https://everything.curl.dev/usingcurl/proxies/env.html). The value ""
 * ends the search without a proxy. HTTP_PROXY in upper case is ignored, with a
 * note, if REQUEST_METHOD is set, because in a CGI program it may come from a
 * header of the request (https://httpoxy.org). */
void sp_proxy_choose(sp_option_value *given, bool encrypted,
                     char *const *environment, sp_buffer *notes);

/* Check that curl can use given->text as the URL of a proxy. A URL without a
 * scheme means http. If curl cannot, returns SPANPROF_ERR_ARGUMENT, with a
 * message that does not contain the URL, because the URL may have credentials.
 */
spanprof_status sp_proxy_check(const sp_option_value *given);

/* If given->text is NULL, read no_proxy or NO_PROXY. */
void sp_proxy_choose_exceptions(sp_option_value *given,
                                char *const *environment);

#endif
