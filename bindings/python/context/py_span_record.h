/* Spans that were started and are still spoken of: found by id, named, ended
 * once. A record lives as long as the span of the SDK, whose end it is told by
 * a weak reference, and as long as a context carries it: a span that is never
 * ended ends when nobody can end it any more. Everything here is called with
 * the GIL. */
#ifndef PY_SPAN_RECORD_H
#define PY_SPAN_RECORD_H

#include "py_context.h"

/* A value of the ContextVar by itself, for a span without labels. */
struct py_sp_span_record {
  py_sp_span_label label;
  uint64_t id;        /* of the span that leads here */
  uint64_t trace_low; /* the low half of its trace's */
  int retained;       /* the core keeps the span for us */
  int ended;
  PyObject *name;               /* as the core knows it; NULL: see `other` */
  PyObject *object;             /* weak reference to the span, whose callback is
                                 * the record; NULL: the span is gone */
  const PyObject *address;      /* of the span; NULL with it */
  py_sp_span_record *other;     /* of the span this one stands in for */
  py_sp_span_record *next_hash; /* in its bucket of the table */
};

extern PyTypeObject py_sp_span_record_type;

/* A record of `span`, which is ended with it if not before; `object` is the
 * span of the SDK, `name` what the core was told. NULL with an exception: the
 * span was ended. */
py_sp_span_record *py_sp_span_record_new(spanprof_span span, uint64_t id,
                                         uint64_t trace_low, PyObject *name,
                                         PyObject *object);

/* A record under which the id of `object` means the span of `other`. */
py_sp_span_record *py_sp_span_record_stand_in(py_sp_span_record *other,
                                              uint64_t id, uint64_t trace_low,
                                              PyObject *object);

/* The record that an id leads to, or NULL; borrowed. */
py_sp_span_record *py_sp_span_record_find(uint64_t id, uint64_t trace_low);

/* The record of a span that was seen lately, or NULL; borrowed. */
py_sp_span_record *py_sp_span_record_recent(const PyObject *object);

/* Tell the core the name, a str, if it is another than it knows. Leaves no
 * exception. */
void py_sp_span_record_rename(py_sp_span_record *record, PyObject *name);

/* Tell the core that the span ended; once. */
void py_sp_span_record_end(py_sp_span_record *record);

#endif
