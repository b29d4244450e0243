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
  /* Its own span and labels; 0 if none. */
  spanprof_span span;
  spanprof_labels labels;
  /* The creator's span, if scopes inherit; active while `span` is 0. */
  spanprof_span inherited;
  spanprof_mark mark;   /* of its recording; 0 if none */
  uint8_t trace_id[16]; /* of `span` */
  /* The span that is active in `context`. */
  spanprof_span active_span;
  spanprof_span_token active_token;
  /* Whether the fiber belongs to an enumerator, and whether `caller` has
   * resumed it and waits. `caller` is NULL if the caller's fiber has no scope.
   * It is valid only while its serial is `caller_serial`. */
  bool enumerator;
  bool resumed;
  struct rb_sp_scope *caller;
  uint64_t caller_serial;
  struct rb_sp_scope *next_free;
} rb_sp_scope;

/* Each returns whether the scope has a value of its own. */
static inline bool rb_sp_scope_has_span(const rb_sp_scope *scope) {
  return scope->span != 0;
}

static inline bool rb_sp_scope_has_labels(const rb_sp_scope *scope) {
  return scope->labels != 0;
}

static inline bool rb_sp_scope_has_mark(const rb_sp_scope *scope) {
  return scope->mark != 0;
}

/* Create an object that owns a new scope (its data pointer), which belongs to
 * no fiber yet. */
VALUE rb_sp_scope_holder_new(void);

/* Deactivate the spans and marks of all scopes. */
void rb_sp_scopes_deactivate(void);

void rb_sp_scopes_init(void);

#endif
