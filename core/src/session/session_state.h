/* The one session of a process, as the files of this room share it: session.c
 * has the protocol. */
#ifndef SP_SESSION_STATE_H
#define SP_SESSION_STATE_H

#include <pthread.h>
#include <sys/types.h>

#include "pipeline.h"
#include "session.h"

struct spanprof_session {
  sp_pipeline pipeline;
  /* Guarded by sp_session_state.lock. */
  bool kept; /* something that was left behind may use it: never freed */
  bool stopping;
  bool temporary;      /* for recordings alone: see session_recording.c */
  unsigned flushing;   /* running calls, see sp_session_enter() */
  unsigned recordings; /* begun and not ended */
  uint64_t number;     /* unique in the process */
};

typedef struct sp_session_shared {
  pthread_mutex_t changing;
  pthread_mutex_t lock;
  pthread_cond_t flushed;
  spanprof_session *current;
  spanprof_session
      *abandoned;       /* of the parent; kept in a leak checker's view */
  uint64_t count;       /* of all sessions */
  _Atomic pid_t pid;    /* of the process whose session that is */
  _Atomic bool running; /* one of the program's; written with the lock held */
} sp_session_shared;

/* Process-wide: there is one session, and fork and exit find it here. */
extern sp_session_shared sp_session_state;

/* Is this the process that started it, or a child whose fork hooks ran? In one
 * that was made by the system call itself there are no threads, and locks may
 * be taken for ever. */
bool sp_session_in_process(void);

/* SPANPROF_ERR_STATE in a sentence. */
spanprof_status sp_session_not_running(void);

/* Without the lock: count a call in that works with `session`, if it is the one
 * that runs; a stop waits until it is counted out. */
bool sp_session_enter(spanprof_session *session);
void sp_session_exit(spanprof_session *session);

/* Take both locks, when no start or stop is at work; give them back. */
void sp_session_lock(void);
void sp_session_unlock(void);

/* Both with both held; `lock` is given back for the work. Make a session the
 * current one, where none is; end it, by its only stop. */
spanprof_status sp_session_create(spanprof_session **out,
                                  const spanprof_options *options);
spanprof_status sp_session_end(spanprof_session *session, uint32_t timeout_ms);

#endif
