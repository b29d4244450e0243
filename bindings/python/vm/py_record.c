/* py_layout.h must precede <Python.h>, because it needs CPython's internal
 * headers. */
#include "py_layout.h"

/* The following includes are in the usual order. */
#include "py_record.h"

#include <string.h>

#include "memory/py_text.h"
#include "py_lines.h"
#include "util/memory/hash.h"

#define RECORD_NAME_BYTES_MAX 512
/* A handler has a buffer of this size on its stack. */
#define RECORD_FILE_BYTES_MAX 896

/* Maximum number of slots that a search for one file name reads. */
#define RECORD_REACH 64

/* The copy of a code object. Its runs (py_lines.h) and the bytes of its name
 * follow the struct. */
typedef struct code_record {
  uint32_t run_count; /* 0: no line is known */
  int32_t first_line;
  uint32_t file_at; /* offset of the file name in the space */
  uint16_t file_bytes;
  uint16_t name_bytes;
} code_record;

/* Read a bytes object at any address. Returns false if it is not a bytes
 * object. */
SP_HANDLER_RARE static bool bytes_read(py_sp_probe *probe,
                                       const PyObject *object,
                                       const uint8_t **data, size_t *size) {
  const PyBytesObject *bytes = (const PyBytesObject *)object;

  if (((uintptr_t)object & 7) != 0 ||
      !py_sp_probe_readable(probe, object, sizeof *bytes) ||
      Py_TYPE(object) != &PyBytes_Type || Py_SIZE(bytes) < 0)
    return false;
  *data = (const uint8_t *)bytes->ob_sval;
  *size = (size_t)Py_SIZE(bytes);
  return *size == 0 || py_sp_probe_readable(probe, *data, *size);
}

/* Find the name of a file in the space, or store it there: two bytes with its
 * length, then the text. Returns the offset of the text, or 0 if the space is
 * full. */
SP_HANDLER_RARE static uint32_t
file_store(py_sp_space *space, const py_sp_text *text, uint16_t *bytes_out) {
  _Atomic uint32_t *files = (_Atomic uint32_t *)space->base, *slot = NULL;
  char path[RECORD_FILE_BYTES_MAX];
  uint16_t bytes = (uint16_t)py_sp_text_copy(text, path, sizeof path);
  uint64_t hash = sp_hash_bytes(path, bytes);
  uint32_t at, empty = 0, i;

  *bytes_out = bytes;
  for (i = 0; i < RECORD_REACH; i++) {
    slot = &files[(hash + i) & (PY_SP_RECORD_FILES - 1)];
    at = atomic_load_explicit(slot, memory_order_acquire);
    if (at == 0)
      break;
    if (memcmp(space->base + at, &bytes, sizeof bytes) == 0 &&
        memcmp(space->base + at + sizeof bytes, path, bytes) == 0)
      return at + (uint32_t)sizeof bytes;
  }
  at = py_sp_space_allocate(space, sizeof bytes + bytes);
  if (at == 0)
    return 0;
  memcpy(space->base + at, &bytes, sizeof bytes);
  memcpy(space->base + at + sizeof bytes, path, bytes);
  /* If another handler fills the slot first, the name stays stored twice. */
  if (i < RECORD_REACH)
    atomic_compare_exchange_strong(slot, &empty, at);
  return at + (uint32_t)sizeof bytes;
}

SP_HANDLER_RARE uint64_t py_sp_record_make(py_sp_space *space,
                                           py_sp_probe *probe,
                                           const PyCodeObject *code) {
  py_sp_text name = {.ascii = true}, file = {.ascii = true};
  size_t line_bytes = 0, run_count = 0, name_bytes;
  const uint8_t *lines = NULL;
  py_sp_line_run *runs;
  uint16_t file_bytes;
  uint32_t file_at, at;

  if (!py_sp_text_read(probe, layout_code_name(code), &name))
    name = (py_sp_text){.ascii = true};
  if (!py_sp_text_read(probe, code->co_filename, &file))
    file = (py_sp_text){.ascii = true};
  if (bytes_read(probe, code->co_linetable, &lines, &line_bytes))
    run_count = py_sp_lines_read(lines, line_bytes, code->co_firstlineno, NULL);
  name_bytes = py_sp_text_copy(&name, NULL, RECORD_NAME_BYTES_MAX);
  file_at = file_store(space, &file, &file_bytes);
  at = py_sp_space_allocate(space, sizeof(code_record) +
                                       run_count * sizeof(py_sp_line_run) +
                                       name_bytes);
  if (file_at == 0 || at == 0)
    return 0;
  *(code_record *)(space->base + at) =
      (code_record){.run_count = (uint32_t)run_count,
                    .first_line = code->co_firstlineno,
                    .file_at = file_at,
                    .file_bytes = file_bytes,
                    .name_bytes = (uint16_t)name_bytes};
  runs = (py_sp_line_run *)(space->base + at + sizeof(code_record));
  if (run_count > 0)
    py_sp_lines_read(lines, line_bytes, code->co_firstlineno, runs);
  py_sp_text_copy(&name, (char *)(runs + run_count), name_bytes);
  return atomic_load(&space->generation) << 32 | at;
}

/* Read a record, which a handler may erase at the same time, and check that it
 * is inside its space. Returns the space, or NULL if the space was emptied. The
 * caller calls record_is_still() after it has read the rest of the record. */
static const py_sp_space *record_read(uint64_t id, code_record *out) {
  const py_sp_space *space = py_sp_space_of(id >> 32);
  const uint32_t at = (uint32_t)id;

  if (!space || at > PY_SP_SPACE_BYTES - sizeof *out)
    return NULL;
  memcpy(out, space->base + at, sizeof *out);
  if (out->name_bytes > RECORD_NAME_BYTES_MAX ||
      out->file_bytes > RECORD_FILE_BYTES_MAX ||
      out->file_at > PY_SP_SPACE_BYTES - out->file_bytes ||
      out->run_count > PY_SP_SPACE_BYTES / sizeof(py_sp_line_run) ||
      at + sizeof *out + out->run_count * sizeof(py_sp_line_run) +
              out->name_bytes >
          PY_SP_SPACE_BYTES)
    return NULL;
  return space;
}

static bool record_is_still(uint64_t id) {
  atomic_thread_fence(memory_order_seq_cst);
  return py_sp_space_of(id >> 32) != NULL;
}

uint32_t py_sp_record_line(uint64_t id, uint32_t unit) {
  code_record record;
  const py_sp_space *space = record_read(id, &record);
  uint32_t line;

  if (!space)
    return 0;
  line = py_sp_lines_find(
      (const py_sp_line_run *)(space->base + (uint32_t)id + sizeof record),
      record.run_count, unit);
  return record_is_still(id) ? line : 0;
}

uint32_t py_sp_record_first_line(uint64_t id) {
  code_record record;

  return record_read(id, &record) && record.first_line > 0 &&
                 record_is_still(id)
             ? (uint32_t)record.first_line
             : 0;
}

spanprof_status py_sp_record_name(uint64_t id, spanprof_name *out) {
  static char name[RECORD_NAME_BYTES_MAX], file[RECORD_FILE_BYTES_MAX];
  static const char overflow[] = "<overflow>";
  const py_sp_space *space;
  code_record record;

  if (id == PY_SP_RECORD_OVERFLOW) {
    out->function = overflow;
    out->function_bytes = sizeof overflow - 1;
    return SPANPROF_OK;
  }
  space = record_read(id, &record);
  if (!space)
    return SPANPROF_ERR_STATE;
  memcpy(name,
         space->base + (uint32_t)id + sizeof record +
             record.run_count * sizeof(py_sp_line_run),
         record.name_bytes);
  memcpy(file, space->base + record.file_at, record.file_bytes);
  if (!record_is_still(id))
    return SPANPROF_ERR_STATE;
  out->function = name;
  out->function_bytes = record.name_bytes;
  out->file = file;
  out->file_bytes = record.file_bytes;
  out->start_line = record.first_line > 0 ? record.first_line : 0;
  return SPANPROF_OK;
}
