/* Delays forks while threads of the library are inside libcurl.
 *
 * A forked child inherits OpenSSL's locks in their present state. If one of our
 * threads holds such a lock during the fork, it stays locked in the child. The
 * child then hangs at its next use of OpenSSL, or in OpenSSL's exit handler.
 * Each thread therefore announces its calls, and a fork waits until no call
 * runs. */
#ifndef SP_CLIENT_WORK_H
#define SP_CLIENT_WORK_H

/* Call these around calls of libcurl that may use TLS, but not around its
 * waits. Several threads may be inside at the same time. Not recursive. Inside,
 * do not acquire other locks that a fork acquires. */
void sp_client_work_begin(void);
void sp_client_work_end(void);

#endif
