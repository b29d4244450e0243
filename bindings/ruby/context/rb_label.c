#include "rb_label.h"

#include "base/rb_text.h"
#include "rb_context.h"
#include "rb_follow.h"

/* Native.labels: returns the running fiber's own labels, as a number that
 * Native.labels_restore accepts. Returns nil in a Ractor other than the main
 * one. */
static VALUE label_labels(VALUE self) {
  const rb_sp_scope *scope;

  (void)self;
  if (!rb_sp_ractor_is_main())
    return Qnil;
  scope = rb_sp_scope_current();
  return UINT2NUM(scope ? scope->labels : 0);
}

/* Native.labels_restore(labels): undo all pushes since the call of
 * Native.labels that returned `labels`. This restores the earlier state instead
 * of popping each label, because Timeout may raise an exception after a push
 * and before its token is stored. */
static VALUE label_restore(VALUE self, VALUE labels) {
  rb_sp_scope *scope = rb_sp_scope_current();

  (void)self;
  if (scope && scope->labels != NUM2UINT(labels))
    rb_sp_scope_labels_set(scope, NUM2UINT(labels));
  return Qnil;
}

/* Native.label_push(name, value): push a label on the running fiber. The
 * arguments may be any objects; their to_s is used. If the core refuses the
 * label, it counts this. */
static VALUE label_push(VALUE self, VALUE name, VALUE value) {
  spanprof_label_token token;
  rb_sp_scope *scope;

  (void)self;
  rb_sp_follow_request();
  if (!rb_sp_context_follows())
    return Qnil;
  name = rb_sp_text(name);
  value = rb_sp_text(value);
  scope = rb_sp_scope_ensure();
  if (!rb_sp_scope_labels_begin(scope)) {
    spanprof_label_push_bytes(RSTRING_PTR(name), (size_t)RSTRING_LEN(name),
                              RSTRING_PTR(value), (size_t)RSTRING_LEN(value),
                              &token);
    rb_sp_scope_labels_set(scope, spanprof_labels_get());
  }
  RB_GC_GUARD(name);
  RB_GC_GUARD(value);
  return Qnil;
}

/* Set the label `name` of the running fiber until the next call with this name.
 * If `value` is NULL, remove the label. */
static void label_set(VALUE name, const char *value, size_t value_bytes) {
  rb_sp_scope *scope = rb_sp_scope_ensure();
  spanprof_labels set;

  if (rb_sp_context_follows() && rb_sp_scope_labels_begin(scope))
    return;
  spanprof_labels_derive(
      rb_sp_context_follows() ? spanprof_labels_get() : scope->labels,
      RSTRING_PTR(name), (size_t)RSTRING_LEN(name), value, value_bytes, &set);
  rb_sp_scope_labels_set(scope, set);
}

/* Native.tag_add(name, value): set a label without a limit in time. */
static VALUE label_tag_add(VALUE self, VALUE name, VALUE value) {
  (void)self;
  name = rb_sp_text(name);
  value = rb_sp_text(value);
  rb_sp_follow_request();
  label_set(name, RSTRING_PTR(value), (size_t)RSTRING_LEN(value));
  RB_GC_GUARD(value);
  return Qnil;
}

/* Native.tag_remove(name, value): remove the label unless it has another value.
 */
static VALUE label_tag_remove(VALUE self, VALUE name, VALUE value) {
  const rb_sp_scope *scope = rb_sp_scope_current();
  spanprof_labels set;

  (void)self;
  name = rb_sp_text(name);
  value = rb_sp_text(value);
  if (!scope || !scope->labels)
    return Qnil;
  spanprof_labels_derive(scope->labels, RSTRING_PTR(name),
                         (size_t)RSTRING_LEN(name), RSTRING_PTR(value),
                         (size_t)RSTRING_LEN(value), &set);
  if (set == scope->labels)
    label_set(name, NULL, 0);
  RB_GC_GUARD(value);
  return Qnil;
}

void rb_sp_label_init(void) {
  rb_define_module_function(rb_sp_native, "tag_add", label_tag_add, 2);
  rb_define_module_function(rb_sp_native, "tag_remove", label_tag_remove, 2);
  rb_define_module_function(rb_sp_native, "label_push", label_push, 2);
  rb_ext_ractor_safe(true);
  rb_define_module_function(rb_sp_native, "labels", label_labels, 0);
  rb_ext_ractor_safe(false);
  rb_define_module_function(rb_sp_native, "labels_restore", label_restore, 1);
}
