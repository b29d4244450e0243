/* py_layout.h must precede <Python.h>, because it needs CPython's internal
 * headers. */
#include "py_layout.h"

/* The following includes are in the usual order. */
#include "py_code.h"

#include <string.h>

#include "memory/py_space.h"
#include "memory/py_text.h"
#include "py_record.h"
#include "util/base.h"

/* Number of slots of the table in a space. The table of the first space is
 * smaller, to save memory, and most programs do not fill it. A program with
 * many code objects writes to all pages of a table, however large the table is,
 * because the slots of its code objects are spread over the table. */
#define CODE_SLOTS       (1u << 14)
#define CODE_SLOTS_FIRST (1u << 11)

/* Maximum number of slots that a search for one address reads. */
#define CODE_REACH 64

/* The id of a slot that a handler of the parent process was writing at a fork.
 * No code object has this id, so that any handler may write the slot again. */
#define CODE_ID_NONE 1

/* A code object and the objects that the compiler creates with it have about
 * 2^7 bytes. */
#define CODE_NEAR_SHIFT 7

/* What the handler reads of a code object that it knows, within one cache
 * line. */
typedef struct code_slot {
  _Atomic uint64_t address; /* 0: free */
  _Atomic uint64_t id;      /* 0: a handler writes the slot */
  /* Differs between code objects that reuse an address: the version or, before
   * CPython 3.12, a hash of name and file. */
  uint64_t number;
  uint32_t units;
  uint32_t words;
  py_sp_code_fields fields; /* also differ between such code objects */
} code_slot;

_Static_assert(SP_CACHE_LINE % sizeof(code_slot) == 0, "one cache line");

/* The address of PyCode_Type, stored next to other data of the signal handler,
 * so that the signal handler does not read it from the GOT, which is in another
 * page. */
SP_HANDLER_DATA static PyTypeObject *code_type = &PyCode_Type;

static _Atomic uint64_t code_known, code_overflowed;

/* Number of handlers that are claiming or writing a slot. */
static _Atomic uint32_t code_writers;

/* Returns the number of slots of the table in a space, a power of two. The
 * first space has generation 1. */
SP_HANDLER_CODE static uint32_t slots_of(const py_sp_space *space) {
  return atomic_load_explicit(&space->generation, memory_order_relaxed) == 1
             ? CODE_SLOTS_FIRST
             : CODE_SLOTS;
}

/* Returns the slot to read at the given step of a search. The slot of step 0
 * depends on the upper bits of the address: code objects of a module are close
 * to each other in memory, so their slots are in few pages. The slots of
 * further steps depend on a hash. */
SP_HANDLER_CODE static code_slot *
slot_at(const py_sp_space *space, const PyCodeObject *code, uint32_t step) {
  const uint64_t address = (uint64_t)(uintptr_t)code;
  uint64_t place = address >> CODE_NEAR_SHIFT;

  if (step > 0)
    place = (address * UINT64_C(0x9e3779b97f4a7c15) >> 40) + step;
  return (code_slot *)(space->base + PY_SP_RECORD_HEAD_BYTES) +
         (place & (slots_of(space) - 1));
}

SP_HANDLER_CODE static uint64_t texts_number(py_sp_probe *probe,
                                             const PyCodeObject *code) {
  return py_sp_text_hash(probe, layout_code_name(code)) * 31 +
         py_sp_text_hash(probe, code->co_filename);
}

SP_HANDLER_RARE static uint64_t code_number(py_sp_probe *probe,
                                            const PyCodeObject *code) {
  uint64_t version = layout_code_version(code);

  return version ? version : texts_number(probe, code);
}

/* Read a slot whose address is that of the live code object `code`. Returns
 * false if a handler writes the slot, or if the slot belongs to a freed code
 * object that had this address. The hash of the texts is compared last, because
 * computing it is slow. */
SP_HANDLER_CODE static bool
slot_read(const code_slot *slot, const PyCodeObject *code, py_sp_code *out) {
  uint64_t version = layout_code_version(code), number;
  bool same;

  out->id = atomic_load_explicit(&slot->id, memory_order_acquire);
  out->units = slot->units;
  out->words = slot->words;
  number = slot->number;
  same = layout_code_fields_same(code, &slot->fields);
  atomic_thread_fence(memory_order_acquire);
  return out->id != 0 && same &&
         atomic_load_explicit(&slot->id, memory_order_relaxed) == out->id &&
         (version ? version : texts_number(NULL, code)) == number;
}

/* Write a slot that this handler has claimed by slot_claim(). */
SP_HANDLER_RARE static void slot_write(code_slot *slot, py_sp_probe *probe,
                                       const PyCodeObject *code,
                                       const py_sp_code *known) {
  atomic_thread_fence(memory_order_release);
  slot->number = code_number(probe, code);
  slot->units = known->units;
  slot->words = known->words;
  slot->fields = layout_code_fields(code);
  atomic_store_explicit(&slot->id, known->id, memory_order_release);
}

/* Copy a code object to the space (py_record.h) and fill in *out. Returns false
 * if the space is full. */
SP_HANDLER_RARE static bool code_copy(py_sp_space *space, py_sp_probe *probe,
                                      const PyCodeObject *code,
                                      py_sp_code *out) {
  *out = (py_sp_code){.id = py_sp_record_make(space, probe, code),
                      .units = layout_code_units(code),
                      .words = layout_code_words(code)};
  if (layout_code_hidden(code))
    out->words |= PY_SP_CODE_HIDDEN;
  if (out->id != 0)
    atomic_fetch_add_explicit(&code_known, 1, memory_order_relaxed);
  return out->id != 0;
}

/* Claim a slot for writing: its address becomes that of `code` and its id 0.
 * Returns false if another handler has claimed it first. */
SP_HANDLER_RARE static bool slot_claim(py_sp_space *space, code_slot *slot,
                                       const PyCodeObject *code) {
  uint64_t empty = 0, id;

  if (atomic_compare_exchange_strong(&slot->address, &empty,
                                     (uint64_t)(uintptr_t)code)) {
    atomic_fetch_add_explicit(&space->count, 1, memory_order_relaxed);
    return true;
  }
  id = atomic_load(&slot->id);
  return empty == (uint64_t)(uintptr_t)code && id != 0 &&
         atomic_compare_exchange_strong(&slot->id, &id, 0);
}

typedef enum find_result { FIND_NONE, FIND_FULL, FIND_DONE } find_result;

/* Copy an unknown code object and write `slot`, which is free or has the
 * address of the code object. If another handler has claimed the slot first,
 * only this sample uses the copy. Returns FIND_FULL if the space is full or if
 * three quarters of its slots are used. The second condition does not count at
 * the `last` attempt, when there is no other space to use. */
SP_HANDLER_RARE static find_result
code_add(py_sp_space *space, py_sp_probe *probe, const PyCodeObject *code,
         code_slot *slot, bool last, py_sp_code *out) {
  if (!last && atomic_load_explicit(&space->count, memory_order_relaxed) >=
                   slots_of(space) / 4 * 3)
    return FIND_FULL;
  if (!code_copy(space, probe, code, out))
    return FIND_FULL;
  atomic_fetch_add_explicit(&code_writers, 1, memory_order_relaxed);
  if (slot_claim(space, slot, code))
    slot_write(slot, probe, code, out);
  atomic_fetch_sub_explicit(&code_writers, 1, memory_order_relaxed);
  return FIND_DONE;
}

/* Returns whether a live code object is at `code`. In a freed object, the word
 * of the reference count is 0 or contains an address (Objects/obmalloc.c,
 * pymalloc_free()), or the type has been overwritten. A live object has a count
 * in the lower 32 bits, and in an immortal one, from 3.14 on, flags in the
 * upper 16 bits (Include/refcount.h). */
SP_HANDLER_CODE static bool code_proven(py_sp_probe *probe,
                                        const PyCodeObject *code) {
  uint64_t references;

  if (!py_sp_probe_readable(probe, code, sizeof *code) ||
      Py_TYPE(code) != code_type)
    return false;
  memcpy(&references, (const char *)code + offsetof(PyObject, ob_refcnt),
         sizeof references);
  return (uint32_t)references != 0 && (uint16_t)(references >> 32) == 0;
}

SP_HANDLER_CODE static find_result
space_find(py_sp_space *space, py_sp_probe *probe, const PyCodeObject *code,
           bool sure, bool last, py_sp_code *out) {
  uint32_t step;

  for (step = 0; step < CODE_REACH; step++) {
    code_slot *slot = slot_at(space, code, step);
    uint64_t address =
        atomic_load_explicit(&slot->address, memory_order_acquire);

    if (address != 0 && address != (uint64_t)(uintptr_t)code)
      continue;
    if ((address == 0 || !sure) && !code_proven(probe, code))
      return FIND_NONE;
    if (address != 0 && slot_read(slot, code, out))
      return FIND_DONE;
    return code_proven(probe, code)
               ? code_add(space, probe, code, slot, last, out)
               : FIND_NONE;
  }
  return FIND_FULL;
}

SP_HANDLER_CODE bool py_sp_code_find(py_sp_probe *probe,
                                     const PyCodeObject *code, bool sure,
                                     py_sp_code *out) {
  py_sp_space *space = py_sp_space_current(), *next;
  find_result result = FIND_NONE;

  if (space)
    result = space_find(space, probe, code, sure, false, out);
  if (result == FIND_FULL) {
    next = py_sp_space_switch(space);
    result = space_find(next ? next : space, probe, code, sure, !next, out);
  }
  if (result == FIND_FULL) {
    atomic_fetch_add_explicit(&code_overflowed, 1, memory_order_relaxed);
    *out = (py_sp_code){.id = PY_SP_RECORD_OVERFLOW, .units = UINT32_MAX};
  }
  return result != FIND_NONE;
}

SP_HANDLER_CODE void py_sp_code_prefetch(const PyCodeObject *code) {
  const py_sp_space *space = py_sp_space_current();

  if (space)
    __builtin_prefetch(slot_at(space, code, 0));
  layout_code_prefetch(code);
}

SP_HANDLER_CODE void py_sp_code_prefetch_texts(const PyCodeObject *code) {
  const py_sp_space *space;
  const code_slot *slot;

  if (sizeof(py_sp_code_fields) == 0)
    return;
  space = py_sp_space_current();
  slot = space ? slot_at(space, code, 0) : NULL;
  if (slot && atomic_load_explicit(&slot->address, memory_order_acquire) ==
                  (uint64_t)(uintptr_t)code)
    layout_code_fields_prefetch(&slot->fields);
}

int py_sp_code_open(void) {
  return py_sp_space_open(PY_SP_RECORD_HEAD_BYTES +
                          (uint32_t)(CODE_SLOTS * sizeof(code_slot)));
}

void py_sp_code_after_fork(void) {
  const py_sp_space *space = py_sp_space_current();
  code_slot *slots;
  uint32_t i;

  py_sp_space_after_fork();
  if (!space || atomic_exchange(&code_writers, 0) == 0)
    return;
  slots = (code_slot *)(space->base + PY_SP_RECORD_HEAD_BYTES);
  for (i = 0; i < slots_of(space); i++) {
    uint64_t address = atomic_load(&slots[i].address);

    if (address == 0 || atomic_load(&slots[i].id) != 0)
      continue;
    memset(&slots[i], 0, sizeof slots[i]);
    atomic_store(&slots[i].address, address);
    atomic_store(&slots[i].id, CODE_ID_NONE);
  }
}

py_sp_code_counts py_sp_code_count(void) {
  const py_sp_space *space = py_sp_space_current();

  return (py_sp_code_counts){
      .known = atomic_load(&code_known),
      .bytes = space ? atomic_load(&space->used) : 0,
      .overflowed = atomic_load(&code_overflowed),
  };
}
