/* Which proxy to use: the option's, else the environment's for the scheme. */
#ifndef SP_PROXY_CHOICE_H
#define SP_PROXY_CHOICE_H

#include "given.h"
#include "util/memory/buffer.h"

/* Where given->text is NULL (neither option nor PYROSCOPE_PROXY), fill in
 * https_proxy or http_proxy by the server's scheme, then all_proxy; each in
 * lower case before upper case, as curl has it
 * (https://everything.curl.dev/usingcurl/proxies/env.html). A value "" ends the
 * search: no proxy. HTTP_PROXY in upper case is left alone, with a note, where
 * REQUEST_METHOD is set: in a CGI program it may be a request's header
 * (https://httpoxy.org). */
void sp_proxy_choose(sp_given *given, bool encrypted, char *const *environment,
                     sp_buffer *notes);

/* SPANPROF_ERR_ARGUMENT, in a sentence without the value, which may hold
 * credentials: not a URL curl can use as a proxy. A missing scheme means
 * http. */
spanprof_status sp_proxy_check(const sp_given *given);

/* Where given->text is NULL, fill in no_proxy or NO_PROXY. */
void sp_proxy_choose_exceptions(sp_given *given, char *const *environment);

#endif
