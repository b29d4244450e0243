#include "rb_code_table.h"

#include <sched.h>
#include <stdatomic.h>

#include "rb_vm_layout.h"

/* A power of two. At most half are used: large applications show some 5,000
 * pairs within two sweeps. */
#define CODE_SLOTS 32768u
#define CODE_MAX   (CODE_SLOTS / 2)

/* How far a lookup goes. With half of the slots in use, a run is that long once
 * in some 10^5 lookups. */
#define CODE_PROBES 64u

/* A number: generation of the slot above, slot + 2 below (0 and 1 are
 * reserved). */
#define CODE_SLOT_BITS 16
#define CODE_SLOT_BIAS 2u

/* How often a sweep yields to handlers before it gives up. */
#define CODE_SWEEP_YIELDS 200

/* No slot. */
#define CODE_NOWHERE CODE_SLOTS

enum { SLOT_FREE, SLOT_CLAIMED, SLOT_USED, SLOT_SWEPT };

typedef struct code_slot {
  _Alignas(32) _Atomic VALUE iseq;
  _Atomic VALUE method;
  _Atomic uint32_t state; /* SLOT_*; swept: free, but runs go on behind it */
  _Atomic uint32_t seen;  /* epoch */
  uint32_t generation;
} code_slot;

/* Process-wide, because handlers use it. */
static struct {
  /* Written by handlers. */
  code_slot slots[CODE_SLOTS];
  _Atomic uint32_t order[CODE_MAX]; /* slots as they were taken */
  _Atomic uint32_t taken;
  _Atomic uint32_t inside;
  _Atomic uint64_t refused;
  /* Written with the GVL, read by handlers. */
  _Atomic bool closed;
  _Atomic uint32_t epoch;
  /* Guarded by the GVL. Of `order`, [0, settled) belong to that holder, the
   * rest to `fresh`. */
  uint32_t settled;
  VALUE settled_holder;
} table;

static uint32_t positions_taken(void) {
  uint32_t taken = atomic_load_explicit(&table.taken, memory_order_acquire);

  return taken < CODE_MAX ? taken : CODE_MAX;
}

/* The slot at a position, or NULL where a handler is about to write it: then
 * the pair's frame stands on a VM stack. */
static code_slot *position_slot(uint32_t position) {
  uint32_t index =
      atomic_load_explicit(&table.order[position], memory_order_acquire);

  return index == CODE_NOWHERE ? NULL : &table.slots[index];
}

static void positions_mark(uint32_t from, uint32_t to) {
  uint32_t i;

  for (i = from; i < to; i++) {
    const code_slot *slot = position_slot(i);
    VALUE iseq = slot ? atomic_load(&slot->iseq) : 0;
    VALUE method = slot ? atomic_load(&slot->method) : 0;

    /* rb_gc_mark() pins: the address is the key. */
    if (iseq)
      rb_gc_mark(iseq);
    if (method)
      rb_gc_mark(method);
  }
}

static void fresh_mark(void *data) {
  (void)data;
  positions_mark(table.settled, positions_taken());
}

static void settled_mark(void *data) {
  (void)data;
  positions_mark(0, table.settled);
}

static size_t holder_size(const void *data) {
  (void)data;
  return 0;
}

static const rb_data_type_t fresh_type = {
    .wrap_struct_name = "Spanprof::Native fresh code",
    .function = {.dmark = fresh_mark, .dsize = holder_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY};

static const rb_data_type_t settled_type = {
    .wrap_struct_name = "Spanprof::Native settled code",
    .function = {.dmark = settled_mark, .dsize = holder_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED};

void rb_sp_code_table_init(void) {
  VALUE fresh = TypedData_Wrap_Struct(rb_cObject, &fresh_type, &table);
  uint32_t i;

  table.settled_holder =
      TypedData_Wrap_Struct(rb_cObject, &settled_type, &table);
  rb_gc_register_mark_object(fresh);
  rb_gc_register_mark_object(table.settled_holder);
  for (i = 0; i < CODE_MAX; i++)
    atomic_store(&table.order[i], CODE_NOWHERE);
}

bool rb_sp_code_table_enter(void) {
  atomic_fetch_add_explicit(&table.inside, 1, memory_order_seq_cst);
  if (!atomic_load_explicit(&table.closed, memory_order_seq_cst))
    return true;
  rb_sp_code_table_leave();
  return false;
}

void rb_sp_code_table_leave(void) {
  atomic_fetch_sub_explicit(&table.inside, 1, memory_order_release);
}

uint32_t rb_sp_code_place(VALUE iseq, VALUE method) {
  uint64_t hash = (iseq >> 3) * UINT64_C(0x9e3779b97f4a7c15);
  uint32_t place;

  hash = (hash ^ hash >> 32 ^ method >> 3) * UINT64_C(0xff51afd7ed558ccd);
  place = (uint32_t)(hash >> 40) & (CODE_SLOTS - 1);
  __builtin_prefetch(&table.slots[place]);
  return place;
}

static uint64_t slot_number(uint32_t index) {
  return (uint64_t)table.slots[index].generation << CODE_SLOT_BITS |
         (index + CODE_SLOT_BIAS);
}

static void slot_touch(code_slot *slot) {
  uint32_t epoch = atomic_load_explicit(&table.epoch, memory_order_relaxed);

  if (atomic_load_explicit(&slot->seen, memory_order_relaxed) != epoch)
    atomic_store_explicit(&slot->seen, epoch, memory_order_relaxed);
}

static bool slot_holds(const code_slot *slot, VALUE iseq, VALUE method) {
  return atomic_load_explicit(&slot->iseq, memory_order_relaxed) == iseq &&
         atomic_load_explicit(&slot->method, memory_order_relaxed) == method;
}

/* A pair must never be marked that is none: a frame half written may show any
 * word. The method entry was looked at by the walker. */
static bool pair_valid(VALUE iseq, VALUE method) {
  return (iseq || method) &&
         (!iseq || (rb_sp_object_possible(iseq) &&
                    rb_sp_imemo_is(iseq, RB_SP_IMEMO_ISEQ)));
}

/* Another handler may take a slot for the same pair at the same time: then it
 * has two numbers, and both have its name. */
static bool slot_take(uint32_t index, VALUE iseq, VALUE method) {
  code_slot *slot = &table.slots[index];
  uint32_t state = atomic_load_explicit(&slot->state, memory_order_relaxed);
  uint32_t position;

  if ((state != SLOT_FREE && state != SLOT_SWEPT) ||
      atomic_load_explicit(&table.taken, memory_order_relaxed) >= CODE_MAX ||
      !atomic_compare_exchange_strong(&slot->state, &state, SLOT_CLAIMED))
    return false;
  atomic_store_explicit(&slot->iseq, iseq, memory_order_relaxed);
  atomic_store_explicit(&slot->method, method, memory_order_relaxed);
  slot_touch(slot);
  position = atomic_fetch_add_explicit(&table.taken, 1, memory_order_acq_rel);
  if (position >= CODE_MAX) {
    atomic_store_explicit(&slot->state, SLOT_SWEPT, memory_order_release);
    return false;
  }
  atomic_store_explicit(&table.order[position], index, memory_order_release);
  atomic_store_explicit(&slot->state, SLOT_USED, memory_order_release);
  return true;
}

uint64_t rb_sp_code_number(uint32_t place, VALUE iseq, VALUE method) {
  uint32_t room = CODE_NOWHERE, probe;

  for (probe = 0; probe < CODE_PROBES; probe++) {
    uint32_t index = (place + probe) & (CODE_SLOTS - 1);
    code_slot *slot = &table.slots[index];
    uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);

    if (state == SLOT_USED && slot_holds(slot, iseq, method)) {
      slot_touch(slot);
      return slot_number(index);
    }
    if (room == CODE_NOWHERE && (state == SLOT_FREE || state == SLOT_SWEPT))
      room = index;
    if (state == SLOT_FREE)
      break;
  }
  if (!pair_valid(iseq, method))
    return RB_SP_CODE_NONE;
  if (room != CODE_NOWHERE && slot_take(room, iseq, method))
    return slot_number(room);
  atomic_fetch_add_explicit(&table.refused, 1, memory_order_relaxed);
  return RB_SP_CODE_NONE;
}

bool rb_sp_code_find(uint64_t number, rb_sp_code *out) {
  uint64_t biased = number & ((UINT64_C(1) << CODE_SLOT_BITS) - 1);
  code_slot *slot;

  if (biased < CODE_SLOT_BIAS || biased - CODE_SLOT_BIAS >= CODE_SLOTS)
    return false;
  slot = &table.slots[biased - CODE_SLOT_BIAS];
  if (slot->generation != number >> CODE_SLOT_BITS)
    return false;
  out->iseq = atomic_load(&slot->iseq);
  out->method = atomic_load(&slot->method);
  return out->iseq || out->method;
}

void rb_sp_code_settle(void) {
  uint32_t taken = positions_taken();
  const code_slot *slot;

  for (; table.settled < taken; table.settled++) {
    slot = position_slot(table.settled);
    if (!slot)
      return;
    if (slot->iseq)
      RB_OBJ_WRITTEN(table.settled_holder, Qundef, slot->iseq);
    if (slot->method)
      RB_OBJ_WRITTEN(table.settled_holder, Qundef, slot->method);
  }
}

static bool table_close(void) {
  unsigned yields;

  atomic_store_explicit(&table.closed, true, memory_order_seq_cst);
  for (yields = 0; yields < CODE_SWEEP_YIELDS; yields++) {
    if (atomic_load_explicit(&table.inside, memory_order_seq_cst) == 0)
      return true;
    sched_yield();
  }
  atomic_store_explicit(&table.closed, false, memory_order_seq_cst);
  return false;
}

static void slot_clear(code_slot *slot) {
  slot->iseq = 0;
  slot->method = 0;
  slot->generation++;
  slot->state = SLOT_SWEPT;
}

/* Keep in `order` the slots that stay. */
static void order_sweep(uint32_t epoch) {
  uint32_t taken = positions_taken(), kept = 0, i;

  for (i = 0; i < taken; i++) {
    uint32_t index = table.order[i];

    table.order[i] = CODE_NOWHERE;
    if (table.slots[index].seen != epoch)
      slot_clear(&table.slots[index]);
    else
      table.order[kept++] = index;
  }
  table.settled = kept;
  table.taken = kept;
}

/* Swept slots that end a run are free. Twice around: the run that goes on from
 * the last slot to the first. */
static void runs_shorten(void) {
  bool free_behind = false;
  uint32_t i;

  for (i = 2 * CODE_SLOTS; i-- > 0;) {
    code_slot *slot = &table.slots[i & (CODE_SLOTS - 1)];

    if (slot->state == SLOT_SWEPT && free_behind)
      slot->state = SLOT_FREE;
    free_behind = slot->state == SLOT_FREE;
  }
}

bool rb_sp_code_sweep(void) {
  uint32_t epoch = atomic_load(&table.epoch);

  if (!table_close())
    return false;
  rb_sp_code_settle();
  order_sweep(epoch);
  runs_shorten();
  atomic_store(&table.epoch, epoch + 1);
  atomic_store_explicit(&table.closed, false, memory_order_seq_cst);
  return true;
}

uint32_t rb_sp_code_count(void) {
  return positions_taken();
}

uint64_t rb_sp_code_refused(void) {
  return atomic_load(&table.refused);
}

void rb_sp_code_after_fork(void) {
  atomic_store(&table.inside, 0);
  atomic_store(&table.closed, false);
}
