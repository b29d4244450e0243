/* When spans and labels are followed: while the process is profiled, and
 * somebody has any. Then new fibers and threads are told of, switches are
 * followed, and OpenTelemetry's contexts are watched; else nothing of ours runs
 * in the program. */
#ifndef RB_FOLLOW_H
#define RB_FOLLOW_H

#include "rb_spanprof.h"

/* There are spans or labels to follow. Idempotent, and cheap: called for each
 * label. A session that takes another's place changes nothing meanwhile. */
void rb_sp_follow_want(void);

/* The same for the marks of recordings, which new fibers and threads inherit.
 */
void rb_sp_follow_marks(void);

/* The process may have begun to be profiled, or have ceased to be: begin to
 * follow, or end it. Raises what waited for the calling thread meanwhile. */
void rb_sp_follow_settle(void);

#endif
