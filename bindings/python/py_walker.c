#include "py_layout.h"

#include "py_walker.h"

#include "py_code.h"
#include "py_probe.h"
#include "util/base.h"

/* Pieces of the data stack that are known; frames further out are probed. A
 * piece is 16 KiB (Python/pystate.c, DATA_STACK_CHUNK_SIZE), some 100 frames.
 */
#define WALK_PIECES 8

/* Shims and hidden frames that may stand among `max` frames. */
#define WALK_STEPS_MAX 2048

typedef struct walk_piece {
  uintptr_t start;
  uintptr_t end;
} walk_piece;

typedef struct frame_walk {
  py_sp_probe probe;
  walk_piece pieces[WALK_PIECES]; /* innermost first */
  unsigned piece_count;
  uintptr_t edge; /* where the next frame on the data stack must end, or 0 */
  spanprof_frame *frames;
  size_t count;
  size_t max;
} frame_walk;

typedef enum walk_place {
  PLACE_NONE,
  PLACE_PROBED,
  PLACE_DATA_STACK
} walk_place;

#if PY_SP_LAYOUT_DATA_STACK

/* The used parts of the data stack. The innermost piece is always there, the
 * thread's state leads to it before and after it is; it ends at the stack's
 * top, unless the thread is just going to or from another piece. */
SP_SIGNAL_SAFE static void pieces_read(frame_walk *walk,
                                       const PyThreadState *thread) {
  const _PyStackChunk *chunk = thread->datastack_chunk;
  uintptr_t top = (uintptr_t)thread->datastack_top;

  for (; chunk && walk->piece_count < WALK_PIECES; chunk = chunk->previous) {
    walk_piece *piece = &walk->pieces[walk->piece_count];

    if (walk->piece_count > 0 &&
        (((uintptr_t)chunk & 7) != 0 ||
         !py_sp_probe_readable(&walk->probe, chunk, sizeof *chunk)))
      return;
    piece->start = (uintptr_t)&chunk->data[0];
    piece->end =
        walk->piece_count == 0 ? top : (uintptr_t)&chunk->data[chunk->top];
    if (piece->end < piece->start ||
        piece->end > (uintptr_t)chunk + chunk->size)
      piece->end = (uintptr_t)chunk + chunk->size;
    walk->piece_count++;
  }
}

#else

SP_SIGNAL_SAFE static void pieces_read(frame_walk *walk,
                                       const PyThreadState *thread) {
  (void)walk;
  (void)thread;
}

#endif

SP_SIGNAL_SAFE static bool frame_on_data_stack(const frame_walk *walk,
                                               const py_sp_pyframe *frame) {
  unsigned i;

  for (i = 0; i < walk->piece_count; i++)
    if ((uintptr_t)frame >= walk->pieces[i].start &&
        (uintptr_t)(frame + 1) <= walk->pieces[i].end)
      return true;
  return false;
}

SP_SIGNAL_SAFE static walk_place frame_place(frame_walk *walk,
                                             const py_sp_pyframe *frame) {
  if (((uintptr_t)frame & 7) != 0)
    return PLACE_NONE;
  if (frame_on_data_stack(walk, frame))
    return PLACE_DATA_STACK;
#if !PY_SP_LAYOUT_DATA_STACK
  /* Reached by a reference that another frame holds. */
  if (walk->count > 0)
    return PLACE_PROBED;
#endif
  return py_sp_probe_readable(&walk->probe, frame, sizeof *frame) ? PLACE_PROBED
                                                                  : PLACE_NONE;
}

/* Whether a frame on the data stack ends where the one that it called begins;
 * frames lie there without gaps, in the order of calls. At the other end of a
 * piece nothing is known. */
SP_SIGNAL_SAFE static bool
frame_fits(frame_walk *walk, const py_sp_pyframe *frame, uint32_t words) {
  uintptr_t start = (uintptr_t)frame, edge = walk->edge;
  unsigned i;

  walk->edge = start;
  if (edge == 0 || start + words * sizeof(void *) == edge)
    return true;
  for (i = 0; i < walk->piece_count; i++)
    if (start >= walk->pieces[i].start && start < walk->pieces[i].end)
      return edge < walk->pieces[i].start || edge > walk->pieces[i].end;
  return false;
}

SP_SIGNAL_SAFE static void entry_mark(frame_walk *walk) {
  if (walk->count > 0)
    walk->frames[walk->count - 1].flags |= SPANPROF_FRAME_ENTRY;
}

/* Take one frame; false: it cannot be believed. */
SP_SIGNAL_SAFE static bool
frame_take(frame_walk *walk, const py_sp_pyframe *frame, walk_place place) {
  const PyCodeObject *code = layout_frame_code(frame);
  /* 3.10: a frame that is linked is alive, and so is its code. */
  bool sure = place == PLACE_DATA_STACK || !PY_SP_LAYOUT_DATA_STACK;
  const py_sp_code *known;
  int64_t unit;

  if (!code || ((uintptr_t)code & 7) != 0)
    return false;
  known = py_sp_code_find(&walk->probe, code, sure);
  if (!known)
    return false;
  unit = layout_frame_unit(frame, code);
  if (unit < -1 || unit >= (int64_t)known->units)
    return false;
  if (place == PLACE_DATA_STACK && !frame_fits(walk, frame, known->words))
    return false;
  if (!known->hidden)
    walk->frames[walk->count++] = (spanprof_frame){
        .code = known->id,
        .offset = py_sp_code_line(known, unit),
        .flags = layout_frame_is_entry(frame) ? SPANPROF_FRAME_ENTRY : 0};
  return true;
}

/* Let memory come while the frame before is looked at. */
SP_SIGNAL_SAFE static void frame_foresee(const frame_walk *walk,
                                         const py_sp_pyframe *frame) {
  if (((uintptr_t)frame & 7) == 0 && frame_on_data_stack(walk, frame))
    py_sp_code_foresee(layout_frame_code(frame));
}

/* True: the outermost frame was reached. */
SP_SIGNAL_SAFE static bool walk_frames(frame_walk *walk,
                                       const py_sp_pyframe *frame) {
  unsigned step;

  for (step = 0; frame && step < WALK_STEPS_MAX; step++) {
    walk_place place = frame_place(walk, frame);
    py_sp_frame_kind kind;

    if (place == PLACE_NONE)
      return false;
    frame_foresee(walk, layout_frame_previous(frame));
    kind = layout_frame_kind(frame);
    if (kind == PY_SP_FRAME_SHIM)
      entry_mark(walk);
    else if (kind != PY_SP_FRAME_CODE || walk->count >= walk->max ||
             !frame_take(walk, frame, place))
      return false;
    frame = layout_frame_previous(frame);
  }
  return !frame;
}

/* In the thread's state, which is there, or on a stack. */
SP_SIGNAL_SAFE static bool top_readable(frame_walk *walk,
                                        const PyThreadState *thread,
                                        const void *const *top) {
  if ((uintptr_t)top >= (uintptr_t)thread &&
      (uintptr_t)(top + 1) <= (uintptr_t)(thread + 1))
    return true;
  return ((uintptr_t)top & 7) == 0 &&
         py_sp_probe_readable(&walk->probe, top, sizeof *top);
}

SP_SIGNAL_SAFE size_t py_sp_walk(const PyThreadState *thread,
                                 const spanprof_capture *capture,
                                 spanprof_frame *frames, size_t max, int *cut) {
  frame_walk walk = {.frames = frames, .max = max};
  const void *const *top = layout_top_place(thread);

  if (capture->stack_end > capture->sp) {
    walk.probe.stack_start = (uintptr_t)capture->sp;
    walk.probe.stack_end = (uintptr_t)capture->stack_end;
  }
  pieces_read(&walk, thread);
  if (!top_readable(&walk, thread, top)) {
    *cut = 1;
    return 0;
  }
  if (walk_frames(&walk, *top))
    entry_mark(&walk);
  else
    *cut = 1;
  return walk.count;
}
