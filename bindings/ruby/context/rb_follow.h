/* Decides when the binding follows spans and labels: while the process is
 * profiled and uses spans or labels. To follow means that the binding observes
 * new fibers and threads, switches of fibers, and OpenTelemetry's contexts. At
 * other times none of its code runs in the program. */
#ifndef RB_FOLLOW_H
#define RB_FOLLOW_H

#include "base/rb_base.h"

/* The observer of OpenTelemetry's contexts, which starts and stops together
 * with the observation of fibers. */
typedef struct rb_sp_follow_watch {
  /* Install its methods, or remove them so that they cost nothing. Idempotent.
   */
  void (*install)(bool on);
  /* Activate the span that is attached to the running fiber. */
  void (*activate)(void);
} rb_sp_follow_watch;

/* Called once, when the extension loads. Both functions are called within
 * rb_sp_guard(). */
void rb_sp_follow_watch_set(const rb_sp_follow_watch *watch);

/* Record that spans or labels are in use, so that contexts must follow fibers.
 * Idempotent and cheap, as it is called for each label. The request stays while
 * one session replaces another. */
void rb_sp_follow_request(void);

/* Also let new fibers and threads inherit the marks of recordings. */
void rb_sp_follow_marks(void);

/* Start or stop following fibers, after profiling may have started or stopped.
 * Raises pending interrupts of the calling thread. */
void rb_sp_follow_update(void);

/* Defines Native.scopes_inherit and follow_update. */
void rb_sp_follow_init(void);

#endif
