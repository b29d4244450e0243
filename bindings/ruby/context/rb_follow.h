/* When spans and labels are followed: while the process is profiled, and
 * somebody has any. Then new fibers and threads are told of, switches are
 * followed, and OpenTelemetry's contexts are watched; else nothing of ours runs
 * in the program. */
#ifndef RB_FOLLOW_H
#define RB_FOLLOW_H

#include "base/rb_base.h"

/* What follows with fibers: the watch of OpenTelemetry's contexts. */
typedef struct rb_sp_follow_watch {
  /* Put its methods in their places, or take them away so that they cost
   * nothing. Idempotent. */
  void (*place)(bool on);
  /* Make the span active that is attached to the running fiber. */
  void (*show)(void);
} rb_sp_follow_watch;

/* Once, when the extension loads. Both are called within rb_sp_guard(). */
void rb_sp_follow_watch_set(const rb_sp_follow_watch *watch);

/* Record that spans or labels are in use, so that contexts must follow fibers.
 * Idempotent and cheap, as it is called for each label. While one session
 * replaces another, nothing changes. */
void rb_sp_follow_want(void);

/* Have new fibers and threads inherit the marks of recordings, too. */
void rb_sp_follow_marks(void);

/* Start or stop to follow fibers, after profiling may have started or stopped.
 * Raises pending interrupts of the calling thread. */
void rb_sp_follow_settle(void);

/* Defines Native.scopes_inherit and follow_settle. */
void rb_sp_follow_init(void);

#endif
