/* The sockets that a server listens on. */
#ifndef SP_LISTEN_H
#define SP_LISTEN_H

#include "../../util/base.h"

/* A listening socket of "127.0.0.1:4040", which the caller closes; the port
 * that it has, and whether others than this machine reach it not.
 * SPANPROF_ERR_ARGUMENT: an address that is none; SPANPROF_ERR_SYSTEM: it
 * cannot be had. */
spanprof_status sp_http_listen(const char *listen_on, int *out, bool *loopback,
                               uint16_t *port);

/* Raise the limit of open files to `wanted`, or to as many as the system gives.
 * Returns how many there are, at most `wanted`. */
uint64_t sp_http_descriptors(uint64_t wanted);

#endif
