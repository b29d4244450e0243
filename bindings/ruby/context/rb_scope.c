#include "rb_scope.h"

#include <string.h>

#include "rb_context.h"

/* Number of scopes in a slab. Slabs are never freed, so a stale pointer leads
 * to a scope with another serial, and not to memory of other code. */
#define SCOPE_SLAB 64

static VALUE scope_class;
static rb_sp_scope *scope_free;
static uint64_t scope_serials;

/* All scopes, including free ones. */
static struct scope_slab {
  struct scope_slab *next;
  rb_sp_scope scopes[SCOPE_SLAB];
} * scope_slabs;

static void scope_holder_mark(void *data) {
  const rb_sp_scope *scope = data;

  if (scope->fiber)
    rb_gc_mark_movable(scope->fiber);
}

static void scope_holder_move(void *data) {
  rb_sp_scope *scope = data;

  if (!scope->fiber)
    return;
  scope->fiber = rb_gc_location(scope->fiber);
  rb_sp_context_moved(scope);
}

static void scope_holder_free(void *data) {
  rb_sp_scope *scope = data;

  spanprof_context_free(scope->context);
  memset(scope, 0, sizeof *scope);
  scope->next_free = scope_free;
  scope_free = scope;
}

static size_t scope_holder_size(const void *data) {
  (void)data;
  return sizeof(rb_sp_scope);
}

static const rb_data_type_t scope_holder = {
    .wrap_struct_name = "spanprof scope",
    .function = {.dmark = scope_holder_mark,
                 .dfree = scope_holder_free,
                 .dsize = scope_holder_size,
                 .dcompact = scope_holder_move},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static rb_sp_scope *scope_allocate(void) {
  rb_sp_scope *scope = scope_free;
  size_t i;

  if (!scope) {
    struct scope_slab *slab = ruby_xcalloc(1, sizeof *slab);

    slab->next = scope_slabs;
    scope_slabs = slab;
    for (i = 0; i < SCOPE_SLAB; i++) {
      slab->scopes[i].next_free = scope_free;
      scope_free = &slab->scopes[i];
    }
    scope = scope_free;
  }
  scope_free = scope->next_free;
  scope->next_free = NULL;
  scope->serial = ++scope_serials;
  return scope;
}

/* The holder has a class, because C code that lists instance variables
 * (Marshal) may call a method of the holder. Without a class the call would
 * crash the VM. */
VALUE rb_sp_scope_holder_new(void) {
  return TypedData_Wrap_Struct(scope_class, &scope_holder, scope_allocate());
}

/* Free the context and clear all values except the labels, because the values
 * will be out of date when following begins again. */
static void scope_deactivate(rb_sp_scope *scope) {
  spanprof_context_free(scope->context);
  scope->context = NULL;
  scope->span = scope->inherited = scope->active_span = 0;
  scope->active_token = 0;
  scope->mark = 0;
  scope->resumed = false;
  scope->caller = NULL;
}

void rb_sp_scopes_deactivate(void) {
  struct scope_slab *slab;
  size_t i;

  for (slab = scope_slabs; slab; slab = slab->next)
    for (i = 0; i < SCOPE_SLAB; i++)
      scope_deactivate(&slab->scopes[i]);
}

void rb_sp_scopes_init(void) {
  scope_class = rb_sp_class_opaque("Scope");
}
