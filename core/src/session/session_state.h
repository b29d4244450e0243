/* The state of the one session of a process, shared by session.c, which has the
 * protocol, and session_recording.c. */
#ifndef SP_SESSION_STATE_H
#define SP_SESSION_STATE_H

#include <pthread.h>
#include <sys/types.h>

#include "pipeline.h"
#include "session.h"

struct spanprof_session {
  sp_pipeline pipeline;
  /* Guarded by sp_session_state.lock. */
  bool kept; /* an abandoned thread may use it, so it is never freed */
  bool stopping;
  bool temporary;         /* only for recordings: see session_recording.c */
  unsigned running_calls; /* see sp_session_enter() */
  unsigned recordings;    /* begun and not ended */
  uint64_t number;        /* unique in the process */
};

typedef struct sp_session_shared {
  pthread_mutex_t changing;
  pthread_mutex_t lock;
  pthread_cond_t calls_ended; /* running_calls of the session became 0 */
  spanprof_session *current;
  spanprof_session *abandoned; /* the parent's; reachable for leak checkers */
  uint64_t count;              /* of all sessions of the process */
  _Atomic pid_t pid;           /* the process of `current` */
  _Atomic bool
      running; /* a session of the program runs; written with the lock held */
} sp_session_shared;

/* Process-wide: there is one session, and the hooks of fork and exit need it.
 */
extern sp_session_shared sp_session_state;

/* Is this the process that started the session, or a child whose fork hooks
 * ran? A child of the bare system call has no threads of ours, and may have
 * locks that no thread unlocks. */
bool sp_session_in_process(void);

/* Set the last error, and return SPANPROF_ERR_STATE. */
spanprof_status sp_session_not_running(void);

/* Begin a call that uses `session`. Returns false if that is not the running
 * session. A stop waits for the call's sp_session_exit(). Called without the
 * lock. */
bool sp_session_enter(spanprof_session *session);
void sp_session_exit(spanprof_session *session);

/* Acquire or release both locks. Waits while a start or stop works. */
void sp_session_lock(void);
void sp_session_unlock(void);

/* Create the current session if there is none; end a session, once. Both are
 * called with both locks held, and release `lock` during their work. */
spanprof_status sp_session_create(spanprof_session **out,
                                  const spanprof_options *options);
spanprof_status sp_session_end(spanprof_session *session, uint32_t timeout_ms);

#endif
