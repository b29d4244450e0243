#include "leavers.h"

#include <sys/socket.h>

#include "../../util/clock.h"
#include "../../util/own_thread.h"
#include "../../util/status.h"

#define LEAVERS_EVERY_NS (200 * SP_NS_PER_MS)

static void leavers_look(sp_leavers *leavers) {
  sp_leaver *leaver;
  char byte;

  for (leaver = leavers->first; leaver; leaver = leaver->next) {
    if (leaver->left ||
        recv(leaver->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0)
      continue;
    leaver->left = true;
    shutdown(leaver->socket, SHUT_RD);
  }
}

static void *leavers_run(void *argument) {
  sp_leavers *leavers = argument;

  pthread_mutex_lock(&leavers->lock);
  while (!leavers->ending) {
    leavers_look(leavers);
    sp_clock_wait(sp_clock_system(), &leavers->end, &leavers->lock,
                  sp_monotonic_ns() + LEAVERS_EVERY_NS);
  }
  pthread_mutex_unlock(&leavers->lock);
  return NULL;
}

spanprof_status sp_leavers_start(sp_leavers *leavers) {
  int error;

  pthread_mutex_init(&leavers->lock, NULL);
  sp_condition_init(&leavers->end);
  error = sp_own_thread_start(&leavers->thread, "sp-leavers",
                              SP_OWN_STACK_SMALL, leavers_run, leavers);
  leavers->runs = !error;
  return error ? sp_fail_errno(SPANPROF_ERR_SYSTEM, error,
                               "cannot start a thread")
               : SPANPROF_OK;
}

void sp_leavers_end(sp_leavers *leavers) {
  if (!leavers->runs)
    return;
  pthread_mutex_lock(&leavers->lock);
  leavers->ending = true;
  pthread_cond_signal(&leavers->end);
  pthread_mutex_unlock(&leavers->lock);
  pthread_join(leavers->thread, NULL);
  leavers->runs = false;
}

sp_leaver *sp_leavers_add(sp_leavers *leavers, int socket) {
  sp_leaver *leaver = sp_mem_zero(&sp_mem_default, sizeof *leaver);

  if (!leaver)
    return NULL;
  leaver->socket = socket;
  pthread_mutex_lock(&leavers->lock);
  leaver->next = leavers->first;
  if (leaver->next)
    leaver->next->previous = leaver;
  leavers->first = leaver;
  pthread_mutex_unlock(&leavers->lock);
  return leaver;
}

void sp_leavers_remove(sp_leavers *leavers, sp_leaver *leaver) {
  if (!leaver)
    return;
  pthread_mutex_lock(&leavers->lock);
  if (leaver->next)
    leaver->next->previous = leaver->previous;
  if (leaver->previous)
    leaver->previous->next = leaver->next;
  else
    leavers->first = leaver->next;
  pthread_mutex_unlock(&leavers->lock);
  sp_mem_free(&sp_mem_default, leaver);
}
