/* The sockets that a server listens on. */
#ifndef SP_LISTEN_H
#define SP_LISTEN_H

#include "../../util/base.h"

/* A listening socket of "127.0.0.1:4040" or "unix:PATH", to be closed by
 * sp_http_unlisten(). The port that it has, and whether names of this machine
 * alone may be asked for: others do not reach it, but a browser does.
 * SPANPROF_ERR_ARGUMENT: an address that is none; SPANPROF_ERR_SYSTEM: it
 * cannot be had. */
spanprof_status sp_http_listen(const char *listen_on, int *out, bool *loopback,
                               uint16_t *port);

/* Close it, and remove its path if that is not NULL. */
void sp_http_unlisten(int listener, const char *path);

/* Raise the limit of open files to `wanted`, or to as many as the system gives.
 * Returns how many there are, at most `wanted`. */
uint64_t sp_http_descriptors(uint64_t wanted);

#endif
