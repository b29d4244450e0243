/* Steps from a frame to its caller's frame, using only an unwind rule and the
 * copied stack. */
#ifndef SP_FRAME_STEP_H
#define SP_FRAME_STEP_H

#include "unwind/dwarf/unwind_rows.h"
#include "unwinder.h"

/* The current frame of a stack walk. */
typedef struct sp_frame_state {
  const sp_stack_slice *slice;
  /* Only sp and pc are known; also fp if `fp_known`; all registers if `all`. */
  sp_registers registers;
  /* This is the interrupted frame, so every register is known. */
  bool all;
  bool fp_known;
} sp_frame_state;

typedef enum sp_step {
  SP_STEP_CALLER,      /* `state` is now the caller's frame */
  SP_STEP_COMPLETE,    /* this is the outermost frame: there is no caller */
  SP_STEP_CUT,         /* the slice does not contain the needed data */
  SP_STEP_NO_INFO,     /* there is no unwind information, or it is invalid */
  SP_STEP_UNSUPPORTED, /* an unwind rule cannot express this frame */
  SP_STEP_BELOW,       /* internal: the saved value is below sp and the slice */
} sp_step;

void sp_frame_state_init(sp_frame_state *state, const sp_stack_slice *slice);

/* Step to the caller. If the result is not SP_STEP_CALLER, the state is
 * undefined. */
sp_step sp_frame_step(sp_frame_state *state, const sp_unwind_rule *rule);

/* Derive an unwind rule from the machine code of a function that has no unwind
 * information. `code` is the first `size` bytes of the function, `inside` is
 * the pc's offset in them. `exact` is true if the frame was interrupted there,
 * false if it is at a call. Works if the function keeps a frame pointer, or if
 * the frame is at the kernel's return from a signal handler. Otherwise returns
 * false. */
bool sp_frame_rule_guess(const uint8_t *code, size_t size, uint64_t inside,
                         bool exact, sp_unwind_rule *out);

/* Derive an unwind rule for a function that saves registers in its frame with
 * mov instructions. `code` is the first `size` bytes of the function. The frame
 * was interrupted at the offset `inside`; `next` is the code byte there. Later
 * changes of the stack pointer are not analysed, so the caller must check the
 * result with sp_frame_code_calls(). Returns false if the function has no such
 * prologue. */
bool sp_frame_rule_saves(const uint8_t *code, size_t size, uint64_t inside,
                         uint8_t next, sp_unwind_rule *out);

#define SP_FRAME_CALL_BYTES 7

/* Do the bytes before a return address end with a call instruction? */
bool sp_frame_code_calls(const uint8_t before[SP_FRAME_CALL_BYTES]);

/* Do these bytes end with a call by a pointer? Returns false for a call that
 * reads the address of a fixed function from the GOT, and if the bytes are
 * ambiguous. */
bool sp_frame_code_calls_pointer(const uint8_t before[SP_FRAME_CALL_BYTES]);

#endif
