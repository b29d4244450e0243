#include "rb_code_table.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "rb_vm_layout.h"
#include "util/base.h"

/* Maximum number of pairs of iseq and method entry. Samples of a large
 * application see about 5,000 pairs between two sweeps. */
#define CODE_MAX 16384u

/* First and maximum number of slots of the index (a hash table of pairs). Both
 * are powers of two; at most half of the slots are used. The index begins
 * small, because a search then touches fewer pages that are in no CPU cache. */
#define CODE_SLOTS_FIRST 4096u
#define CODE_SLOTS_MAX   (2 * CODE_MAX)

/* Maximum number of slots that a search reads. If half of the slots are used,
 * about one search in 10^5 is that long. */
#define CODE_PROBES 64u

/* A code number identifies a pair. Its lower bits are the pair's position in
 * `table_pairs` + 2, because 0 and 1 are reserved. Its upper bits are the
 * generation of the position, which changes when a pair is removed. */
#define CODE_POSITION_BITS 16
#define CODE_POSITION_BIAS 2u

/* A pair that no handler has seen during this number of sweeps is removed. So
 * code that is rarely seen keeps its number, and the core keeps its name. If
 * there are more than CODE_KEPT_MAX pairs, a pair is removed if it was not seen
 * since the last sweep, so that code which the program continuously creates and
 * drops does not accumulate. */
#define CODE_SWEEPS_KEPT 15u
#define CODE_KEPT_MAX    (CODE_SLOTS_FIRST / 2)

/* Number of times that a sweep yields the CPU to handlers before it gives up.
 */
#define CODE_SWEEP_YIELDS 200

#define CODE_NOWHERE UINT32_MAX

typedef struct code_pair {
  _Atomic VALUE iseq;
  _Atomic VALUE method;
  /* last epoch in which a handler saw the pair; 0 if the pair is free or being
   * written */
  _Atomic uint32_t seen;
  uint32_t generation;
} code_pair;

/* One table for the process, because handlers of all threads use it. Pairs are
 * stored in the order in which they were first seen, which is mostly the order
 * of frames in a stack. So the pairs of a stack share pages of memory; slots of
 * a hash table would not. */
static code_pair table_pairs[CODE_MAX];
/* position of a pair + 1, or 0 */
static _Atomic uint16_t table_index[CODE_SLOTS_MAX];
/* positions in the order in which they were filled; free ones at the end */
static uint16_t table_order[CODE_MAX];
SP_HANDLER_DATA static struct {
  /* Handlers write these fields. */
  _Atomic uint32_t used; /* number of used positions in `table_order` */
  _Atomic uint32_t inside;
  _Atomic uint64_t refused;
  /* Threads with the GVL write these fields, and handlers read them. The number
   * of slots and the order of positions change only while the table is closed.
   */
  _Atomic bool closed;
  _Atomic uint32_t epoch;
  uint32_t slots;
  /* Guarded by the GVL. The first `promoted` positions in `table_order` belong
   * to `promoted_holder`, the others to the holder `fresh` (see
   * rb_code_table.h). */
  uint32_t promoted;
  VALUE promoted_holder;
} table = {.epoch = 1, .slots = CODE_SLOTS_FIRST};

static uint32_t pairs_used(void) {
  uint32_t used = atomic_load_explicit(&table.used, memory_order_acquire);

  return used < CODE_MAX ? used : CODE_MAX;
}

/* A pair that a handler is just writing is not marked. Its objects live anyway,
 * because the frame that shows them is still on a VM stack. */
static void pairs_mark(uint32_t from, uint32_t to) {
  uint32_t i;

  for (i = from; i < to; i++) {
    const code_pair *pair = &table_pairs[table_order[i]];
    VALUE iseq = atomic_load(&pair->iseq);
    VALUE method = atomic_load(&pair->method);

    /* rb_gc_mark() also pins the object. That is necessary, because the
     * object's address is a part of the key. */
    if (iseq)
      rb_gc_mark(iseq);
    if (method)
      rb_gc_mark(method);
  }
}

static void fresh_mark(void *data) {
  (void)data;
  pairs_mark(table.promoted, pairs_used());
}

static void promoted_mark(void *data) {
  (void)data;
  pairs_mark(0, table.promoted);
}

static size_t holder_size(const void *data) {
  (void)data;
  return 0;
}

static const rb_data_type_t fresh_type = {
    .wrap_struct_name = "Spanprof::Native fresh code",
    .function = {.dmark = fresh_mark, .dsize = holder_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY};

static const rb_data_type_t promoted_type = {
    .wrap_struct_name = "Spanprof::Native promoted code",
    .function = {.dmark = promoted_mark, .dsize = holder_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED};

void rb_sp_code_table_init(void) {
  VALUE fresh = TypedData_Wrap_Struct(rb_cObject, &fresh_type, &table);
  uint32_t i;

  table.promoted_holder =
      TypedData_Wrap_Struct(rb_cObject, &promoted_type, &table);
  rb_gc_register_mark_object(fresh);
  rb_gc_register_mark_object(table.promoted_holder);
  for (i = 0; i < CODE_MAX; i++)
    table_order[i] = (uint16_t)i;
}

SP_HANDLER_CODE bool rb_sp_code_table_enter(void) {
  atomic_fetch_add_explicit(&table.inside, 1, memory_order_seq_cst);
  if (!atomic_load_explicit(&table.closed, memory_order_seq_cst))
    return true;
  rb_sp_code_table_leave();
  return false;
}

SP_HANDLER_CODE void rb_sp_code_table_leave(void) {
  atomic_fetch_sub_explicit(&table.inside, 1, memory_order_release);
}

SP_HANDLER_RARE static void cache_empty(rb_sp_code_cache *cache,
                                        uint32_t epoch) {
  memset(cache->slots, 0, sizeof cache->slots);
  cache->epoch = epoch;
}

SP_HANDLER_CODE void rb_sp_code_cache_begin(rb_sp_code_cache *cache) {
  uint32_t epoch = atomic_load_explicit(&table.epoch, memory_order_relaxed);

  if (cache->epoch != epoch)
    cache_empty(cache, epoch);
}

SP_HANDLER_CODE uint32_t rb_sp_code_slot_find(VALUE iseq, VALUE object) {
  uint64_t hash = (iseq >> 3) * UINT64_C(0x9e3779b97f4a7c15);
  uint32_t slot;

  hash = (hash ^ hash >> 32 ^ object >> 3) * UINT64_C(0xff51afd7ed558ccd);
  slot = (uint32_t)(hash >> 40) & (table.slots - 1);
  __builtin_prefetch(&table_index[slot]);
  return slot;
}

SP_HANDLER_CODE void rb_sp_code_fetch(uint32_t slot) {
  uint32_t used =
      atomic_load_explicit(&table_index[slot], memory_order_relaxed);

  __builtin_prefetch(&table_pairs[used ? used - 1 : 0]);
}

SP_HANDLER_CODE static bool pair_is(const code_pair *pair, VALUE iseq,
                                    VALUE method) {
  return atomic_load_explicit(&pair->iseq, memory_order_relaxed) == iseq &&
         atomic_load_explicit(&pair->method, memory_order_relaxed) == method;
}

/* Search for a pair from `slot` on. Returns its position, or CODE_NOWHERE if
 * the pair is missing. *free_slot is then the free slot that ended the search,
 * or CODE_NOWHERE if there was none. */
SP_HANDLER_CODE static uint32_t pair_find(uint32_t slot, VALUE iseq,
                                          VALUE method, uint32_t *free_slot) {
  uint32_t probe;

  *free_slot = CODE_NOWHERE;
  for (probe = 0; probe < CODE_PROBES; probe++) {
    uint32_t at = (slot + probe) & (table.slots - 1);
    uint32_t used =
        atomic_load_explicit(&table_index[at], memory_order_acquire);

    if (used == 0) {
      *free_slot = at;
      break;
    }
    if (pair_is(&table_pairs[used - 1], iseq, method))
      return used - 1;
  }
  return CODE_NOWHERE;
}

/* Returns the code number of the pair at a position. Records that the pair was
 * seen in this epoch. */
SP_HANDLER_CODE static uint64_t pair_number(uint32_t position) {
  uint32_t epoch = atomic_load_explicit(&table.epoch, memory_order_relaxed);
  code_pair *pair = &table_pairs[position];

  if (atomic_load_explicit(&pair->seen, memory_order_relaxed) != epoch)
    atomic_store_explicit(&pair->seen, epoch, memory_order_relaxed);
  return (uint64_t)pair->generation << CODE_POSITION_BITS |
         (position + CODE_POSITION_BIAS);
}

/* Returns whether `iseq`, a word of a frame, is the address of an iseq. A frame
 * that is half written may contain any words, and the garbage collector must
 * never get such a word. The walker has already checked the method entry. */
SP_HANDLER_RARE static bool pair_valid(VALUE iseq, VALUE method) {
  return (iseq || method) &&
         (!iseq || (rb_sp_object_possible(iseq) &&
                    rb_sp_imemo_is(iseq, RB_SP_IMEMO_ISEQ)));
}

/* Add a position to the index, in the first free slot from `slot` on. */
SP_HANDLER_RARE static bool index_add(uint32_t slot, uint32_t position) {
  uint32_t probe;

  for (probe = 0; probe < CODE_PROBES; probe++) {
    uint32_t at = (slot + probe) & (table.slots - 1);
    uint16_t unused = 0;

    if (atomic_compare_exchange_strong(&table_index[at], &unused,
                                       (uint16_t)(position + 1)))
      return true;
  }
  return false;
}

/* Add a pair. Returns its code number or RB_SP_CODE_NONE. If another handler
 * adds the same pair at the same time, the pair has two code numbers, and both
 * get the same name. */
SP_HANDLER_RARE static uint64_t pair_add(uint32_t free_slot, VALUE iseq,
                                         VALUE method) {
  uint32_t position, order;
  code_pair *pair;

  if (atomic_load_explicit(&table.used, memory_order_relaxed) >= CODE_MAX)
    return RB_SP_CODE_NONE;
  order = atomic_fetch_add_explicit(&table.used, 1, memory_order_acq_rel);
  if (order >= CODE_MAX)
    return RB_SP_CODE_NONE;
  position = table_order[order];
  pair = &table_pairs[position];
  atomic_store_explicit(&pair->iseq, iseq, memory_order_relaxed);
  atomic_store_explicit(&pair->method, method, memory_order_relaxed);
  atomic_store_explicit(
      &pair->seen, atomic_load_explicit(&table.epoch, memory_order_relaxed),
      memory_order_release);
  return index_add(free_slot, position) ? pair_number(position)
                                        : RB_SP_CODE_NONE;
}

SP_HANDLER_CODE uint64_t rb_sp_code_known(uint32_t slot, VALUE iseq,
                                          VALUE object) {
  uint32_t free_slot, position = pair_find(slot, iseq, object, &free_slot);

  return position == CODE_NOWHERE ? RB_SP_CODE_NONE : pair_number(position);
}

SP_HANDLER_RARE uint64_t rb_sp_code_number(VALUE iseq, VALUE method) {
  uint32_t slot = rb_sp_code_slot_find(iseq, method), free_slot;
  uint32_t position = pair_find(slot, iseq, method, &free_slot);
  uint64_t number = RB_SP_CODE_NONE;

  if (position != CODE_NOWHERE)
    return pair_number(position);
  if (!pair_valid(iseq, method))
    return RB_SP_CODE_NONE;
  if (free_slot != CODE_NOWHERE)
    number = pair_add(free_slot, iseq, method);
  if (number == RB_SP_CODE_NONE)
    atomic_fetch_add_explicit(&table.refused, 1, memory_order_relaxed);
  return number;
}

bool rb_sp_code_find(uint64_t number, rb_sp_code *out) {
  uint64_t biased = number & ((UINT64_C(1) << CODE_POSITION_BITS) - 1);
  code_pair *pair;

  if (biased < CODE_POSITION_BIAS || biased - CODE_POSITION_BIAS >= CODE_MAX)
    return false;
  pair = &table_pairs[biased - CODE_POSITION_BIAS];
  if (pair->generation != number >> CODE_POSITION_BITS)
    return false;
  out->iseq = atomic_load(&pair->iseq);
  out->method = atomic_load(&pair->method);
  return out->iseq || out->method;
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

static void table_open(void) {
  atomic_store_explicit(&table.closed, false, memory_order_seq_cst);
}

/* Rebuild the index. Doubles the number of slots until at most half of them are
 * used. Called while the table is closed. */
static void index_build(void) {
  uint32_t used = pairs_used(), i;

  while (2 * used > table.slots)
    table.slots *= 2;
  memset(table_index, 0, sizeof table_index);
  for (i = 0; i < used; i++) {
    const code_pair *pair = &table_pairs[table_order[i]];

    index_add(rb_sp_code_slot_find(pair->iseq, pair->method), table_order[i]);
  }
}

static void fresh_promote(void) {
  uint32_t used = pairs_used();

  for (; table.promoted < used; table.promoted++) {
    const code_pair *pair = &table_pairs[table_order[table.promoted]];

    if (atomic_load_explicit(&pair->seen, memory_order_acquire) == 0)
      return;
    if (pair->iseq)
      RB_OBJ_WRITTEN(table.promoted_holder, Qundef, pair->iseq);
    if (pair->method)
      RB_OBJ_WRITTEN(table.promoted_holder, Qundef, pair->method);
  }
}

void rb_sp_code_promote(void) {
  fresh_promote();
  if (2 * pairs_used() <= table.slots || !table_close())
    return;
  index_build();
  table_open();
}

static void pair_clear(code_pair *pair) {
  pair->iseq = 0;
  pair->method = 0;
  pair->seen = 0;
  pair->generation++;
}

/* Remove the pairs that no handler has seen for some sweeps, and move the
 * positions of the others to the front of `table_order`. */
static void pairs_sweep(uint32_t epoch) {
  const uint32_t used = pairs_used();
  const uint32_t sweeps = used > CODE_KEPT_MAX ? 1 : CODE_SWEEPS_KEPT;
  uint32_t remaining = 0, i;

  for (i = 0; i < used; i++) {
    uint16_t position = table_order[i];

    if (epoch - table_pairs[position].seen >= sweeps) {
      pair_clear(&table_pairs[position]);
      continue;
    }
    table_order[i] = table_order[remaining];
    table_order[remaining++] = position;
  }
  table.promoted = remaining;
  table.used = remaining;
}

bool rb_sp_code_sweep(void) {
  uint32_t epoch = atomic_load(&table.epoch);

  if (!table_close())
    return false;
  fresh_promote();
  pairs_sweep(epoch);
  index_build();
  atomic_store(&table.epoch, epoch + 1);
  table_open();
  return true;
}

uint32_t rb_sp_code_count(void) {
  return pairs_used();
}

uint64_t rb_sp_code_refused(void) {
  return atomic_load(&table.refused);
}

void rb_sp_code_after_fork(void) {
  atomic_store(&table.inside, 0);
  atomic_store(&table.closed, false);
}
