/* The descriptors of libcurl in this process: those of its connections, which
 * it tells us of, and those by which it wakes itself up, which it does not. A
 * forked child closes its copies: the connection goes on in the parent, since
 * closing a copy sends nothing, and libcurl itself, of which another thread may
 * have been in the middle, is not asked. */
#ifndef SP_CLIENT_SOCKETS_H
#define SP_CLIENT_SOCKETS_H

#include <curl/curl.h>
#include <sys/types.h>

#include "util/base.h"

/* Two connections while addresses are tried, two for waking up, and room. */
#define SP_CLIENT_SOCKETS 8

typedef struct sp_client_socket {
  dev_t device; /* to know it again: whoever closes all may have closed it */
  ino_t inode;
  _Atomic int fd_plus_1; /* 0: free */
} sp_client_socket;

typedef struct sp_client_sockets {
  sp_client_socket all[SP_CLIENT_SOCKETS];
} sp_client_sockets;

/* All to be called by the one thread that uses the client, but for the last. */

/* Have `easy` tell of its connections. */
CURLcode sp_client_sockets_watch(sp_client_sockets *sockets, CURL *easy);

/* Find the one or two by which curl_multi_wakeup() wakes `multi` up. Without
 * /proc, or where none is surely it, there is one more to be inherited. */
void sp_client_sockets_find(sp_client_sockets *sockets, CURLM *multi);

/* In a forked child, whatever the thread was doing. */
void sp_client_sockets_close(sp_client_sockets *sockets);

#endif
