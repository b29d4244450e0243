/* libcurl and its TLS library, as used by our threads. OpenSSL's locks are not
 * made anew in a forked child: a child of a fork that meets one of our threads
 * inside OpenSSL would wait for ever at its own next use of OpenSSL, in the
 * exit handler at the latest. So each thread says when it is inside, and a fork
 * waits for it. */
#ifndef SP_CLIENT_WORK_H
#define SP_CLIENT_WORK_H

/* Around calls of libcurl that may use TLS, but not around its waits. Several
 * threads may be inside at a time. Not recursive. Inside, take no other lock
 * that a fork takes. */
void sp_client_work_begin(void);
void sp_client_work_end(void);

#endif
