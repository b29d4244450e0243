#include "py_layout.h"

#include "py_code.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "py_text.h"
#include "util/base.h"

/* Room for some 15,000 code objects; pages are taken as they fill. */
#define SPACE_BYTES (4u << 20)
#define SPACE_SLOTS (1u << 15)
#define SPACE_FILES (1u << 11)

/* Slots looked at for one key. */
#define SPACE_REACH 64

#define CODE_NAME_BYTES_MAX 512
#define CODE_FILE_BYTES_MAX 1024

/* How long a space's ids are answered after it has gone out of use: the core
 * names a frame when it drains the sample, within a second. */
#define SPACE_REST_NS UINT64_C(5000000000)

/* Of a cache, on both machines. */
#define CODE_LINE_BYTES 64

/* Generation 0 is of no space. */
#define CODE_ID_OVERFLOW 1

typedef struct code_space {
  char *base; /* slots, files, then records and texts */
  _Atomic uint64_t generation;
  _Atomic uint32_t used;  /* bytes of base */
  _Atomic uint32_t count; /* slots taken */
} code_space;

#define SPACE_HEAD_BYTES \
  ((uint32_t)((SPACE_SLOTS + SPACE_FILES) * sizeof(uint32_t)))

/* Process-wide, because the signal handler asks for it. */
static struct {
  code_space spaces[2];
  _Atomic(code_space *) current;
  _Atomic uint64_t inside; /* handlers at work */
  _Atomic bool emptying;
  _Atomic uint64_t switched_ns;
  _Atomic uint64_t generations;
  _Atomic uint64_t known;
  _Atomic uint64_t overflowed;
  _Atomic uint64_t emptied;
} code_state SP_HANDLER_DATA;

static const py_sp_code code_overflow = {.id = CODE_ID_OVERFLOW,
                                         .units = UINT32_MAX};

SP_SIGNAL_SAFE static _Atomic uint32_t *space_slots(const code_space *space) {
  return (_Atomic uint32_t *)space->base;
}

static _Atomic uint32_t *space_files(const code_space *space) {
  return (_Atomic uint32_t *)space->base + SPACE_SLOTS;
}

/* The offset of `bytes` of room, or 0. */
static uint32_t space_take(code_space *space, size_t bytes) {
  uint32_t size = (uint32_t)(bytes + 7) & ~7u, at;

  if (atomic_load_explicit(&space->used, memory_order_relaxed) >
      SPACE_BYTES - size)
    return 0;
  at = atomic_fetch_add_explicit(&space->used, size, memory_order_relaxed);
  return at <= SPACE_BYTES - size ? at : 0;
}

static void space_begin(code_space *space) {
  atomic_store(&space->used, SPACE_HEAD_BYTES);
  atomic_store(&space->count, 0);
  atomic_store(&space->generation,
               atomic_fetch_add(&code_state.generations, 1) + 1);
}

static uint64_t monotonic_ns(void) {
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Go on in the other space, if nobody can want anything of it any more.
 * Returns the current space where that was not the full one, else NULL. */
static code_space *space_switch(code_space *full) {
  uint64_t now = monotonic_ns();
  code_space *next = NULL;

  if (atomic_exchange(&code_state.emptying, true))
    return NULL;
  if (atomic_load(&code_state.current) != full) {
    next = atomic_load(&code_state.current);
  } else if (now - atomic_load(&code_state.switched_ns) > SPACE_REST_NS &&
             atomic_load(&code_state.inside) == 1) {
    next = &code_state.spaces[full == &code_state.spaces[0]];
    atomic_store(&next->generation, 0);
    if (madvise(next->base, SPACE_BYTES, MADV_DONTNEED) != 0)
      memset(next->base, 0, SPACE_HEAD_BYTES);
    space_begin(next);
    atomic_store(&code_state.switched_ns, now);
    atomic_store(&code_state.current, next);
    atomic_fetch_add(&code_state.emptied, 1);
  }
  atomic_store(&code_state.emptying, false);
  return next;
}

SP_SIGNAL_SAFE static uint64_t texts_number(py_sp_probe *probe,
                                            const PyCodeObject *code) {
  return py_sp_text_hash(probe, layout_code_name(code)) * 31 +
         py_sp_text_hash(probe, code->co_filename);
}

static uint64_t code_number(py_sp_probe *probe, const PyCodeObject *code) {
  uint64_t version = layout_code_version(code);

  return version ? version : texts_number(probe, code);
}

/* Whether what stands at the record's address, a code object or the rest of
 * one, is still the record's. Texts are looked at last: only where the code
 * object is alive are they. */
SP_SIGNAL_SAFE static bool code_is(const py_sp_code *known, py_sp_probe *probe,
                                   const PyCodeObject *code) {
  uint64_t version = layout_code_version(code);

  if (version)
    return version == known->number;
  return layout_code_name(code) == known->name &&
         code->co_filename == known->file &&
         code->co_linetable == known->lines &&
         code->co_firstlineno == known->first_line &&
         layout_code_units(code) == known->units &&
         texts_number(probe, code) == known->number;
}

SP_SIGNAL_SAFE static bool code_readable(py_sp_probe *probe,
                                         const PyCodeObject *code) {
  return py_sp_probe_readable(probe, code, sizeof *code);
}

/* The bytes of a bytes object that may be anything; false: it is none. */
static bool bytes_look(py_sp_probe *probe, const PyObject *object,
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

static uint64_t bytes_hash(const char *bytes, size_t size) {
  uint64_t hash = size, word;

  for (; size >= sizeof word; bytes += sizeof word, size -= sizeof word) {
    memcpy(&word, bytes, sizeof word);
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
  }
  for (; size > 0; size--)
    hash = (hash ^ (uint8_t)*bytes++) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 32;
}

/* The place of a file's text, which most files' code objects share: two bytes
 * of length, then the text. 0: no room. */
static uint32_t file_keep(code_space *space, const py_sp_text *text,
                          uint16_t *bytes_out) {
  char path[CODE_FILE_BYTES_MAX];
  uint16_t bytes = (uint16_t)py_sp_text_copy(text, path, sizeof path);
  uint64_t hash = bytes_hash(path, bytes);
  _Atomic uint32_t *slot = NULL;
  uint32_t at, empty = 0, i;

  *bytes_out = bytes;
  for (i = 0; i < SPACE_REACH; i++) {
    slot = &space_files(space)[(hash + i) & (SPACE_FILES - 1)];
    at = atomic_load_explicit(slot, memory_order_acquire);
    if (at == 0)
      break;
    if (memcmp(space->base + at, &bytes, sizeof bytes) == 0 &&
        memcmp(space->base + at + sizeof bytes, path, bytes) == 0)
      return at + (uint32_t)sizeof bytes;
  }
  at = space_take(space, sizeof bytes + bytes);
  if (at == 0)
    return 0;
  memcpy(space->base + at, &bytes, sizeof bytes);
  memcpy(space->base + at + sizeof bytes, path, bytes);
  /* Another handler may take the slot first: then this copy is an extra one. */
  if (i < SPACE_REACH)
    atomic_compare_exchange_strong(slot, &empty, at);
  return at + (uint32_t)sizeof bytes;
}

/* Copy a code object; the offset of the record, or 0: no room. */
static uint32_t record_make(code_space *space, py_sp_probe *probe,
                            const PyCodeObject *code) {
  py_sp_text name = {.ascii = true}, file = {.ascii = true};
  const uint8_t *lines = NULL;
  size_t line_bytes = 0, run_count = 0, name_bytes;
  uint16_t file_bytes;
  uint32_t file_at, at;
  py_sp_code *record;

  if (!py_sp_text_look(probe, layout_code_name(code), &name))
    name = (py_sp_text){.ascii = true};
  if (!py_sp_text_look(probe, code->co_filename, &file))
    file = (py_sp_text){.ascii = true};
  if (bytes_look(probe, code->co_linetable, &lines, &line_bytes))
    run_count = py_sp_lines_read(lines, line_bytes, code->co_firstlineno, NULL);
  name_bytes = py_sp_text_copy(&name, NULL, CODE_NAME_BYTES_MAX);
  file_at = file_keep(space, &file, &file_bytes);
  at = space_take(space, sizeof *record + run_count * sizeof(py_sp_line_run) +
                             name_bytes);
  if (file_at == 0 || at == 0)
    return 0;
  record = (py_sp_code *)(space->base + at);
  *record = (py_sp_code){.id = atomic_load(&space->generation) << 32 | at,
                         .code = code,
                         .number = code_number(probe, code),
                         .units = layout_code_units(code),
                         .words = layout_code_words(code),
                         .run_count = (uint32_t)run_count,
                         .first_line = code->co_firstlineno,
                         .name = layout_code_name(code),
                         .file = code->co_filename,
                         .lines = code->co_linetable,
                         .file_at = file_at,
                         .file_bytes = file_bytes,
                         .name_bytes = (uint16_t)name_bytes,
                         .hidden = layout_code_hidden(code)};
  if (run_count > 0)
    py_sp_lines_read(lines, line_bytes, code->co_firstlineno,
                     (py_sp_line_run *)(record + 1));
  py_sp_text_copy(&name, (char *)((py_sp_line_run *)(record + 1) + run_count),
                  name_bytes);
  return at;
}

SP_SIGNAL_SAFE static uint32_t slot_first(const PyCodeObject *code) {
  return (uint32_t)((uintptr_t)code * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

/* Copy an unknown code object into a slot that holds `before`, or nothing. */
static const py_sp_code *code_add(code_space *space, py_sp_probe *probe,
                                  const PyCodeObject *code,
                                  _Atomic uint32_t *slot, uint32_t before) {
  uint32_t at = 0;

  if (atomic_load_explicit(&space->count, memory_order_relaxed) <
      SPACE_SLOTS / 4 * 3)
    at = record_make(space, probe, code);
  if (at == 0)
    return NULL;
  /* Where another handler took the slot first, this record serves its sample
   * alone. */
  if (atomic_compare_exchange_strong(slot, &before, at) && before == 0)
    atomic_fetch_add_explicit(&space->count, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&code_state.known, 1, memory_order_relaxed);
  return (const py_sp_code *)(space->base + at);
}

/* *full is set where there is no room. */
SP_SIGNAL_SAFE static const py_sp_code *space_find(code_space *space,
                                                   py_sp_probe *probe,
                                                   const PyCodeObject *code,
                                                   bool sure, bool *full) {
  uint32_t first = slot_first(code), i;
  const py_sp_code *found;

  for (i = 0; i < SPACE_REACH; i++) {
    _Atomic uint32_t *slot =
        &space_slots(space)[(first + i) & (SPACE_SLOTS - 1)];
    uint32_t at = atomic_load_explicit(slot, memory_order_acquire);

    found = (const py_sp_code *)(space->base + at);
    if (at != 0 && found->code != code)
      continue;
    if (at == 0 || !sure)
      if (!code_readable(probe, code))
        return NULL;
    if (Py_TYPE(code) != &PyCode_Type)
      return NULL;
    if (at != 0 && code_is(found, sure ? NULL : probe, code))
      return found;
    found = code_add(space, probe, code, slot, at);
    *full = !found;
    return found;
  }
  *full = true;
  return NULL;
}

SP_SIGNAL_SAFE const py_sp_code *
py_sp_code_find(py_sp_probe *probe, const PyCodeObject *code, bool sure) {
  code_space *space =
      atomic_load_explicit(&code_state.current, memory_order_acquire);
  const py_sp_code *found = NULL;
  bool full = false;

  if (space)
    found = space_find(space, probe, code, sure, &full);
  if (!full)
    return found;
  full = false;
  space = space_switch(space);
  if (space)
    found = space_find(space, probe, code, sure, &full);
  else
    full = true;
  if (!full)
    return found;
  atomic_fetch_add_explicit(&code_state.overflowed, 1, memory_order_relaxed);
  return &code_overflow;
}

SP_SIGNAL_SAFE void py_sp_code_foresee(const PyCodeObject *code) {
  const code_space *space =
      atomic_load_explicit(&code_state.current, memory_order_relaxed);

  __builtin_prefetch(code);
  __builtin_prefetch((const char *)code + CODE_LINE_BYTES);
#if PY_VERSION_HEX < 0x030c0000
  __builtin_prefetch((const char *)code + 2 * CODE_LINE_BYTES);
#endif
  if (space)
    __builtin_prefetch((const void *)&space_slots(
        space)[slot_first(code) & (SPACE_SLOTS - 1)]);
}

SP_SIGNAL_SAFE uint32_t py_sp_code_line(const py_sp_code *code, int64_t unit) {
  return py_sp_lines_find((const py_sp_line_run *)(code + 1), code->run_count,
                          unit < 0 ? 0 : (uint32_t)unit);
}

SP_SIGNAL_SAFE void py_sp_code_enter(void) {
  atomic_fetch_add_explicit(&code_state.inside, 1, memory_order_seq_cst);
}

SP_SIGNAL_SAFE void py_sp_code_leave(void) {
  atomic_fetch_sub_explicit(&code_state.inside, 1, memory_order_release);
}

void py_sp_code_quiesce(void) {
  while (atomic_load(&code_state.inside) > 0)
    sched_yield();
}

void py_sp_code_after_fork(void) {
  atomic_store(&code_state.inside, 0);
  atomic_store(&code_state.emptying, false);
}

int py_sp_code_open(void) {
  char *base;
  int i;

  if (atomic_load(&code_state.current))
    return 0;
  base = mmap(NULL, 2 * (size_t)SPACE_BYTES, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    return -1;
  /* A huge page would make all of it resident at the first record. */
  madvise(base, 2 * (size_t)SPACE_BYTES, MADV_NOHUGEPAGE);
  for (i = 0; i < 2; i++)
    code_state.spaces[i].base = base + (size_t)i * SPACE_BYTES;
  space_begin(&code_state.spaces[0]);
  atomic_store(&code_state.current, &code_state.spaces[0]);
  return 0;
}

/* Copy the texts of a record that a handler may empty meanwhile; false: it
 * has. */
static bool record_name(const code_space *space, uint64_t id,
                        spanprof_name *out) {
  static char name[CODE_NAME_BYTES_MAX], file[CODE_FILE_BYTES_MAX];
  uint32_t at = (uint32_t)id;
  py_sp_code record;
  size_t name_at;

  if (atomic_load(&space->generation) != id >> 32 ||
      at > SPACE_BYTES - sizeof record)
    return false;
  memcpy(&record, space->base + at, sizeof record);
  name_at = at + sizeof record + record.run_count * sizeof(py_sp_line_run);
  if (record.name_bytes > sizeof name || record.file_bytes > sizeof file ||
      name_at + record.name_bytes > SPACE_BYTES ||
      record.file_at > SPACE_BYTES - record.file_bytes)
    return false;
  memcpy(name, space->base + name_at, record.name_bytes);
  memcpy(file, space->base + record.file_at, record.file_bytes);
  atomic_thread_fence(memory_order_seq_cst);
  if (atomic_load(&space->generation) != id >> 32)
    return false;
  out->function = name;
  out->function_bytes = record.name_bytes;
  out->file = file;
  out->file_bytes = record.file_bytes;
  out->start_line = record.first_line > 0 ? record.first_line : 0;
  return true;
}

spanprof_status py_sp_code_name(uint64_t id, spanprof_name *out) {
  static const char overflow[] = "<overflow>";
  size_t i;

  if (id == CODE_ID_OVERFLOW) {
    out->function = overflow;
    out->function_bytes = sizeof overflow - 1;
    return SPANPROF_OK;
  }
  for (i = 0; i < 2; i++)
    if (record_name(&code_state.spaces[i], id, out))
      return SPANPROF_OK;
  return SPANPROF_ERR_STATE;
}

py_sp_code_counts py_sp_code_count(void) {
  const code_space *space = atomic_load(&code_state.current);

  return (py_sp_code_counts){
      .known = atomic_load(&code_state.known),
      .bytes = space ? atomic_load(&space->used) : 0,
      .overflowed = atomic_load(&code_state.overflowed),
      .emptied = atomic_load(&code_state.emptied),
  };
}
