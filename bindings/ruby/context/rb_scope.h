/* The span and labels that are active in one fiber, and where such scopes are
 * kept: as long as the objects that hold them. With the GVL. */
#ifndef RB_SCOPE_H
#define RB_SCOPE_H

#include "base/rb_base.h"

typedef struct rb_sp_scope {
  /* Unique in the process; 0: the scope is free. */
  uint64_t serial;
  VALUE fiber;
  spanprof_context *context; /* made when first needed */
  /* Its own; 0: none. */
  spanprof_span span;
  spanprof_labels labels;
  /* Its creator's, where scopes inherit; active while `span` is 0. */
  spanprof_span inherited;
  spanprof_mark mark;   /* of its recording; 0: none */
  uint8_t trace_id[16]; /* of `span` */
  /* The span that is entered in `context`. */
  spanprof_span shown;
  spanprof_span_token shown_token;
  /* Whether the fiber is an enumerator's, and whether `caller` (NULL: a fiber
   * without a scope) has resumed it and waits. `caller` is valid only while its
   * serial is `caller_serial`. */
  bool enumerator;
  bool resumed;
  struct rb_sp_scope *caller;
  uint64_t caller_serial;
  struct rb_sp_scope *next_free;
} rb_sp_scope;

/* Does it have its own? */
static inline bool rb_sp_scope_has_span(const rb_sp_scope *scope) {
  return scope->span != 0;
}

static inline bool rb_sp_scope_has_labels(const rb_sp_scope *scope) {
  return scope->labels != 0;
}

static inline bool rb_sp_scope_has_mark(const rb_sp_scope *scope) {
  return scope->mark != 0;
}

/* An object that holds a new scope (its data pointer), of no fiber yet. */
VALUE rb_sp_scope_hold(void);

/* No scope has anything active. */
void rb_sp_scopes_forget(void);

void rb_sp_scopes_init(void);

#endif
