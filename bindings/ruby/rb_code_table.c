#include "rb_code_table.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "rb_vm_layout.h"

/* Distinct code seen within two sweeps: large applications show some 5,000. */
#define CODE_MAX     32768u
#define CODE_BUCKETS (2 * CODE_MAX)

/* How far a lookup goes. With half of the buckets in use runs are that long
 * once in some 10^5 lookups. */
#define CODE_PROBES 64u

/* A number: generation of the slot above, slot + 2 below (0 and 1 are
 * reserved). */
#define CODE_SLOT_BITS 16
#define CODE_SLOT_BIAS 2u

/* How often a sweep yields to handlers before it gives up. */
#define CODE_SWEEP_YIELDS 200

typedef struct code_slot {
  _Atomic VALUE iseq;
  _Atomic VALUE method;
  _Atomic uint32_t seen; /* epoch */
  uint32_t generation;
} code_slot;

/* Process-wide, because handlers use it. */
static struct {
  /* Written by handlers. */
  _Atomic uint64_t buckets[CODE_BUCKETS]; /* hash above, slot + 1 below */
  code_slot slots[CODE_MAX];
  _Atomic uint32_t taken; /* positions of `order` */
  _Atomic uint32_t inside;
  _Atomic uint64_t refused;
  /* Written with the GVL, read by handlers. */
  _Atomic bool closed;
  _Atomic uint32_t epoch;
  /* Slots: [0, settled) belong to that holder, [settled, taken) to `fresh`, the
   * rest is free. Written with the GVL while closed. */
  uint32_t order[CODE_MAX];
  uint32_t settled;
  VALUE settled_holder;
} table;

static uint32_t positions_taken(void) {
  uint32_t taken = atomic_load_explicit(&table.taken, memory_order_acquire);

  return taken < CODE_MAX ? taken : CODE_MAX;
}

static void positions_mark(uint32_t from, uint32_t to) {
  uint32_t i;

  for (i = from; i < to; i++) {
    code_slot *slot = &table.slots[table.order[i]];
    VALUE iseq = atomic_load(&slot->iseq);
    VALUE method = atomic_load(&slot->method);

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
    table.order[i] = i;
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

static uint64_t pair_hash(VALUE iseq, VALUE method) {
  uint64_t hash = (iseq >> 3) * UINT64_C(0x9e3779b97f4a7c15);

  hash = (hash ^ hash >> 32 ^ method >> 3) * UINT64_C(0xff51afd7ed558ccd);
  return hash ^ hash >> 29;
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

/* A slot that is not in the buckets yet; CODE_MAX where there is none. */
static uint32_t slot_take(VALUE iseq, VALUE method) {
  uint32_t position, index;
  code_slot *slot;

  if (atomic_load_explicit(&table.taken, memory_order_relaxed) >= CODE_MAX)
    return CODE_MAX;
  position = atomic_fetch_add_explicit(&table.taken, 1, memory_order_acq_rel);
  if (position >= CODE_MAX)
    return CODE_MAX;
  index = table.order[position];
  slot = &table.slots[index];
  atomic_store_explicit(&slot->iseq, iseq, memory_order_relaxed);
  atomic_store_explicit(&slot->method, method, memory_order_relaxed);
  return index;
}

uint64_t rb_sp_code_number(VALUE iseq, VALUE method) {
  uint64_t hash = pair_hash(iseq, method);
  uint64_t tag = hash & ~UINT64_C(0xffffffff);
  uint32_t at = (uint32_t)hash, mine = CODE_MAX, probe;

  for (probe = 0; probe < CODE_PROBES; probe++, at++) {
    _Atomic uint64_t *bucket = &table.buckets[at & (CODE_BUCKETS - 1)];
    uint64_t held = atomic_load_explicit(bucket, memory_order_acquire);

    if (held == 0) {
      if (mine == CODE_MAX && !pair_valid(iseq, method))
        return RB_SP_CODE_NONE;
      if (mine == CODE_MAX && (mine = slot_take(iseq, method)) == CODE_MAX)
        break;
      if (atomic_compare_exchange_strong_explicit(
              bucket, &held, tag | (mine + 1), memory_order_acq_rel,
              memory_order_acquire)) {
        slot_touch(&table.slots[mine]);
        return slot_number(mine);
      }
    }
    if ((held & ~UINT64_C(0xffffffff)) == tag) {
      uint32_t index = (uint32_t)held - 1;

      if (slot_holds(&table.slots[index], iseq, method)) {
        slot_touch(&table.slots[index]);
        return slot_number(index);
      }
    }
  }
  atomic_fetch_add_explicit(&table.refused, 1, memory_order_relaxed);
  return RB_SP_CODE_NONE;
}

bool rb_sp_code_find(uint64_t number, rb_sp_code *out) {
  uint64_t biased = number & ((UINT64_C(1) << CODE_SLOT_BITS) - 1);
  code_slot *slot;

  if (biased < CODE_SLOT_BIAS)
    return false;
  slot = &table.slots[biased - CODE_SLOT_BIAS];
  if (slot->generation != number >> CODE_SLOT_BITS)
    return false;
  out->iseq = atomic_load(&slot->iseq);
  out->method = atomic_load(&slot->method);
  return out->iseq || out->method;
}

void rb_sp_code_settle(void) {
  uint32_t taken = positions_taken(), i;

  for (i = table.settled; i < taken; i++) {
    code_slot *slot = &table.slots[table.order[i]];
    VALUE iseq = atomic_load(&slot->iseq);
    VALUE method = atomic_load(&slot->method);

    table.settled = i + 1;
    if (iseq)
      RB_OBJ_WRITTEN(table.settled_holder, Qundef, iseq);
    if (method)
      RB_OBJ_WRITTEN(table.settled_holder, Qundef, method);
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

static void bucket_insert(uint32_t index) {
  const code_slot *slot = &table.slots[index];
  uint64_t hash = pair_hash(slot->iseq, slot->method);
  uint32_t at = (uint32_t)hash;

  while (atomic_load(&table.buckets[at & (CODE_BUCKETS - 1)]) != 0)
    at++;
  atomic_store(&table.buckets[at & (CODE_BUCKETS - 1)],
               (hash & ~UINT64_C(0xffffffff)) | (index + 1));
}

static bool slot_stale(const code_slot *slot, uint32_t epoch) {
  return epoch - atomic_load(&slot->seen) > 1 ||
         (slot->iseq == 0 && slot->method == 0);
}

static void slot_clear(code_slot *slot) {
  atomic_store(&slot->iseq, 0);
  atomic_store(&slot->method, 0);
  slot->generation++;
}

/* Bring the slots that stay to the front of `order`. */
static void order_partition(uint32_t taken, uint32_t epoch) {
  uint32_t kept = 0, i;

  for (i = 0; i < taken; i++) {
    uint32_t index = table.order[i];

    if (slot_stale(&table.slots[index], epoch)) {
      slot_clear(&table.slots[index]);
      continue;
    }
    table.order[i] = table.order[kept];
    table.order[kept++] = index;
    bucket_insert(index);
  }
  table.settled = kept;
  atomic_store(&table.taken, kept);
}

bool rb_sp_code_sweep(void) {
  uint32_t epoch = atomic_load(&table.epoch);

  if (!table_close())
    return false;
  rb_sp_code_settle();
  memset(table.buckets, 0, sizeof table.buckets);
  order_partition(positions_taken(), epoch);
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
