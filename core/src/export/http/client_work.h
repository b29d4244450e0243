/* Delays forks while threads of spanprof are inside libcurl.
 *
 * A forked child inherits OpenSSL's locks in their present state. If a thread
 * of spanprof holds such a lock during the fork, the lock stays locked in the
 * child. The child then hangs at its next use of OpenSSL, or in OpenSSL's exit
 * handler. Therefore threads announce their calls of libcurl, and a fork waits
 * until no such call runs. */
#ifndef SP_CLIENT_WORK_H
#define SP_CLIENT_WORK_H

/* Call these functions before and after calls of libcurl that may use TLS, but
 * not around its waits. Several threads may be between the two calls at the
 * same time. The calls do not nest. Between them, the thread must not acquire
 * other locks that a fork acquires. */
void sp_client_work_begin(void);
void sp_client_work_end(void);

#endif
