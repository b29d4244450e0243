/* The descriptors of libcurl in this process: the sockets of its connections,
 * which libcurl reports, and the descriptors for its wake-ups, which it does
 * not report.
 *
 * A forked child closes its copies of these descriptors. The connections
 * continue in the parent, because closing a copy sends nothing. The child does
 * not call libcurl, because another thread of the parent may have been inside
 * libcurl at the fork. */
#ifndef SP_CLIENT_SOCKETS_H
#define SP_CLIENT_SOCKETS_H

#include <curl/curl.h>
#include <sys/types.h>

#include "util/base.h"

/* Maximum number of descriptors: two connections while libcurl tries addresses,
 * two descriptors for wake-ups, and a reserve. */
#define SP_CLIENT_SOCKETS 8

typedef struct sp_client_socket {
  /* device and inode identify the socket, because other code may have closed
   * the descriptor and reused its number. */
  dev_t device;
  ino_t inode;
  _Atomic int fd_plus_1; /* descriptor + 1; 0: free slot */
} sp_client_socket;

typedef struct sp_client_sockets {
  sp_client_socket all[SP_CLIENT_SOCKETS];
} sp_client_sockets;

/* Only the thread that uses the HTTP client calls these functions, except
 * sp_client_sockets_close(). */

/* Have `easy` report the sockets of its connections. */
CURLcode sp_client_sockets_watch(sp_client_sockets *sockets, CURL *easy);

/* Find the one or two descriptors by which curl_multi_wakeup() wakes `multi`.
 * Without /proc, or if these descriptors cannot be identified, a forked child
 * does not close its copies of them. */
void sp_client_sockets_find(sp_client_sockets *sockets, CURLM *multi);

/* Called in a forked child: close its copies, whatever the parent's thread was
 * doing at the fork. */
void sp_client_sockets_close(sp_client_sockets *sockets);

#endif
