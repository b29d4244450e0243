/* Decides when the binding follows spans and labels: while the process is
 * profiled and uses spans or labels. To follow means that the binding observes
 * new fibers and threads, switches of fibers, and OpenTelemetry's contexts. At
 * other times no code of the binding runs in the program. */
#ifndef RB_FOLLOW_H
#define RB_FOLLOW_H

#include "base/rb_base.h"

/* The functions that start and stop the observation of OpenTelemetry's contexts
 * (rb_activation.c). They are called when the observation of fibers starts and
 * stops. */
typedef struct rb_sp_follow_watch {
  /* If `on`, install the methods that observe contexts; otherwise remove them,
   * so that they cost nothing. Idempotent. */
  void (*install)(bool on);
  /* Activate the span that the program has attached to the running fiber. */
  void (*activate)(void);
} rb_sp_follow_watch;

/* Called once, when the extension loads. Both functions of `watch` are called
 * within rb_sp_guard(). */
void rb_sp_follow_watch_set(const rb_sp_follow_watch *watch);

/* Declare that the program uses spans or labels. Fibers are then followed
 * whenever the process is profiled, also in later sessions. Idempotent, and
 * cheap enough to be called for each label. */
void rb_sp_follow_request(void);

/* Call rb_sp_follow_request(), and let new threads inherit the marks of
 * recordings. Fibers that are followed always inherit them. */
void rb_sp_follow_marks(void);

/* Called after profiling may have started or stopped. Starts or stops following
 * fibers. Raises pending interrupts of the calling thread. */
void rb_sp_follow_update(void);

/* Defines Native.scopes_inherit and Native.follow_update. */
void rb_sp_follow_init(void);

#endif
