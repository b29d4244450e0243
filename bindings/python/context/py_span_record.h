/* The records of started spans, which are found by id. A record lives until the
 * SDK's span has been freed and no context refers to the record. A weak
 * reference reports that the span was freed. A span that the program never ends
 * therefore ends when it is freed. All functions need the GIL. */
#ifndef PY_SPAN_RECORD_H
#define PY_SPAN_RECORD_H

#include "py_context.h"

/* The record of a span. It begins with a py_sp_span_label, so that it can be
 * the value of the ContextVar for a span without labels. */
struct py_sp_span_record {
  py_sp_span_label label;
  uint64_t id;        /* the span's id */
  uint64_t trace_low; /* the low half of the trace id */
  int retained; /* the core keeps the span until spanprof_span_release() */
  int ended;
  PyObject *name;   /* the name that the core has; NULL in an alias */
  PyObject *object; /* weak reference to the SDK's span, whose callback is this
                       record; NULL: the span was freed */
  /* Address of the SDK's span; NULL when the span was freed. */
  const PyObject *address;
  /* If this record is an alias: the record of the span. Otherwise NULL. */
  py_sp_span_record *other;
  py_sp_span_record *next_hash; /* next record in the same bucket */
};

extern PyTypeObject py_sp_span_record_type;

/* Create the record of `span`. `object` is the SDK's span, `name` the name that
 * the core has. When the record is freed, it ends the span if that has not
 * ended. On failure, ends the span and returns NULL with an exception. */
py_sp_span_record *py_sp_span_record_new(spanprof_span span, uint64_t id,
                                         uint64_t trace_low, PyObject *name,
                                         PyObject *object);

/* Create an alias: a record that maps the id of `object`, an SDK span that the
 * core does not have, to the span of `other`. Returns NULL with an exception on
 * failure. */
py_sp_span_record *py_sp_span_record_alias(py_sp_span_record *other,
                                           uint64_t id, uint64_t trace_low,
                                           PyObject *object);

/* Find a record by the span id and the low half of the trace id. Returns a
 * borrowed reference, or NULL. */
py_sp_span_record *py_sp_span_record_find(uint64_t id, uint64_t trace_low);

/* Find the record of an SDK span by its address. Returns a borrowed reference,
 * or NULL if newer records have displaced it. */
py_sp_span_record *py_sp_span_record_recent(const PyObject *object);

/* Pass the span's name, a str, to the core if it is another object than the
 * name that the core has. Raises no exception. */
void py_sp_span_record_rename(py_sp_span_record *record, PyObject *name);

/* Report the end of the span to the core. Has no effect after the first
 * call. */
void py_sp_span_record_end(py_sp_span_record *record);

#endif
