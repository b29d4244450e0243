/* The memory layout of frames and code objects in each CPython. Only this file
 * and the files that it includes depend on the layout. The functions read
 * memory that their caller has tested to be readable, call nothing, and may run
 * in the signal handler.
 *
 * Include this header before any other header of Python, because only CPython's
 * internal headers declare the frames of 3.11 and later. */
#ifndef PY_LAYOUT_H
#define PY_LAYOUT_H

#ifndef Py_BUILD_CORE
#define Py_BUILD_CORE 1
#endif

#include <stdbool.h>
#include <stdint.h>

#include "base/py_version.h"
#include "util/base.h"

/* What a frame structure is. */
typedef enum py_sp_frame_kind {
  PY_SP_FRAME_CODE,  /* executes a code object */
  PY_SP_FRAME_SHIM,  /* marks where a call of the eval loop began; executes
                        nothing */
  PY_SP_FRAME_OTHER, /* not a frame of a running function */
} py_sp_frame_kind;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#if PY_VERSION_HEX < 0x030b0000
#include "py_layout_310.h"
#elif PY_VERSION_HEX < 0x030d0000
#include "py_layout_311.h"
#else
#include "py_layout_313.h"
#endif
#pragma GCC diagnostic pop

/* --- code objects: their fields are declared in public headers --- */

/* The name to show: the qualified name if code objects have one. */
SP_SIGNAL_SAFE static inline const PyObject *
layout_code_name(const PyCodeObject *code) {
#if PY_SP_VERSION_QUALIFIED_NAMES
  return code->co_qualname;
#else
  return code->co_name;
#endif
}

/* Returns a number that no other code object at this address has or had, or 0
 * if the code object has no version. Each interpreter counts versions
 * separately, so the number also contains the first line. */
SP_SIGNAL_SAFE static inline uint64_t
layout_code_version(const PyCodeObject *code) {
#if PY_VERSION_HEX >= 0x030c0000
  return code->co_version == 0
             ? 0
             : (uint64_t)code->co_firstlineno << 32 | code->co_version;
#else
  (void)code;
  return 0;
#endif
}

/* Fields by which code objects that reuse an address differ. They are used
 * before CPython 3.12, where code objects have no version. */
typedef struct py_sp_code_fields {
#if PY_VERSION_HEX < 0x030c0000
  const void *name;
  const void *file;
  const void *lines;
  uint64_t first_line;
#endif
} py_sp_code_fields;

#if PY_VERSION_HEX < 0x030c0000

SP_SIGNAL_SAFE static inline py_sp_code_fields
layout_code_fields(const PyCodeObject *code) {
  return (py_sp_code_fields){.name = layout_code_name(code),
                             .file = code->co_filename,
                             .lines = code->co_linetable,
                             .first_line = (uint64_t)code->co_firstlineno};
}

SP_SIGNAL_SAFE static inline bool
layout_code_fields_same(const PyCodeObject *code,
                        const py_sp_code_fields *known) {
  return layout_code_name(code) == known->name &&
         code->co_filename == known->file &&
         code->co_linetable == known->lines &&
         (uint64_t)code->co_firstlineno == known->first_line;
}

/* Prefetch the fields of `code` that py_code.c compares with those of a known
 * code object. The second function prefetches the hashes of the known name and
 * file. */
SP_SIGNAL_SAFE static inline void
layout_code_prefetch(const PyCodeObject *code) {
  __builtin_prefetch(&code->co_filename);
  __builtin_prefetch(&code->co_linetable);
  __builtin_prefetch(&code->co_firstlineno);
}

SP_SIGNAL_SAFE static inline void
layout_code_fields_prefetch(const py_sp_code_fields *known) {
  __builtin_prefetch(&((const PyASCIIObject *)known->name)->hash);
  __builtin_prefetch(&((const PyASCIIObject *)known->file)->hash);
}

#else

SP_SIGNAL_SAFE static inline py_sp_code_fields
layout_code_fields(const PyCodeObject *code) {
  (void)code;
  return (py_sp_code_fields){};
}

SP_SIGNAL_SAFE static inline bool
layout_code_fields_same(const PyCodeObject *code,
                        const py_sp_code_fields *known) {
  (void)code, (void)known;
  return true;
}

SP_SIGNAL_SAFE static inline void
layout_code_prefetch(const PyCodeObject *code) {
  __builtin_prefetch(&code->co_version);
}

SP_SIGNAL_SAFE static inline void
layout_code_fields_prefetch(const py_sp_code_fields *known) {
  (void)known;
}

#endif

/* Returns the number of instruction units, or in 3.10 an upper limit. */
SP_SIGNAL_SAFE static inline uint32_t
layout_code_units(const PyCodeObject *code) {
#if PY_VERSION_HEX >= 0x030b0000
  return (uint32_t)Py_SIZE(code);
#else
  (void)code;
  return 1u << 24;
#endif
}

/* Returns the size in words of the code's frames on the data stack, or 0 if
 * frames are not on a data stack. */
SP_SIGNAL_SAFE static inline uint32_t
layout_code_words(const PyCodeObject *code) {
#if PY_VERSION_HEX >= 0x030c0000
  return (uint32_t)code->co_framesize;
#elif PY_VERSION_HEX >= 0x030b0000
  return (uint32_t)(code->co_nlocalsplus + code->co_stacksize) +
         FRAME_SPECIALS_SIZE;
#else
  (void)code;
  return 0;
#endif
}

/* Returns whether samples do not show frames of this code. From 3.12 on, the
 * interpreter inserts such a frame between the call of a class and its
 * __init__, and no traceback shows it (Python/specialize.c, _Py_InitCleanup):
 * none of its instructions is traceable. */
SP_SIGNAL_SAFE static inline bool layout_code_hidden(const PyCodeObject *code) {
#if PY_VERSION_HEX >= 0x030c0000
  return code->_co_firsttraceable >= Py_SIZE(code);
#else
  (void)code;
  return false;
#endif
}

#endif
