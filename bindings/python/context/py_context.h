/* The labels and the span that are active in a context. They are the value of
 * the binding's ContextVar, so that each copy and each switch of contexts
 * applies to them: in tasks, executors and greenlets. */
#ifndef PY_CONTEXT_H
#define PY_CONTEXT_H

#include "base/py_base.h"

/* A started span. Its creator and each context in which it is active have a
 * reference. The core keeps the span's id and name as long as the record
 * exists. */
typedef struct py_sp_span_record py_sp_span_record;

/* A label block that was entered and not left. It belongs to the context in
 * which it was entered, and to all copies of that context. Immutable. */
typedef struct py_sp_label_block py_sp_label_block;

/* A value of the ContextVar. Immutable. */
typedef struct py_sp_span_label {
  PyObject_HEAD spanprof_span span; /* 0: none */
  spanprof_span carried;            /* result of
                                       spanprof_span_carried(span) */
  spanprof_labels labels;
  spanprof_mark mark;        /* mark of the context's recording; 0: none */
  py_sp_span_record *record; /* keeps `span` alive; NULL: none */
  py_sp_label_block *block;  /* the innermost block; NULL: none */
} py_sp_span_label;

/* Compare the handler's reader with contextvars, once. Returns 0 if they
 * differ: then the reader must not be used, and no sample gets labels. */
int py_sp_context_check(void);

/* Returns the reason for a failed check, or NULL. */
const char *py_sp_context_reason(void);

/* Read the labels and the span of the thread of `tstate` (a PyThreadState).
 * Always returns 1. Called in the signal handler, on that thread. */
int py_sp_context_read(void *tstate, const spanprof_capture *capture,
                       spanprof_context_view *out);

/* Get the span and the labels of the calling thread's current context. *out is
 * a new reference, or NULL if there is no span. Returns -1 with an
 * exception. */
int py_sp_context_get_span(py_sp_span_record **out);
int py_sp_context_get_labels(spanprof_labels *out);

/* Set the span of the current context (NULL: none). Its labels stay. Returns -1
 * with an exception. */
int py_sp_context_set_span(py_sp_span_record *record);

/* Set the labels of the current context. Its span stays. Returns -1 with an
 * exception. */
int py_sp_context_set_labels(spanprof_labels labels);

/* Set the labels of the current context until the block `number` is left. The
 * caller chooses the number. A number may be entered repeatedly, in this
 * context and in others at the same time. Returns -1 with an exception. */
int py_sp_context_enter_labels(uint64_t number, spanprof_labels labels);

/* Leave the block that was entered last with this number in this context:
 * restore the labels from before that entry. The current span stays. Blocks
 * that were entered after it are left too. Does nothing if the block was not
 * entered in this context. Returns -1 with an exception. */
int py_sp_context_leave_labels(uint64_t number);

/* Get and set the recording's mark in the calling thread's current context.
 * Return -1 with an exception. */
int py_sp_context_get_mark(spanprof_mark *out);
int py_sp_context_set_mark(spanprof_mark mark);

/* Add no spans to samples from now on; labels stay. The first call logs
 * `reason`, a sentence. Call it without an exception set; it raises none. */
void py_sp_context_spans_off(const char *reason);

/* Returns false after py_sp_context_spans_off(). */
int py_sp_context_spans_shown(void);

/* Call it once, when the extension is loaded. */
int py_sp_context_init(PyObject *module);

#endif
