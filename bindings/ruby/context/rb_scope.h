/* The span and labels that are active in one fiber. A scope lives as long as
 * the object that owns it. All functions need the GVL. */
#ifndef RB_SCOPE_H
#define RB_SCOPE_H

#include "base/rb_base.h"

typedef struct rb_sp_scope {
  /* Unique in the process; 0 if the scope is free. */
  uint64_t serial;
  VALUE fiber;
  spanprof_context *context; /* created when first needed */
  /* The scope's own span and labels; 0 if it has none. */
  spanprof_span span;
  spanprof_labels labels;
  /* The span that was inherited from the fiber's creator, or 0. It is active
   * while `span` is 0. */
  spanprof_span inherited;
  spanprof_mark mark;   /* mark of the scope's recording, or 0 */
  uint8_t trace_id[16]; /* trace of `span` */
  /* The span that is active in `context`. */
  spanprof_span active_span;
  spanprof_span_token active_token;
  /* `enumerator`: the fiber belongs to an enumerator. `resumed`: the fiber of
   * `caller` has resumed this fiber and waits for it. `caller` is NULL if the
   * caller's fiber has no scope; it is valid only while its serial is
   * `caller_serial`. */
  bool enumerator;
  bool resumed;
  struct rb_sp_scope *caller;
  uint64_t caller_serial;
  struct rb_sp_scope *next_free;
} rb_sp_scope;

/* Return whether the scope itself has a span, labels or a mark. */
static inline bool rb_sp_scope_has_span(const rb_sp_scope *scope) {
  return scope->span != 0;
}

static inline bool rb_sp_scope_has_labels(const rb_sp_scope *scope) {
  return scope->labels != 0;
}

static inline bool rb_sp_scope_has_mark(const rb_sp_scope *scope) {
  return scope->mark != 0;
}

/* Create an object that owns a new scope. The object's data pointer is the
 * scope, which belongs to no fiber yet. */
VALUE rb_sp_scope_holder_new(void);

/* Clear the spans and marks of all scopes and free their contexts. The scopes
 * keep their labels. */
void rb_sp_scopes_deactivate(void);

void rb_sp_scopes_init(void);

#endif
