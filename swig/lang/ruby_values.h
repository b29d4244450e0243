/* Conversions of the SWIG module that take more than a line, for Ruby. */
#ifndef RUBY_VALUES_H
#define RUBY_VALUES_H

#include "rb_spanprof.h"

#include "stats_fields.h"

/* Valid while `object`, an argument of the running method, is. Raises TypeError
 * where it is no String. */
static inline char *values_text(VALUE object, size_t *bytes) {
  Check_Type(object, T_STRING);
  *bytes = (size_t)RSTRING_LEN(object);
  return RSTRING_PTR(object);
}

static inline VALUE values_stats(const spanprof_stats *stats) {
  const VALUE hash = rb_hash_new();
  const VALUE histogram = rb_ary_new_capa(SPANPROF_HANDLER_BUCKETS);
  size_t i;

  for (i = 0; i < STATS_FIELDS; i++)
    rb_hash_aset(hash, ID2SYM(rb_intern(stats_fields[i].name)),
                 ULL2NUM(stats_value(stats, i)));
  for (i = 0; i < SPANPROF_HANDLER_BUCKETS; i++)
    rb_ary_push(histogram, ULL2NUM(stats->handler_histogram[i]));
  rb_hash_aset(hash, ID2SYM(rb_intern("handler_histogram")), histogram);
  return hash;
}

#endif
