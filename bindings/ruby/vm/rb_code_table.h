/* The code that was seen: a number for each pair of iseq and method entry, so
 * that what the core holds never is an address that the VM may use again.
 *
 * Protocol: handlers of any thread look numbers up and add pairs, without a
 * lock. Everything else happens with the GVL: marking (by two holders, see
 * below), naming, and sweeping, which closes the table to handlers, waits for
 * those inside and removes the pairs that were not seen lately. What is lost:
 * the Ruby frames of samples taken while the table is closed (some 100 us), and
 * frames whose pair finds no room; both are counted as cut walks.
 *
 * A pair keeps its objects alive, and in their place, as long as it is in the
 * table. Until it is settled, the holder `fresh`, which has no write barrier
 * and is marked in every collection, does that: the frame that showed it stood
 * on a VM stack, so it lives at least until the next marking. A settled pair
 * belongs to `settled`, which ages like any object, so that minor collections
 * pay nothing for it. */
#ifndef RB_CODE_TABLE_H
#define RB_CODE_TABLE_H

#include <ruby.h>
#include <stdbool.h>
#include <stdint.h>

/* What code 0 and the reserved ones mean. */
#define RB_SP_CODE_NONE UINT64_C(0)
#define RB_SP_CODE_GC   UINT64_C(1) /* the garbage collector */

typedef struct rb_sp_code {
  VALUE iseq;   /* 0: a C method */
  VALUE method; /* the method entry; 0: none, or not to be had */
} rb_sp_code;

/* What one thread's last samples found, by how far out a frame is: the outer
 * frames of a stack mostly stay, and have their numbers in a few lines of one
 * page. Of that thread's handler alone. */
#define RB_SP_CODE_SLOTS 128u

typedef struct rb_sp_code_slot {
  VALUE iseq;
  VALUE object;    /* a method entry, or 0 */
  uint64_t number; /* RB_SP_CODE_NONE: free */
} rb_sp_code_slot;

typedef struct rb_sp_code_cache {
  uint32_t epoch; /* of the table: its pairs stay until the next */
  rb_sp_code_slot slots[RB_SP_CODE_SLOTS];
} rb_sp_code_cache;

/* Creates the holders. Once, when the extension loads. */
void rb_sp_code_table_init(void);

/* Handler: begin and end the use of the table; false: it is closed. */
bool rb_sp_code_table_enter(void);
void rb_sp_code_table_leave(void);

/* Handler, between enter and leave: empty a cache, if it is of an older epoch.
 */
void rb_sp_code_cache_begin(rb_sp_code_cache *cache);

/* Handler, between enter and leave: where a pair is looked for, and what
 * stands there. Asked for the pairs of several frames before the first is
 * looked up, each has the memory for the next step brought near: the table is
 * cold by the next sample, and every frame would wait for it. */
uint32_t rb_sp_code_place(VALUE iseq, VALUE object);
void rb_sp_code_fetch(uint32_t place);

/* Handler, between enter and leave: the number of a pair in the table, looked
 * for from its place, or RB_SP_CODE_NONE. `object` may be any word: what is
 * found is a method entry. */
uint64_t rb_sp_code_known(uint32_t place, VALUE iseq, VALUE object);

/* The same; a pair that is not in the table is added. RB_SP_CODE_NONE: it is no
 * code, or there is no room. */
uint64_t rb_sp_code_number(VALUE iseq, VALUE method);

/* The pair of a number; false: it was swept. */
bool rb_sp_code_find(uint64_t number, rb_sp_code *out);

/* Hand fresh pairs over to the ageing holder, and make room for more. */
void rb_sp_code_settle(void);

/* Settle, and remove the pairs that no handler has seen since the last call, or
 * where there are few, for some calls.
 * False: handlers were inside for too long; nothing was done. */
bool rb_sp_code_sweep(void);

/* Pairs in the table now, and handlers that found no room so far. */
uint32_t rb_sp_code_count(void);
uint64_t rb_sp_code_refused(void);

/* In a forked child: no handler is inside. */
void rb_sp_code_after_fork(void);

#endif
