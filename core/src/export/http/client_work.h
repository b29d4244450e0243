/* Keeps forks away from our threads while they are inside libcurl.
 *
 * A forked child inherits OpenSSL's locks as they are. If one of our threads
 * holds such a lock during the fork, nobody ever unlocks it in the child, which
 * hangs at its next use of OpenSSL, or in OpenSSL's exit handler. Each thread
 * therefore announces its calls, and a fork waits until none is running. */
#ifndef SP_CLIENT_WORK_H
#define SP_CLIENT_WORK_H

/* Around calls of libcurl that may use TLS, but not around its waits. Several
 * threads may be inside at a time. Not recursive. Inside, take no other lock
 * that a fork takes. */
void sp_client_work_begin(void);
void sp_client_work_end(void);

#endif
