/* Connections whose client has closed its side. libmicrohttpd 0.9.75 asks
 * epoll for edges, and clears "readable" after a read that did not fill its
 * buffer: the end of a stream that came together with its last bytes is then
 * noticed after the idle time alone. So a thread looks for it every now and
 * then, and wakes epoll by shutting the socket down for reading.
 *
 * Who: libmicrohttpd's threads add and remove, before they close the socket. */
#ifndef SP_LEAVERS_H
#define SP_LEAVERS_H

#include <pthread.h>

#include "../../util/mem.h"

typedef struct sp_leaver {
  struct sp_leaver *next;
  struct sp_leaver *previous;
  int socket;
  bool left;
} sp_leaver;

typedef struct sp_leavers {
  /* Fixed after sp_leavers_start(). */
  pthread_t thread;
  bool runs;
  /* Guarded by lock. */
  pthread_mutex_t lock;
  pthread_cond_t end;
  sp_leaver *first;
  bool ending;
} sp_leavers;

/* SPANPROF_ERR_SYSTEM. */
spanprof_status sp_leavers_start(sp_leavers *leavers);
void sp_leavers_end(sp_leavers *leavers); /* also of one all zero */

/* NULL: no memory; the connection is then left to the idle time. */
sp_leaver *sp_leavers_add(sp_leavers *leavers, int socket);
void sp_leavers_remove(sp_leavers *leavers, sp_leaver *leaver);

#endif
