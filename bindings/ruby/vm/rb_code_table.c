#include "rb_code_table.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "rb_vm_layout.h"
#include "util/base.h"

/* Large applications have about 5,000 pairs within two sweeps. */
#define CODE_MAX 16384u

/* Slots of the index, powers of two. At most half of them are used. Fewer slots
 * mean fewer pages that are not in a CPU cache. */
#define CODE_PLACES_FIRST 4096u
#define CODE_PLACES_MAX   (2 * CODE_MAX)

/* Maximum length of a search. With half of the slots used, about one search in
 * 10^5 is that long. */
#define CODE_PROBES 64u

/* A code number has the generation of a position in its upper bits and position
 * + 2 in its lower bits; 0 and 1 are reserved. */
#define CODE_POSITION_BITS 16
#define CODE_POSITION_BIAS 2u

/* A pair that no handler has seen during this number of sweeps is removed. So
 * code that is rarely seen keeps its number, and the core keeps its name. If
 * there are more than CODE_KEPT_MAX pairs, a pair is removed if it was not seen
 * since the last sweep, so that code which the program continuously creates and
 * drops does not accumulate. */
#define CODE_SWEEPS_KEPT 15u
#define CODE_KEPT_MAX    (CODE_PLACES_FIRST / 2)

/* Number of yields to handlers before a sweep gives up. */
#define CODE_SWEEP_YIELDS 200

#define CODE_NOWHERE UINT32_MAX

typedef struct code_pair {
  _Atomic VALUE iseq;
  _Atomic VALUE method;
  _Atomic uint32_t seen; /* epoch; 0 if free or being written */
  uint32_t generation;
} code_pair;

/* Process-wide, because handlers use them. Pairs are stored in the order in
 * which they were first seen, mostly the order of frames in a stack. So they
 * share pages, unlike slots of a hash table. */
static code_pair table_pairs[CODE_MAX];
static _Atomic uint16_t table_index[CODE_PLACES_MAX]; /* position + 1, or 0 */
static uint16_t table_order[CODE_MAX]; /* positions in the order of their use */
SP_HANDLER_DATA static struct {
  /* Written by handlers. */
  _Atomic uint32_t taken; /* used positions in `table_order` */
  _Atomic uint32_t inside;
  _Atomic uint64_t refused;
  /* Written with the GVL and read by handlers. The number of slots and the
   * order change only while the table is closed. */
  _Atomic bool closed;
  _Atomic uint32_t epoch;
  uint32_t places;
  /* Guarded by the GVL. Positions [0, promoted) of the order belong to
   * `promoted_holder`, the others to the holder `fresh`. */
  uint32_t settled;
  VALUE settled_holder;
} table = {.epoch = 1, .places = CODE_PLACES_FIRST};

static uint32_t pairs_taken(void) {
  uint32_t taken = atomic_load_explicit(&table.taken, memory_order_acquire);

  return taken < CODE_MAX ? taken : CODE_MAX;
}

/* A pair that a handler is about to write is not marked: its frame is still on
 * a VM stack. */
static void pairs_mark(uint32_t from, uint32_t to) {
  uint32_t i;

  for (i = from; i < to; i++) {
    const code_pair *pair = &table_pairs[table_order[i]];
    VALUE iseq = atomic_load(&pair->iseq);
    VALUE method = atomic_load(&pair->method);

    /* rb_gc_mark() pins the object, as its address is the key. */
    if (iseq)
      rb_gc_mark(iseq);
    if (method)
      rb_gc_mark(method);
  }
}

static void fresh_mark(void *data) {
  (void)data;
  pairs_mark(table.settled, pairs_taken());
}

static void settled_mark(void *data) {
  (void)data;
  pairs_mark(0, table.settled);
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

SP_HANDLER_CODE uint32_t rb_sp_code_place(VALUE iseq, VALUE object) {
  uint64_t hash = (iseq >> 3) * UINT64_C(0x9e3779b97f4a7c15);
  uint32_t place;

  hash = (hash ^ hash >> 32 ^ object >> 3) * UINT64_C(0xff51afd7ed558ccd);
  place = (uint32_t)(hash >> 40) & (table.places - 1);
  __builtin_prefetch(&table_index[place]);
  return place;
}

SP_HANDLER_CODE void rb_sp_code_fetch(uint32_t place) {
  uint32_t taken =
      atomic_load_explicit(&table_index[place], memory_order_relaxed);

  __builtin_prefetch(&table_pairs[taken ? taken - 1 : 0]);
}

SP_HANDLER_CODE static bool pair_holds(const code_pair *pair, VALUE iseq,
                                       VALUE method) {
  return atomic_load_explicit(&pair->iseq, memory_order_relaxed) == iseq &&
         atomic_load_explicit(&pair->method, memory_order_relaxed) == method;
}

/* The position of a pair, or CODE_NOWHERE. *room: the free slot that ended the
 * search, or CODE_NOWHERE. */
SP_HANDLER_CODE static uint32_t pair_find(uint32_t place, VALUE iseq,
                                          VALUE method, uint32_t *room) {
  uint32_t probe;

  *room = CODE_NOWHERE;
  for (probe = 0; probe < CODE_PROBES; probe++) {
    uint32_t at = (place + probe) & (table.places - 1);
    uint32_t taken =
        atomic_load_explicit(&table_index[at], memory_order_acquire);

    if (taken == 0) {
      *room = at;
      break;
    }
    if (pair_holds(&table_pairs[taken - 1], iseq, method))
      return taken - 1;
  }
  return CODE_NOWHERE;
}

/* The number of the pair at a position. Marks the pair as seen in this epoch.
 */
SP_HANDLER_CODE static uint64_t pair_number(uint32_t position) {
  uint32_t epoch = atomic_load_explicit(&table.epoch, memory_order_relaxed);
  code_pair *pair = &table_pairs[position];

  if (atomic_load_explicit(&pair->seen, memory_order_relaxed) != epoch)
    atomic_store_explicit(&pair->seen, epoch, memory_order_relaxed);
  return (uint64_t)pair->generation << CODE_POSITION_BITS |
         (position + CODE_POSITION_BIAS);
}

/* An invalid pair must never be marked: a frame that is half written may have
 * any words. The walker has already checked the method entry. */
SP_HANDLER_RARE static bool pair_valid(VALUE iseq, VALUE method) {
  return (iseq || method) &&
         (!iseq || (rb_sp_object_possible(iseq) &&
                    rb_sp_imemo_is(iseq, RB_SP_IMEMO_ISEQ)));
}

/* Add a position to the index, in the first free slot from `place` on. */
SP_HANDLER_RARE static bool index_add(uint32_t place, uint32_t position) {
  uint32_t probe;

  for (probe = 0; probe < CODE_PROBES; probe++) {
    uint32_t at = (place + probe) & (table.places - 1);
    uint16_t free_place = 0;

    if (atomic_compare_exchange_strong(&table_index[at], &free_place,
                                       (uint16_t)(position + 1)))
      return true;
  }
  return false;
}

/* If another handler adds the same pair at the same time, the pair has two
 * numbers. Both have the same name. */
SP_HANDLER_RARE static uint64_t pair_add(uint32_t room, VALUE iseq,
                                         VALUE method) {
  uint32_t position, turn;
  code_pair *pair;

  if (atomic_load_explicit(&table.taken, memory_order_relaxed) >= CODE_MAX)
    return RB_SP_CODE_NONE;
  turn = atomic_fetch_add_explicit(&table.taken, 1, memory_order_acq_rel);
  if (turn >= CODE_MAX)
    return RB_SP_CODE_NONE;
  position = table_order[turn];
  pair = &table_pairs[position];
  atomic_store_explicit(&pair->iseq, iseq, memory_order_relaxed);
  atomic_store_explicit(&pair->method, method, memory_order_relaxed);
  atomic_store_explicit(
      &pair->seen, atomic_load_explicit(&table.epoch, memory_order_relaxed),
      memory_order_release);
  return index_add(room, position) ? pair_number(position) : RB_SP_CODE_NONE;
}

SP_HANDLER_CODE uint64_t rb_sp_code_known(uint32_t place, VALUE iseq,
                                          VALUE object) {
  uint32_t room, position = pair_find(place, iseq, object, &room);

  return position == CODE_NOWHERE ? RB_SP_CODE_NONE : pair_number(position);
}

SP_HANDLER_RARE uint64_t rb_sp_code_number(VALUE iseq, VALUE method) {
  uint32_t place = rb_sp_code_place(iseq, method), room;
  uint32_t position = pair_find(place, iseq, method, &room);
  uint64_t number = RB_SP_CODE_NONE;

  if (position != CODE_NOWHERE)
    return pair_number(position);
  if (!pair_valid(iseq, method))
    return RB_SP_CODE_NONE;
  if (room != CODE_NOWHERE)
    number = pair_add(room, iseq, method);
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

/* Rebuild the index, at most half full. Called while the table is closed. */
static void index_build(void) {
  uint32_t taken = pairs_taken(), i;

  while (2 * taken > table.places)
    table.places *= 2;
  memset(table_index, 0, sizeof table_index);
  for (i = 0; i < taken; i++) {
    const code_pair *pair = &table_pairs[table_order[i]];

    index_add(rb_sp_code_place(pair->iseq, pair->method), table_order[i]);
  }
}

static void fresh_settle(void) {
  uint32_t taken = pairs_taken();

  for (; table.settled < taken; table.settled++) {
    const code_pair *pair = &table_pairs[table_order[table.settled]];

    if (atomic_load_explicit(&pair->seen, memory_order_acquire) == 0)
      return;
    if (pair->iseq)
      RB_OBJ_WRITTEN(table.settled_holder, Qundef, pair->iseq);
    if (pair->method)
      RB_OBJ_WRITTEN(table.settled_holder, Qundef, pair->method);
  }
}

void rb_sp_code_settle(void) {
  fresh_settle();
  if (2 * pairs_taken() <= table.places || !table_close())
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

/* Move the pairs that stay to the front of the order, and remove the others. */
static void pairs_sweep(uint32_t epoch) {
  const uint32_t taken = pairs_taken();
  const uint32_t sweeps = taken > CODE_KEPT_MAX ? 1 : CODE_SWEEPS_KEPT;
  uint32_t kept = 0, i;

  for (i = 0; i < taken; i++) {
    uint16_t position = table_order[i];

    if (epoch - table_pairs[position].seen >= sweeps) {
      pair_clear(&table_pairs[position]);
      continue;
    }
    table_order[i] = table_order[kept];
    table_order[kept++] = position;
  }
  table.settled = kept;
  table.taken = kept;
}

bool rb_sp_code_sweep(void) {
  uint32_t epoch = atomic_load(&table.epoch);

  if (!table_close())
    return false;
  fresh_settle();
  pairs_sweep(epoch);
  index_build();
  atomic_store(&table.epoch, epoch + 1);
  table_open();
  return true;
}

uint32_t rb_sp_code_count(void) {
  return pairs_taken();
}

uint64_t rb_sp_code_refused(void) {
  return atomic_load(&table.refused);
}

void rb_sp_code_after_fork(void) {
  atomic_store(&table.inside, 0);
  atomic_store(&table.closed, false);
}
