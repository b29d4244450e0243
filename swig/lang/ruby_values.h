/* Conversions between the SWIG module and Ruby. Each conversion may raise and
 * may call the program's methods (to_s, to_path). A raised exception leaves the
 * C functions without freeing memory, so all memory here is owned by Ruby
 * objects. */
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
#define VALUES_PAIRS   "a Hash or a String"

typedef bool (*values_entry)(void *data, VALUE key, VALUE value);

typedef struct values_walk {
  values_entry entry;
  void *data;
} values_walk;

__attribute__((format(printf, 1, 2))) static inline bool
values_refuse(const char *format, ...) {
  va_list arguments;
  VALUE message;

  va_start(arguments, format);
  message = rb_vsprintf(format, arguments);
  va_end(arguments);
  rb_exc_raise(rb_exc_new_str(rb_sp_error, message));
}

static inline bool values_refuse_name(VALUE name) {
  rb_raise(rb_sp_error, "there is no option %" PRIsVALUE,
           rb_inspect(rb_obj_as_string(name)));
}

static inline const char *values_class(VALUE value) {
  return rb_obj_classname(value);
}

/* Blocks of memory that a Ruby object owns. Unlike the contents of Strings,
 * they do not move when another thread compacts the heap during a start. */
typedef struct values_block {
  struct values_block *next;
  char bytes[];
} values_block;

typedef struct values_blocks {
  values_block *first;
} values_blocks;

static inline void values_blocks_free(void *data) {
  values_blocks *blocks = data;
  values_block *next;

  for (; blocks->first; blocks->first = next) {
    next = blocks->first->next;
    xfree(blocks->first);
  }
  xfree(blocks);
}

static const rb_data_type_t values_blocks_type = {
    .wrap_struct_name = "spanprof option values",
    .function = {.dfree = values_blocks_free},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

static inline VALUE values_owner_new(void) {
  values_blocks *blocks;

  return TypedData_Make_Struct(0, values_blocks, &values_blocks_type, blocks);
}

static inline size_t values_count(VALUE list) {
  Check_Type(list, T_ARRAY);
  return (size_t)RARRAY_LEN(list);
}

static inline VALUE values_item(VALUE list, size_t i) {
  return rb_ary_entry(list, (long)i);
}

static inline void *values_allocate(VALUE kept, size_t bytes) {
  values_blocks *blocks = rb_check_typeddata(kept, &values_blocks_type);
  values_block *block = ruby_xmalloc(sizeof *block + bytes);

  block->next = blocks->first;
  blocks->first = block;
  return block->bytes;
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

/* Is this an option of the gem only? lib/spanprof/options.rb reads such
 * options. */
static inline bool values_is_own(VALUE key) {
  return values_is_name(key, "logger") ||
         values_is_name(key, "autoinstrument_rails");
}

static inline bool values_is_uri(VALUE value) {
  const ID uri = rb_intern("URI"), generic = rb_intern("Generic");
  VALUE module;

  if (!rb_const_defined(rb_cObject, uri))
    return false;
  module = rb_const_get(rb_cObject, uri);
  return RB_TYPE_P(module, T_MODULE) && rb_const_defined(module, generic) &&
         RTEST(rb_obj_is_kind_of(value, rb_const_get(module, generic)));
}

static inline bool values_is_text(VALUE value) {
  return RB_TYPE_P(value, T_STRING) || RB_SYMBOL_P(value) ||
         rb_respond_to(value, rb_intern("to_path")) || values_is_uri(value);
}

/* Copy a text in UTF-8. Bytes that are not valid in the String's encoding are
 * copied unchanged, and the library refuses them. Returns NULL and sets *fault
 * if the text contains a NUL byte. */
static inline const char *values_text(VALUE kept, VALUE value,
                                      const char **fault) {
  VALUE text = rb_check_funcall(value, rb_intern("to_path"), 0, NULL);
  char *copy;
  size_t bytes;

  text = rb_obj_as_string(text == Qundef ? value : text);
  text = rb_str_export_to_enc(text, rb_utf8_encoding());
  bytes = (size_t)RSTRING_LEN(text);
  if (memchr(RSTRING_PTR(text), '\0', bytes)) {
    *fault = "contains a NUL byte";
    return NULL;
  }
  copy = values_allocate(kept, bytes + 1);
  memcpy(copy, RSTRING_PTR(text), bytes);
  copy[bytes] = '\0';
  RB_GC_GUARD(text);
  return copy;
}

/* Convert a value of labels or headers, which may be any object, to text. */
static inline bool values_print(VALUE kept, VALUE value, VALUE *text) {
  (void)kept;
  *text = rb_obj_as_string(value);
  return true;
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
