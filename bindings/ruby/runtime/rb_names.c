#include "rb_names.h"

#include <ruby.h>
#include <ruby/debug.h>
#include <ruby/encoding.h>
#include <string.h>

#include "vm/rb_code_table.h"
#include "vm/rb_vm_layout.h"

#define NAMES_GC "(garbage collection)"

typedef struct name_work {
  const spanprof_frame *frame;
  rb_sp_code code;
  int64_t line;
  int64_t start_line;
} name_work;

/* The Ruby strings that own the texts of the last result. The garbage collector
 * marks them. Guarded by the GVL. */
static VALUE name_function = Qnil;
static VALUE name_file = Qnil;

static bool text_ends(VALUE text, VALUE end) {
  long bytes = RSTRING_LEN(text), end_bytes = RSTRING_LEN(end);

  return bytes >= end_bytes && memcmp(RSTRING_PTR(text) + bytes - end_bytes,
                                      RSTRING_PTR(end), (size_t)end_bytes) == 0;
}

static VALUE utf8(VALUE text) {
  return NIL_P(text) ? text : rb_str_export_to_enc(text, rb_utf8_encoding());
}

/* Concatenates bytes, because Ruby refuses to concatenate UTF-8 and text that
 * could not be converted to UTF-8. */
static VALUE joined(VALUE before, VALUE after) {
  return rb_str_cat(rb_str_dup(before), RSTRING_PTR(after), RSTRING_LEN(after));
}

/* Returns whether a class path contains an anonymous class: "#<Class:0x…>". */
static bool path_anonymous(VALUE path) {
  return memmem(RSTRING_PTR(path), (size_t)RSTRING_LEN(path), "#<", 2) != NULL;
}

/* Returns the class of a method as the first part of the method's name:
 * "Shop::Cart#", "Shop::Cart." for a singleton method, or "". */
static VALUE method_class(VALUE method) {
  VALUE path = utf8(rb_profile_frame_classpath(method));
  bool singleton = RTEST(rb_profile_frame_singleton_method_p(method));

  if (NIL_P(path) || path_anonymous(path))
    return rb_str_new_cstr("");
  return rb_str_cat_cstr(rb_str_dup(path), singleton ? "." : "#");
}

static VALUE c_method_name(VALUE method) {
  VALUE name = utf8(rb_profile_frame_method_name(method));

  return NIL_P(name) ? Qnil : joined(method_class(method), name);
}

/* Remove "rescue in " and "ensure in ", as Ruby 3.4 does: in earlier versions
 * the label of a rescue clause is "rescue in block in total" instead of "block
 * in total". */
static VALUE label_clean(VALUE label) {
  static const char *const prefixes[] = {"rescue in ", "ensure in "};
  const char *text = RSTRING_PTR(label);
  long at = 0, bytes = RSTRING_LEN(label);
  size_t i = 0;

  while (i < 2) {
    long length = (long)strlen(prefixes[i]);

    if (bytes - at > length &&
        memcmp(text + at, prefixes[i], (size_t)length) == 0) {
      at += length;
      i = 0;
    } else {
      i++;
    }
  }
  return rb_str_subseq(label, at, bytes - at);
}

/* Minimum number of digits of a hash, which nearly always has 19. */
#define VIEW_HASH_DIGITS 10

static long digits_before(const char *text, long end) {
  long at = end;

  while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9')
    at--;
  return end - at;
}

/* Returns the length of a method's name without the numbers at its end that
 * differ in each process. Names with such numbers are ActionView's
 * "_app_views_carts_show_html_erb__349628401748_220" (template.rb; a negative
 * hash has a third underscore) and Tilt's "__tilt_4320" (tilt/template.rb). */
static long view_name_length(const char *text, long bytes) {
  static const char tilt[] = "__tilt";
  const long tilt_bytes = sizeof tilt - 1;
  long id = digits_before(text, bytes), at = bytes - id - 1, hash;

  if (id == 0 || at < 0 || text[at] != '_')
    return bytes;
  if (at == tilt_bytes && memcmp(text, tilt, (size_t)at) == 0)
    return at;
  hash = digits_before(text, at);
  at -= hash;
  if (hash < VIEW_HASH_DIGITS || at < 3 || text[0] != '_' ||
      text[at - 1] != '_' || text[at - 2] != '_')
    return bytes;
  while (at > 0 && text[at - 1] == '_')
    at--;
  return at;
}

/* Remove the numbers that view_name_length() finds from a label that ends with
 * the name `base`. */
static VALUE view_label_clean(VALUE label, VALUE base) {
  long bytes = RSTRING_LEN(base);

  bytes -= view_name_length(RSTRING_PTR(base), bytes);
  return bytes ? rb_str_subseq(label, 0, RSTRING_LEN(label) - bytes) : label;
}

/* Returns the label of the code, with the class before the method's name. */
static VALUE iseq_name(const rb_sp_code *code) {
  VALUE label = utf8(rb_profile_frame_label(code->iseq));
  VALUE base = utf8(rb_profile_frame_base_label(code->iseq));
  VALUE class_path;
  long prefix;

  if (NIL_P(label))
    return Qnil;
  label = label_clean(label);
  if (!NIL_P(base) && text_ends(label, base)) {
    label = view_label_clean(label, base);
    base = view_label_clean(base, base);
  }
  /* Only the code of methods gets a class before its name; <main> and
   * <class:Cart> do not. */
  if (!code->method || NIL_P(base) || !text_ends(label, base) ||
      NIL_P(rb_profile_frame_method_name(code->iseq)))
    return label;
  prefix = RSTRING_LEN(label) - RSTRING_LEN(base);
  if (prefix > 0 && RSTRING_PTR(label)[prefix - 1] != ' ')
    return label;
  class_path = method_class(code->method);
  return joined(joined(rb_str_subseq(label, 0, prefix), class_path), base);
}

static int64_t frame_line(VALUE iseq, uint32_t offset) {
  rb_sp_instructions all = rb_sp_iseq_instructions(iseq);
  uint32_t position = offset - (uint32_t)((uintptr_t)all.first >> 3);

  /* While code of the JIT compiler runs, the frame's pc may have any value. */
  if (position > all.count)
    return 0;
  /* The pc points to the next instruction, except in a frame that has not run
   * an instruction yet. */
  return rb_iseq_line_no(iseq, position > 0 ? position - 1 : 0);
}

static VALUE name_find(VALUE data) {
  name_work *work = (name_work *)data;
  VALUE iseq = work->code.iseq, start_line;

  name_file = Qnil;
  if (!iseq) {
    name_function = c_method_name(work->code.method);
    return Qnil;
  }
  name_function = iseq_name(&work->code);
  name_file = rb_profile_frame_absolute_path(iseq);
  if (NIL_P(name_file))
    name_file = rb_profile_frame_path(iseq);
  name_file = utf8(name_file);
  start_line = rb_profile_frame_first_lineno(iseq);
  work->start_line = FIXNUM_P(start_line) ? FIX2LONG(start_line) : 0;
  work->line = frame_line(iseq, work->frame->offset);
  if (work->line == 0)
    work->line = work->start_line;
  return Qnil;
}

void rb_sp_names_init(void) {
  rb_gc_register_address(&name_function);
  rb_gc_register_address(&name_file);
}

spanprof_status rb_sp_names_resolve(void *data, const spanprof_frame *frame,
                                    spanprof_name *out) {
  name_work work = {.frame = frame};
  int state = 0;

  (void)data;
  if (frame->code == RB_SP_CODE_GC) {
    out->function = NAMES_GC;
    out->function_bytes = strlen(NAMES_GC);
    return SPANPROF_OK;
  }
  if (!rb_sp_code_find(frame->code, &work.code))
    return SPANPROF_ERR_STATE;
  rb_protect(name_find, (VALUE)&work, &state);
  if (state) {
    rb_set_errinfo(Qnil);
    return SPANPROF_ERR_NOMEM;
  }
  if (NIL_P(name_function))
    return SPANPROF_ERR_STATE;
  out->function = RSTRING_PTR(name_function);
  out->function_bytes = (size_t)RSTRING_LEN(name_function);
  if (!NIL_P(name_file)) {
    out->file = RSTRING_PTR(name_file);
    out->file_bytes = (size_t)RSTRING_LEN(name_file);
  }
  out->line = work.line;
  out->start_line = work.start_line;
  return SPANPROF_OK;
}
