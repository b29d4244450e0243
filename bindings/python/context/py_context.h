/* The labels and the span that are active in a context: a ContextVar of our
 * own, so that tasks, executors, greenlets and whatever else copies or switches
 * contexts carries them as it carries every other variable. */
#ifndef PY_CONTEXT_H
#define PY_CONTEXT_H

#include "base/py_base.h"

/* A span that was started; kept by who made it and by each context that works
 * for it. The span's id and name stay known to the core meanwhile. */
typedef struct py_sp_span_record py_sp_span_record;

/* A block of labels that was entered in this context, or in the one that it is
 * a copy of, and not left yet; does not change. */
typedef struct py_sp_label_block py_sp_label_block;

/* A value of the ContextVar; does not change. */
typedef struct py_sp_span_label {
  PyObject_HEAD spanprof_span span; /* 0: none */
  spanprof_span carried;            /* by its samples */
  spanprof_labels labels;
  spanprof_mark mark;        /* of its recording; 0: none */
  py_sp_span_record *record; /* that keeps `span`; NULL: none */
  py_sp_label_block *block;  /* the innermost; NULL: none */
} py_sp_span_label;

/* Compare the handler's reader with contextvars, once; 0: it may not be used,
 * and no sample gets labels. */
int py_sp_context_check(void);

/* Why the check failed, else NULL. */
const char *py_sp_context_reason(void);

/* What the thread of `tstate` (a PyThreadState) works for; always 1. Called in
 * the signal handler, on that thread. */
int py_sp_context_read(void *tstate, const spanprof_capture *capture,
                       spanprof_context_view *out);

/* The span and the labels that the calling thread works for; a new reference,
 * NULL for none. -1 with an exception. */
int py_sp_context_get_span(py_sp_span_record **out);
int py_sp_context_get_labels(spanprof_labels *out);

/* Work for the span of `record` (NULL: for none) from now on, in the current
 * context, with the labels there are. -1 with an exception. */
int py_sp_context_set_span(py_sp_span_record *record);

/* Have these labels from now on, in the current context, with the span there
 * is. -1 with an exception. */
int py_sp_context_set_labels(spanprof_labels labels);

/* The same until the block `number`, any number but of its own, is left. One
 * number may be entered again, in this context and in others at once. */
int py_sp_context_enter_labels(uint64_t number, spanprof_labels labels);

/* Have the labels again that were there before the block was last entered in
 * this context, with the span there is now; blocks entered since are left with
 * it. What was not entered here changes nothing. -1 with an exception. */
int py_sp_context_leave_labels(uint64_t number);

/* Get and set the recording's mark in the calling thread's current context. -1
 * with an exception. */
int py_sp_context_get_mark(spanprof_mark *out);
int py_sp_context_set_mark(spanprof_mark mark);

/* No span is shown from now on, labels are; `reason`, a sentence, is logged the
 * first time. Without an exception set, and leaves none. */
void py_sp_context_spans_off(const char *reason);

/* Whether spans are shown. */
int py_sp_context_spans_shown(void);

/* Once, when the extension loads. */
int py_sp_context_init(PyObject *module);

#endif
