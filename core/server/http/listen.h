/* The sockets that a server listens on. */
#ifndef SP_LISTEN_H
#define SP_LISTEN_H

#include "util/base.h"

/* Listen on "127.0.0.1:4040" or "unix:PATH". The caller closes the socket with
 * sp_http_unlisten(). *loopback is set if only this machine can connect by TCP.
 * The Host header must then be a name of this machine, because a page in a
 * browser on this machine can connect, too. Returns SPANPROF_ERR_ARGUMENT if
 * the address is invalid, and SPANPROF_ERR_SYSTEM if it cannot be bound. */
spanprof_status sp_http_listen(const char *listen_on, int *out, bool *loopback,
                               uint16_t *port);

/* Close the socket, and remove `path` unless it is NULL. */
void sp_http_unlisten(int listener, const char *path);

/* Raise the limit of open files to `wanted`, or as far as the system allows.
 * Returns the limit, at most `wanted`. */
uint64_t sp_http_descriptors(uint64_t wanted);

#endif
