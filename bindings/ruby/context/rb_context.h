/* Scopes: the span and labels that are active in each fiber. The binding
 * switches the core's context of the thread to the scope of the running fiber.
 *
 * A fiber has a scope from its first span or label on. In a fiber without a
 * scope, the thread's own context of the core is active. The binding never
 * writes to that context, so a span or label that a fiber or thread leaves
 * active ends with the fiber or thread. The fiber of an enumerator is
 * different: resuming it is a call. It uses its caller's span and labels unless
 * it has some of its own.
 *
 * Everything here runs with the GVL and in the main Ractor. */
#ifndef RB_CONTEXT_H
#define RB_CONTEXT_H

#include <stdbool.h>

#include "rb_scope.h"

/* Begin to activate a scope when its span, labels or mark change.
 * rb_sp_context_listen() activates the running fiber's scope, and from then on
 * the scope of each fiber that a switch or the start of a thread makes the
 * running one. */
void rb_sp_context_follow_begin(void);
void rb_sp_context_listen(void);

/* Undo rb_sp_context_follow_begin() and rb_sp_context_listen(). */
void rb_sp_context_follow_end(void);

/* Returns whether scopes are activated. If not, scopes keep their labels, but
 * none is active. */
bool rb_sp_context_follows(void);

/* Called for `object`, a fiber or thread that Ruby code is creating. It belongs
 * to the recordings of its creator and, if `inherits`, has the creator's span
 * and labels. May raise NoMemoryError. */
void rb_sp_context_created(VALUE object, bool inherits);

/* As rb_sp_context_created(), for a fiber that was created earlier. Does
 * nothing if rb_sp_context_created() was called for it. */
void rb_sp_context_created_before(VALUE fiber);

/* Called when compaction has moved the fiber of `scope`. */
void rb_sp_context_moved(rb_sp_scope *scope);

/* The running fiber's scope, or NULL if it has none. */
rb_sp_scope *rb_sp_scope_current(void);

/* The running fiber's scope; it is created if it is missing. May raise
 * NoMemoryError. */
rb_sp_scope *rb_sp_scope_ensure(void);

/* Make `span` of this trace the span of `scope`, which belongs to the running
 * fiber. With 0 and NULL the scope has no span of its own. */
void rb_sp_scope_span_set(rb_sp_scope *scope, spanprof_span span,
                          const uint8_t trace_id[16]);

/* Give `scope`, which belongs to the running fiber, a context of its own. Until
 * the next rb_sp_scope_labels_set(), the core's functions read and change the
 * labels of that context. */
spanprof_status rb_sp_scope_labels_begin(rb_sp_scope *scope);

/* Set the mark of the recording to which `scope` belongs; 0 if none. `scope`
 * belongs to the running fiber. */
void rb_sp_scope_mark_set(rb_sp_scope *scope, spanprof_mark mark);

/* Set the labels of `scope`, which belongs to the running fiber. With 0 the
 * scope has no labels of its own. */
void rb_sp_scope_labels_set(rb_sp_scope *scope, spanprof_labels labels);

/* Called once, when the extension loads. */
void rb_sp_context_init(void);

#endif
