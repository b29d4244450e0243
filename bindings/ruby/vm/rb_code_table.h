/* A table of the Ruby code that samples have seen. A pair of an iseq
 * (instruction sequence) and a method entry identifies the code of a frame. The
 * table gives a number to each pair, so that the core never stores an address
 * that the VM may reuse.
 *
 * Protocol: signal handlers of any thread look up numbers and add pairs without
 * a lock. Everything else needs the GVL: the resolution of names, sweeps, and
 * the marking of the pairs' objects by two Ruby objects, the holders. A sweep
 * closes the table to handlers, waits until no handler uses the table, and
 * removes pairs that were not seen recently. Samples that are taken while the
 * table is closed (about 100 us) have no Ruby frames. If the table has no room
 * for a pair, a sample has only the frames inside that pair's frame. The core
 * counts both cases as cut walks.
 *
 * The holders keep the objects of all pairs alive and pinned. A new pair
 * belongs to the holder `fresh`, which has no write barrier, so that every
 * garbage collection marks its pairs. When a handler adds a pair, the pair's
 * frame is on a VM stack, so its objects live at least until the next marking.
 * rb_sp_code_promote() moves pairs to the holder `promoted`, which becomes an
 * old object, so that minor collections do not scan its pairs. */
#ifndef RB_CODE_TABLE_H
#define RB_CODE_TABLE_H

#include <ruby.h>
#include <stdbool.h>
#include <stdint.h>

/* Reserved code numbers. RB_SP_CODE_NONE means that there is no code. */
#define RB_SP_CODE_NONE UINT64_C(0)
#define RB_SP_CODE_GC   UINT64_C(1) /* the frame "(garbage collection)" */

typedef struct rb_sp_code {
  VALUE iseq;   /* 0 for a C method */
  VALUE method; /* method entry; 0 if the code has none or it was not found */
} rb_sp_code;

/* A cache with the pairs of one thread's last samples. Its index is the
 * distance of a frame from the outermost frame. Outer frames rarely change, so
 * their numbers are found in a few CPU cache lines of one page. Only the
 * handler on that thread uses the cache. */
#define RB_SP_CODE_SLOTS 128u

typedef struct rb_sp_code_slot {
  VALUE iseq;
  VALUE object;    /* a method entry, or 0 */
  uint64_t number; /* RB_SP_CODE_NONE if the slot is free */
} rb_sp_code_slot;

typedef struct rb_sp_code_cache {
  uint32_t epoch; /* epoch of the table to which the numbers belong */
  rb_sp_code_slot slots[RB_SP_CODE_SLOTS];
} rb_sp_code_cache;

/* Create the two holders, the objects that mark the pairs. Called once, when
 * the extension loads. */
void rb_sp_code_table_init(void);

/* A handler calls these functions before and after it uses the table.
 * rb_sp_code_table_enter() returns false if the table is closed; the handler
 * must then not use it. */
bool rb_sp_code_table_enter(void);
void rb_sp_code_table_leave(void);

/* Clear the cache if it belongs to an older epoch. A handler calls this between
 * rb_sp_code_table_enter() and rb_sp_code_table_leave(). */
void rb_sp_code_cache_begin(rb_sp_code_cache *cache);

/* rb_sp_code_slot_find() returns the index slot where the search for a pair
 * begins, and prefetches that slot. rb_sp_code_fetch() prefetches the pair in
 * that slot. The handler calls both for several frames before it looks up the
 * first pair, because the table is rarely in a CPU cache when a sample begins.
 * It calls them between rb_sp_code_table_enter() and rb_sp_code_table_leave().
 */
uint32_t rb_sp_code_slot_find(VALUE iseq, VALUE object);
void rb_sp_code_fetch(uint32_t slot);

/* Search for a pair from its index slot on. Returns its number, or
 * RB_SP_CODE_NONE if it is not in the table. `object` may be any word; a word
 * that is not a method entry is not found. A handler calls this between
 * rb_sp_code_table_enter() and rb_sp_code_table_leave(). */
uint64_t rb_sp_code_known(uint32_t slot, VALUE iseq, VALUE object);

/* Return the number of a pair, and add the pair if it is missing. Returns
 * RB_SP_CODE_NONE if the pair is not code or the table is full. A handler calls
 * this between rb_sp_code_table_enter() and rb_sp_code_table_leave(). */
uint64_t rb_sp_code_number(VALUE iseq, VALUE method);

/* Find the pair of a number. Returns false if the pair was removed. */
bool rb_sp_code_find(uint64_t number, rb_sp_code *out);

/* Move new pairs to the holder `promoted`, and enlarge the index if more than
 * half of its slots are used. */
void rb_sp_code_promote(void);

/* Move new pairs to the holder `promoted`. Then remove the pairs that no
 * handler has seen for some sweeps, or since the last sweep if the table has
 * many pairs. Returns false, and has changed nothing, if handlers used the
 * table for too long. */
bool rb_sp_code_sweep(void);

/* Return the number of pairs in the table, and the number of pairs that
 * handlers could not add. */
uint32_t rb_sp_code_count(void);
uint64_t rb_sp_code_refused(void);

/* Set the number of handlers that use the table to 0, and open the table.
 * Called in a forked child, where no handler runs. */
void rb_sp_code_after_fork(void);

#endif
