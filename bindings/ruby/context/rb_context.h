/* Scopes: the span and labels that are active in each fiber. The thread's
 * context of the core is switched to the scope of the fiber that runs.
 *
 * A fiber has a scope from the first span or label of its own on. In a fiber
 * without one the thread's own context of the core is active, which nobody in
 * Ruby ever writes: so what a thread or fiber leaves active ends with it. The
 * fiber of an enumerator is different: resuming it is a call, and it has its
 * caller's span and labels, unless it is given some itself.
 *
 * Everything here runs with the GVL and in the main Ractor. */
#ifndef RB_CONTEXT_H
#define RB_CONTEXT_H

#include <stdbool.h>

#include "rb_scope.h"

/* Begin to make scopes active; after rb_sp_context_listen() also with each
 * switch of fibers and start of a thread. */
void rb_sp_context_follow_begin(void);
void rb_sp_context_listen(void);

/* Undo both. */
void rb_sp_context_follow_end(void);

/* Whether that is so. Else scopes keep their labels, and none is active. */
bool rb_sp_context_follows(void);

/* Called for `object`, a fiber or thread that Ruby code is creating. It belongs
 * to the recordings of its creator and, if `inherits`, has the creator's span
 * and labels. May raise NoMemoryError. */
void rb_sp_context_created(VALUE object, bool inherits);

/* The same of a fiber that may have been told of before. */
void rb_sp_context_created_before(VALUE fiber);

/* Compaction moved the fiber of `scope`. */
void rb_sp_context_moved(rb_sp_scope *scope);

/* The running fiber's scope; NULL: it has none. */
rb_sp_scope *rb_sp_scope_current(void);

/* The same, made where there is none. May raise NoMemoryError. */
rb_sp_scope *rb_sp_scope_ensure(void);

/* Make `span` of this trace the span of `scope`, the running fiber's (0 and
 * NULL: none of its own). */
void rb_sp_scope_span_set(rb_sp_scope *scope, spanprof_span span,
                          const uint8_t trace_id[16]);

/* Give `scope`, the running fiber's, a context of its own, whose labels the
 * core's calls show and change until the next set. */
spanprof_status rb_sp_scope_labels_begin(rb_sp_scope *scope);

/* Set the recording that `scope`, the running fiber's, belongs to (0: none). */
void rb_sp_scope_mark_set(rb_sp_scope *scope, spanprof_mark mark);

/* Have `scope`, the running fiber's, carry `labels` (0: none of its own). */
void rb_sp_scope_labels_set(rb_sp_scope *scope, spanprof_labels labels);

/* Once, when the extension loads. */
void rb_sp_context_init(void);

#endif
