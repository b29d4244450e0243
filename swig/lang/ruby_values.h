/* Conversions between the SWIG module and Ruby. What is made on the way lives
 * in Ruby's own objects, since a raise leaves everything else behind. */
#ifndef RUBY_VALUES_H
#define RUBY_VALUES_H

#include <ruby/encoding.h>
#include <stdarg.h>
#include <string.h>

#include "base/rb_base.h"
#include "stats_fields.h"

#define VALUES_KIND    "a value of class "
#define VALUES_TEXT    "a String"
#define VALUES_PATH    "a String"
#define VALUES_NUMBER  "an Integer"
#define VALUES_SWITCH  "true or false"
#define VALUES_MAPPING "a Hash"

typedef bool (*values_entry)(void *data, VALUE key, VALUE value);

typedef struct values_walk {
  values_entry entry;
  void *data;
} values_walk;

__attribute__((format(printf, 1, 2))) static inline bool
values_refuse(const char *format, ...) {
  va_list arguments;
  VALUE sentence;

  va_start(arguments, format);
  sentence = rb_vsprintf(format, arguments);
  va_end(arguments);
  rb_exc_raise(rb_exc_new_str(rb_sp_error, sentence));
}

static inline bool values_refuse_name(VALUE name) {
  rb_raise(rb_sp_error, "there is no option %" PRIsVALUE,
           rb_inspect(rb_obj_as_string(name)));
}

static inline const char *values_class(VALUE value) {
  return rb_obj_classname(value);
}

static inline VALUE values_list(void) {
  return rb_ary_new();
}

static inline size_t values_count(VALUE list) {
  Check_Type(list, T_ARRAY);
  return (size_t)RARRAY_LEN(list);
}

static inline VALUE values_item(VALUE list, size_t i) {
  return rb_ary_entry(list, (long)i);
}

static inline void *values_room(VALUE kept, size_t bytes) {
  const VALUE room = rb_str_new(NULL, (long)bytes);

  rb_ary_push(kept, room);
  return RSTRING_PTR(room);
}

static inline bool values_is_nothing(VALUE value) {
  return NIL_P(value);
}

static inline bool values_is_mapping(VALUE value) {
  return RB_TYPE_P(value, T_HASH);
}

static inline size_t values_size(VALUE mapping) {
  return RHASH_SIZE(mapping);
}

static inline int values_visit(VALUE key, VALUE value, VALUE data) {
  const values_walk *walk = (const values_walk *)data;

  return walk->entry(walk->data, key, value) ? ST_CONTINUE : ST_STOP;
}

static inline bool values_each(VALUE mapping, values_entry entry, void *data) {
  values_walk walk = {entry, data};

  rb_hash_foreach(mapping, values_visit, (VALUE)&walk);
  return true;
}

static inline bool values_is_name(VALUE key, const char *name) {
  const VALUE text = rb_obj_as_string(key);

  return (size_t)RSTRING_LEN(text) == strlen(name) &&
         memcmp(RSTRING_PTR(text), name, strlen(name)) == 0;
}

/* Those that are not the core's stay in Ruby: lib/spanprof/options.rb. */
static inline bool values_is_own(VALUE key) {
  (void)key;
  return false;
}

static inline bool values_is_text(VALUE value) {
  return RB_TYPE_P(value, T_STRING);
}

/* In UTF-8. Bytes that no encoding explains stay as they are: the core says
 * what is wrong with them. */
static inline const char *values_text(VALUE kept, VALUE value,
                                      const char **fault) {
  VALUE text = rb_str_export_to_enc(value, rb_utf8_encoding());

  if (memchr(RSTRING_PTR(text), '\0', (size_t)RSTRING_LEN(text))) {
    *fault = "holds a NUL byte";
    return NULL;
  }
  text = rb_str_new_frozen(text);
  rb_ary_push(kept, text);
  return StringValueCStr(text);
}

static inline bool values_number(VALUE value, int64_t *number, bool *over) {
  if (!RB_INTEGER_TYPE_P(value))
    return false;
  *over = !FIXNUM_P(value);
  *number = *over ? 0 : FIX2LONG(value);
  return true;
}

static inline bool values_switch(VALUE value, int64_t *number) {
  *number = value == Qtrue;
  return value == Qtrue || value == Qfalse;
}

static inline VALUE values_stats(const spanprof_stats *stats) {
  const VALUE hash = rb_hash_new();
  const VALUE histogram = rb_ary_new_capa(SPANPROF_HANDLER_BUCKETS);
  size_t i;

  for (i = 0; i < STATS_WORDS; i++)
    if (stats_names[i])
      rb_hash_aset(hash, ID2SYM(rb_intern(stats_names[i])),
                   ULL2NUM(stats_value(stats, i)));
  for (i = 0; i < SPANPROF_HANDLER_BUCKETS; i++)
    rb_ary_push(histogram, ULL2NUM(stats->handler_histogram[i]));
  rb_hash_aset(hash, ID2SYM(rb_intern("handler_histogram")), histogram);
  return hash;
}

#endif
