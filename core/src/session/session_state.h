/* The state of the session of a process, shared by session.c and
 * session_recording.c. session.c explains the locks. */
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
  bool temporary;         /* runs only for recordings (session_recording.c) */
  unsigned running_calls; /* see sp_session_enter() */
  unsigned recordings;    /* begun and not ended */
  uint64_t number;        /* unique in the process */
};

typedef struct sp_session_shared {
  pthread_mutex_t changing;
  pthread_mutex_t lock;
  pthread_cond_t calls_ended; /* running_calls of `current` became 0 */
  spanprof_session *current;
  /* The parent's session; kept reachable for leak checkers. */
  spanprof_session *abandoned;
  uint64_t count;    /* number of sessions of this process so far */
  _Atomic pid_t pid; /* the process of `current` */
  /* A session that is not temporary runs. Written with `lock` held. */
  _Atomic bool running;
} sp_session_shared;

/* Process-wide, because a process has one session, and the fork hooks and the
 * exit handler need it. */
extern sp_session_shared sp_session_state;

/* Is this the process that started the session, or a child whose fork hooks
 * ran? A child that was made by the bare system call has none of spanprof's
 * threads, and may have locks that no thread unlocks. */
bool sp_session_in_process(void);

/* Set the last error, and return SPANPROF_ERR_STATE. */
spanprof_status sp_session_not_running(void);

/* Begin a call that uses `session`. Returns false if `session` is not the
 * running session. A stop waits until the call has called sp_session_exit().
 * The caller does not hold `lock`. */
bool sp_session_enter(spanprof_session *session);
void sp_session_exit(spanprof_session *session);

/* Acquire or release `changing` and `lock`. sp_session_lock() waits while a
 * start or stop is working. */
void sp_session_lock(void);
void sp_session_unlock(void);

/* Create the current session if there is none, and end the current session. A
 * session is ended only once. The caller holds `changing` and `lock`. Both
 * functions release `lock` while they work. */
spanprof_status sp_session_create(spanprof_session **out,
                                  const spanprof_options *options);
spanprof_status sp_session_end(spanprof_session *session, uint32_t timeout_ms);

#endif
