/* A scope has the span, the labels and the mark of a recording (spanprof_mark)
 * that are active in one fiber. When another fiber runs on a thread, the
 * binding switches the thread to the core's context (spanprof_context) of that
 * fiber's scope.
 *
 * A fiber has a scope from its first span or label on. In a fiber without a
 * scope, the context that the core has for the thread is active. The binding
 * never writes to that context, so a span or label that a fiber or thread does
 * not end itself ends with the fiber or thread. The fiber of an enumerator is
 * different, because a call (Enumerator#next) resumes it. It uses its caller's
 * span and labels unless it has its own.
 *
 * Everything here runs with the GVL and in the main Ractor. */
#ifndef RB_CONTEXT_H
#define RB_CONTEXT_H

#include <stdbool.h>

#include "rb_scope.h"

/* Begin to follow the running fiber. After rb_sp_context_follow_begin(), a
 * change of a scope's span, labels or mark activates the scope.
 * rb_sp_context_listen() activates the scope of the running fiber; afterwards
 * each switch of fibers and each start of a thread activates the scope of the
 * new running fiber. */
void rb_sp_context_follow_begin(void);
void rb_sp_context_listen(void);

/* Undo rb_sp_context_follow_begin() and rb_sp_context_listen(). */
void rb_sp_context_follow_end(void);

/* Returns whether the running fibers are followed. While they are not, scopes
 * keep their labels, but no scope is active. */
bool rb_sp_context_follows(void);

/* Called for `object`, a fiber or thread that Ruby code is creating. The new
 * fiber or thread gets the mark of its creator, so its samples belong to the
 * creator's recordings. If `inherits` is true, it also gets the creator's span
 * and labels. May raise NoMemoryError. */
void rb_sp_context_created(VALUE object, bool inherits);

/* Called for a fiber that was created before fibers were followed. Notes that
 * Ruby code created the fiber, unless rb_sp_context_created() was called for
 * it. */
void rb_sp_context_created_before(VALUE fiber);

/* Store the new address of the fiber of `scope` in the cache of scopes. Called
 * when compaction has moved the fiber. */
void rb_sp_context_moved(rb_sp_scope *scope);

/* Returns the running fiber's scope, or NULL if it has none. */
rb_sp_scope *rb_sp_scope_current(void);

/* Returns the running fiber's scope. Creates the scope if the fiber has none.
 * May raise NoMemoryError. */
rb_sp_scope *rb_sp_scope_ensure(void);

/* Make `span`, which belongs to the trace `trace_id`, the span of `scope`,
 * which belongs to the running fiber. If `span` is 0 and `trace_id` is NULL,
 * the scope has no span of its own. */
void rb_sp_scope_span_set(rb_sp_scope *scope, spanprof_span span,
                          const uint8_t trace_id[16]);

/* Give `scope`, which belongs to the running fiber, a context of its own and
 * activate it. Until the next rb_sp_scope_labels_set(), the core's functions
 * read and change the labels of that context. */
spanprof_status rb_sp_scope_labels_begin(rb_sp_scope *scope);

/* Set the mark of `scope`, which belongs to the running fiber. With 0 the scope
 * belongs to no recording. */
void rb_sp_scope_mark_set(rb_sp_scope *scope, spanprof_mark mark);

/* Set the labels of `scope`, which belongs to the running fiber. With 0 the
 * scope has no labels of its own. */
void rb_sp_scope_labels_set(rb_sp_scope *scope, spanprof_labels labels);

/* Called once, when the extension loads. */
void rb_sp_context_init(void);

#endif
