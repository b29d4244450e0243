/* Code objects as the signal handler saw them: name, file and lines, copied at
 * first sight, so that nothing of the interpreter is needed to name a frame
 * later, and an id that no other code object gets, whatever takes its address.
 *
 * Protocol: handlers of any number of threads add to the current one of two
 * spaces; a full record is published by one store into the space's table, and
 * never changed. When a space is full, the first handler that finds the other
 * one long out of use, and no other handler at work, empties that one and makes
 * it the current one; until then unknown code is called "<overflow>", counted.
 * Ids carry the space's generation; an id whose space has been emptied since
 * gets no name, never a wrong one. */
#ifndef PY_CODE_H
#define PY_CODE_H

#include "py_spanprof.h"

#include "py_lines.h"
#include "py_probe.h"

#include <stdatomic.h>
#include <stdbool.h>

/* One code object; behind it its runs, then its name's bytes. What every
 * sample reads comes first, in one cache line. */
typedef struct py_sp_code {
  uint64_t id;
  const void *code;
  /* What tells it from another one that took its address: the version, or,
   * before 3.12, a hash of its texts and the fields below. */
  uint64_t number;
  uint32_t units;
  uint32_t words;     /* of its frames on the data stack; 0: none */
  uint32_t run_count; /* 0: no lines are known */
  bool hidden;        /* no function of the program */
  int32_t first_line;
  const void *name;
  const void *file;
  const void *lines;
  uint32_t file_at; /* offset of the file's text in the space */
  uint16_t file_bytes;
  uint16_t name_bytes;
} py_sp_code;

/* Reserve the spaces. 0, or -1 where there is no memory. Idempotent. */
int py_sp_code_open(void);

/* What stands at `code`, which is aligned and not NULL; `sure`: it is a live
 * code object unless the frame is none, so that only an unknown one is looked
 * at with care. NULL: no code object. In the handler, between
 * py_sp_code_enter() and py_sp_code_leave(), and valid until the latter. */
const py_sp_code *py_sp_code_find(py_sp_probe *probe, const PyCodeObject *code,
                                  bool sure);

/* Have what py_sp_code_find() will read of `code`, any address, fetched from
 * memory meanwhile. */
void py_sp_code_foresee(const PyCodeObject *code);

/* The line of an instruction unit, 0: not known. */
uint32_t py_sp_code_line(const py_sp_code *code, int64_t unit);

/* Around everything a handler does with code; signal-safe. */
void py_sp_code_enter(void);
void py_sp_code_leave(void);

/* Wait until no handler is inside. */
void py_sp_code_quiesce(void);

/* In the child of a fork: nobody is inside. */
void py_sp_code_after_fork(void);

/* Name, file and first line of an id; `out->line` stays. Any one thread at a
 * time, without the GIL; texts are valid until the next call.
 * SPANPROF_ERR_STATE: the id is too old. */
spanprof_status py_sp_code_name(uint64_t id, spanprof_name *out);

/* Counted since the process began. */
typedef struct py_sp_code_counts {
  uint64_t known;      /* code objects copied */
  uint64_t bytes;      /* used of the current space */
  uint64_t overflowed; /* frames called "<overflow>" */
  uint64_t emptied;    /* times a space was emptied */
} py_sp_code_counts;

py_sp_code_counts py_sp_code_count(void);

#endif
