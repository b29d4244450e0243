/* A table of code that samples have seen. It gives a number to each pair of
 * iseq and method entry, so that the core never stores an address that the VM
 * may reuse.
 *
 * Protocol: handlers of any thread look up numbers and add pairs without a
 * lock. Everything else needs the GVL: naming, sweeping, and marking by two
 * Ruby objects, the holders. A sweep closes the table to handlers, waits for
 * the handlers inside and removes pairs that were not seen recently. Samples
 * lose their Ruby frames while the table is closed (about 100 us), and a sample
 * loses the frames from a pair on that does not fit. Both are counted as cut
 * walks.
 *
 * A pair in the table keeps its objects alive and pinned. A new pair belongs to
 * the holder `fresh`, which has no write barrier, so that every garbage
 * collection marks its pairs. The frame that showed the pair was on a VM stack,
 * so the pair's objects live at least until the next marking.
 * rb_sp_code_promote() moves pairs to the holder `promoted`, which ages like
 * other objects, so that minor collections do not scan them. */
#ifndef RB_CODE_TABLE_H
#define RB_CODE_TABLE_H

#include <ruby.h>
#include <stdbool.h>
#include <stdint.h>

/* Reserved code numbers. RB_SP_CODE_NONE is no code. */
#define RB_SP_CODE_NONE UINT64_C(0)
#define RB_SP_CODE_GC   UINT64_C(1) /* the garbage collector */

typedef struct rb_sp_code {
  VALUE iseq;   /* 0 for a C method */
  VALUE method; /* method entry; 0 if there is none or it was not found */
} rb_sp_code;

/* The pairs of one thread's last samples, indexed by the distance of a frame
 * from the outermost one. Outer frames rarely change, so their numbers are
 * found in a few cache lines of one page. Only the handler of that thread uses
 * it. */
#define RB_SP_CODE_SLOTS 128u

typedef struct rb_sp_code_slot {
  VALUE iseq;
  VALUE object;    /* a method entry, or 0 */
  uint64_t number; /* RB_SP_CODE_NONE if the slot is free */
} rb_sp_code_slot;

typedef struct rb_sp_code_cache {
  uint32_t
      epoch; /* epoch of the table; pairs stay valid until the next epoch */
  rb_sp_code_slot slots[RB_SP_CODE_SLOTS];
} rb_sp_code_cache;

/* Create the objects that mark the pairs. Called once, when the extension
 * loads. */
void rb_sp_code_table_init(void);

/* Handler: begin and end the use of the table. Returns false if the table is
 * closed. */
bool rb_sp_code_table_enter(void);
void rb_sp_code_table_leave(void);

/* Handler, between enter and leave: clear a cache that belongs to an older
 * epoch. */
void rb_sp_code_cache_begin(rb_sp_code_cache *cache);

/* Handler, between enter and leave: the index slot where the search for a pair
 * begins, and a prefetch of the pair in that slot. Each function prefetches the
 * memory that the next step needs. The handler calls them for several frames
 * before it looks up the first one, because the table is rarely in a CPU cache
 * when a sample begins. */
uint32_t rb_sp_code_slot_find(VALUE iseq, VALUE object);
void rb_sp_code_fetch(uint32_t slot);

/* Handler, between enter and leave: search for a pair from its slot on. Returns
 * its number or RB_SP_CODE_NONE. `object` may be any word: only method entries
 * are found. */
uint64_t rb_sp_code_known(uint32_t slot, VALUE iseq, VALUE object);

/* As above, but adds a missing pair. Returns RB_SP_CODE_NONE if the pair is not
 * code or the table is full. */
uint64_t rb_sp_code_number(VALUE iseq, VALUE method);

/* Find the pair of a number. Returns false if the pair was removed. */
bool rb_sp_code_find(uint64_t number, rb_sp_code *out);

/* Move new pairs to the holder that ages, and enlarge the index if needed. */
void rb_sp_code_promote(void);

/* Move new pairs as above. Then remove the pairs that no handler has seen since
 * the last call (or since some calls, if the table has few pairs). Returns
 * false, and has done nothing, if handlers used the table for too long. */
bool rb_sp_code_sweep(void);

/* Number of pairs in the table, and number of pairs that handlers could not
 * add. */
uint32_t rb_sp_code_count(void);
uint64_t rb_sp_code_refused(void);

/* Called in a forked child, where no handler uses the table. */
void rb_sp_code_after_fork(void);

#endif
