#include "rb_override.h"

/* The arguments of a call of a method of Spanprof::Override. */
typedef struct override_request {
  const char *method;
  VALUE owner;
  VALUE overrides;
} override_request;

static VALUE override_call(VALUE data) {
  const override_request *request = (const override_request *)data;

  return rb_funcall(rb_path2class("Spanprof::Override"),
                    rb_intern(request->method), 2, request->owner,
                    request->overrides);
}

void rb_sp_override_install(VALUE owner, VALUE overrides) {
  override_request request = {"install", owner, overrides};

  rb_sp_guard(override_call, (VALUE)&request);
}

void rb_sp_override_remove(VALUE owner, VALUE overrides) {
  override_request request = {"remove", owner, overrides};

  rb_sp_guard(override_call, (VALUE)&request);
}

ID rb_sp_override_original(const char *name) {
  return rb_intern_str(rb_sprintf("spanprof_original_%s", name));
}

/* rb_block_call_kw() gets NULL as its block function, so it passes the block of
 * the running method to the original. */
VALUE rb_sp_override_call(VALUE self, ID original, int argc,
                          const VALUE *argv) {
  return rb_block_call_kw(self, original, argc, argv, NULL, Qnil,
                          rb_keyword_given_p());
}
