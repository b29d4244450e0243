/* The labels and the span that are active in a context (contextvars). They are
 * the value of one ContextVar of the binding. So a copy of the context has them
 * too, and a switch to another context, as between tasks or greenlets, changes
 * them. */
#ifndef PY_CONTEXT_H
#define PY_CONTEXT_H

#include "base/py_base.h"

/* The record of a started span. The function that created the record and each
 * context in which the span is active have a reference. The core keeps the
 * span's id and name as long as the record exists. */
typedef struct py_sp_span_record py_sp_span_record;

/* A block of labels (spanprof.label) that was entered and not left. It belongs
 * to the context in which it was entered, and to all copies of that context.
 * Never changed after its creation. */
typedef struct py_sp_label_block py_sp_label_block;

/* A value of the ContextVar. Never changed after its creation. */
typedef struct py_sp_span_label {
  PyObject_HEAD spanprof_span span; /* 0: none */
  spanprof_span carried; /* spanprof_span_carried(span), for samples */
  spanprof_labels labels;
  /* The number of the recording that the context belongs to; 0: none. */
  spanprof_mark mark;
  py_sp_span_record *record; /* keeps `span` alive; NULL: none */
  py_sp_label_block *block;  /* the innermost block; NULL: none */
} py_sp_span_label;

/* Check, once per process, that the signal handler reads the values of
 * ContextVars that the module contextvars returns. Returns 0 if they differ;
 * this interpreter is not profiled then. */
int py_sp_context_check(void);

/* Returns why py_sp_context_check() failed, in one sentence, or NULL. */
const char *py_sp_context_reason(void);

/* Read the labels and the span of the interrupted thread, whose PyThreadState
 * is `tstate`. Always returns 1. Called in the signal handler on this
 * thread. */
int py_sp_context_read(void *tstate, const spanprof_capture *capture,
                       spanprof_context_view *out);

/* Get the span or the labels of the calling thread's current context. The span
 * is a new reference, or NULL if there is none. Return 0, or -1 with an
 * exception. */
int py_sp_context_get_span(py_sp_span_record **out);
int py_sp_context_get_labels(spanprof_labels *out);

/* Set the span of the current context, or remove it if `record` is NULL. The
 * labels stay. Returns 0, or -1 with an exception. */
int py_sp_context_set_span(py_sp_span_record *record);

/* Set the labels of the current context. The span stays. Returns 0, or -1 with
 * an exception. */
int py_sp_context_set_labels(spanprof_labels labels);

/* Set the labels of the current context until the block `number` is left. The
 * caller chooses the number. It may enter a block with the same number again
 * before it leaves the first, in this context and in others. Returns 0, or -1
 * with an exception. */
int py_sp_context_enter_labels(uint64_t number, spanprof_labels labels);

/* Leave the innermost block with this number in the current context, and all
 * blocks inside it: restore the labels from before it was entered. The span
 * stays. Does nothing if the context has no such block. Returns 0, or -1 with
 * an exception. */
int py_sp_context_leave_labels(uint64_t number);

/* Get or set the mark of the current context: the number of the recording
 * (spanprof.profile) that the context belongs to, 0 for none. Return 0, or -1
 * with an exception. */
int py_sp_context_get_mark(spanprof_mark *out);
int py_sp_context_set_mark(spanprof_mark mark);

/* Add no spans to samples from now on. Samples still get labels. The first call
 * logs `reason`, a sentence. No exception may be set when this function is
 * called, and it raises none. */
void py_sp_context_spans_off(const char *reason);

/* Returns whether samples get spans: false after py_sp_context_spans_off(). */
int py_sp_context_spans_shown(void);

/* Create the ContextVar. Called once, when the extension is loaded. Returns 0,
 * or -1 with an exception. */
int py_sp_context_init(PyObject *module);

#endif
