/* The records of started spans, which are found by id. A record lives until the
 * SDK's span has been freed and no context refers to the record. A weak
 * reference reports that the span was freed. A span that is never ended
 * explicitly ends with its last reference. All functions need the GIL. */
#ifndef PY_SPAN_RECORD_H
#define PY_SPAN_RECORD_H

#include "py_context.h"

/* The record of a span. It begins with a py_sp_span_label, so that it can be
 * the value of the ContextVar for a span without labels. */
struct py_sp_span_record {
  py_sp_span_label label;
  uint64_t id;        /* the span's id */
  uint64_t trace_low; /* the low half of its trace's id */
  int retained;       /* whether the core keeps the span for this record */
  int ended;
  PyObject *name;   /* the name that the core has; NULL: see `other` */
  PyObject *object; /* weak reference to the SDK's span, whose callback is this
                       record; NULL: the span was freed */
  const PyObject
      *address; /* address of the SDK's span; NULL when it was freed */
  py_sp_span_record *other;     /* the record that this one is an alias of */
  py_sp_span_record *next_hash; /* next in its bucket of the table */
};

extern PyTypeObject py_sp_span_record_type;

/* Create the record of `span`. `object` is the SDK's span, `name` the name that
 * the core has. The span ends with the record at the latest. Returns NULL with
 * an exception; the span is ended then. */
py_sp_span_record *py_sp_span_record_new(spanprof_span span, uint64_t id,
                                         uint64_t trace_low, PyObject *name,
                                         PyObject *object);

/* Create a record that maps the id of `object` to the span of `other`. */
py_sp_span_record *py_sp_span_record_alias(py_sp_span_record *other,
                                           uint64_t id, uint64_t trace_low,
                                           PyObject *object);

/* Find the record of an id. Returns a borrowed reference, or NULL. */
py_sp_span_record *py_sp_span_record_find(uint64_t id, uint64_t trace_low);

/* Find the record of an object that was used recently. Returns a borrowed
 * reference, or NULL. */
py_sp_span_record *py_sp_span_record_recent(const PyObject *object);

/* Pass the name, a str, to the core if it differs from the one that the core
 * has. Raises no exception. */
void py_sp_span_record_rename(py_sp_span_record *record, PyObject *name);

/* Report the end of the span to the core. Has no effect after the first
 * call. */
void py_sp_span_record_end(py_sp_span_record *record);

#endif
