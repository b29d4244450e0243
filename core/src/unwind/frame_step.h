/* From a frame to its caller's, by a rule and the copied stack alone. */
#ifndef SP_FRAME_STEP_H
#define SP_FRAME_STEP_H

#include "unwind/dwarf/unwind_rows.h"
#include "unwinder.h"

/* The frame the walk is at. */
typedef struct sp_frame_state {
  const sp_stack_slice *slice;
  sp_registers registers; /* sp, pc; fp where fp_known; all where `all` is */
  bool all;               /* interrupted here: every register is known */
  bool fp_known;
} sp_frame_state;

typedef enum sp_step {
  SP_STEP_CALLER,      /* the state is the caller's now */
  SP_STEP_COMPLETE,    /* there is no caller */
  SP_STEP_CUT,         /* the slice does not hold what is needed */
  SP_STEP_NO_INFO,     /* the rule says nothing, or what cannot be */
  SP_STEP_UNSUPPORTED, /* more than a rule can say */
  SP_STEP_BELOW,       /* never returned: a slot below sp and the slice */
} sp_step;

void sp_frame_state_init(sp_frame_state *state, const sp_stack_slice *slice);

/* Go to the caller; on any other result than SP_STEP_CALLER the state is
 * undefined. */
sp_step sp_frame_step(sp_frame_state *state, const sp_unwind_rule *rule);

/* What code without unwind information shows by itself: `code` are the
 * `size` bytes from a function's start on, `inside` the place in them that the
 * frame is at, `exact` whether it was interrupted there rather than calls from
 * there. Fills the rule where the function keeps a frame pointer, or where
 * that place is the kernel's return from a signal handler; false: it does
 * not show. */
bool sp_frame_rule_guess(const uint8_t *code, size_t size, uint64_t inside,
                         bool exact, sp_unwind_rule *out);

/* The same of a function that saves registers by moves to its frame, for a
 * frame that was interrupted at `inside`, where the byte is `next`. What the
 * function does to its stack further on is not looked at: the caller is to be
 * checked by sp_frame_code_calls(). */
bool sp_frame_rule_saves(const uint8_t *code, size_t size, uint64_t inside,
                         uint8_t next, sp_unwind_rule *out);

#define SP_FRAME_CALL_BYTES 7

/* Do the bytes before a return address end in a call? */
bool sp_frame_code_calls(const uint8_t before[SP_FRAME_CALL_BYTES]);

#endif
