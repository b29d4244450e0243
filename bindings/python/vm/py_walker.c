/* py_layout_thread.h must precede <Python.h>, because it needs CPython's
 * internal headers. */
#include "py_layout_thread.h"

/* The following includes are in the usual order. */
#include "py_walker.h"

#include <pthread.h>

#include "memory/py_probe.h"
#include "py_code.h"
#include "py_prefetch.h"
#include "py_record.h"
#include "util/base.h"

/* Maximum number of chunks of the data stack that a stack walk reads. A frame
 * in another chunk is accepted if its page is readable. A chunk has 16 KiB
 * (Python/pystate.c, DATA_STACK_CHUNK_SIZE), enough for some 100 frames. */
#define WALK_PIECES 8

/* Maximum number of frames that a walk reads, with shim frames and hidden
 * frames, which are not returned. */
#define WALK_STEPS_MAX 2048

/* No code object has so many instruction units, so a frame whose instruction
 * unit has a larger number is not valid. */
#define WALK_UNITS_MAX (1 << 24)

/* Until frames_prove() has checked the frames, their flags also contain two
 * values: the argument `sure` for py_sp_code_find(), and the distance in words
 * to the frame that was called by this one on the data stack, 0 if unknown. */
#define WALK_SURE        0x80u
#define WALK_WORDS_SHIFT 8

/* How a thread looks up its PyThreadState: the addresses of the functions to
 * call, in one cache line. Ordinary calls would read the linkage tables of
 * three libraries. Written once, by py_sp_walk_open(). */
SP_HANDLER_DATA static struct {
  const Py_tss_t *key; /* NULL: call `state` instead of `specific` */
  void *(*specific)(pthread_key_t key);
  PyThreadState *(*state)(void);
} walk_thread;

/* The address ranges of the eval loop. The loop writes and links frames, and
 * the C compiler may have reordered its stores: if a thread is interrupted
 * inside the loop, the innermost frame may be half written. If it is
 * interrupted outside, the frame is completely written. The ranges are written
 * once; `count` is 0 if the loop was not found completely. */
#define WALK_LOOP_RANGES 4

SP_HANDLER_DATA static struct {
  size_t count;
  spanprof_range ranges[WALK_LOOP_RANGES];
} walk_loop;

typedef struct walk_piece {
  uintptr_t start;
  uintptr_t end;
} walk_piece;

typedef struct frame_walk {
  const PyThreadState *thread;
  py_sp_probe probe;
  bool written; /* the innermost frame is certainly written completely */
  walk_piece pieces[WALK_PIECES]; /* used parts of chunks of the data stack,
                                     innermost first */
  unsigned piece_count;
  uintptr_t edge; /* expected end of the next frame on the data stack, or 0 */
  spanprof_frame *frames;
  size_t count;
  size_t max;
} frame_walk;

typedef enum walk_place {
  PLACE_NONE,
  PLACE_PROBED,
  PLACE_DATA_STACK
} walk_place;

/* Read the used parts of the chunks of the data stack. The innermost chunk
 * always exists, because at every instant the thread's state has the address of
 * a live chunk. Its used part ends at the top of the stack, unless the thread
 * is just switching to another chunk. */
SP_HANDLER_CODE static void pieces_read(frame_walk *walk,
                                        const PyThreadState *thread) {
  const py_sp_chunk *chunk = layout_stack_chunk(thread);
  uintptr_t top = (uintptr_t)layout_stack_top(thread);

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

SP_HANDLER_CODE static bool frame_on_data_stack(const frame_walk *walk,
                                                const py_sp_pyframe *frame) {
  unsigned i;

  for (i = 0; i < walk->piece_count; i++)
    if ((uintptr_t)frame >= walk->pieces[i].start &&
        (uintptr_t)(frame + 1) <= walk->pieces[i].end)
      return true;
  return false;
}

SP_HANDLER_CODE static walk_place frame_place(frame_walk *walk,
                                              const py_sp_pyframe *frame) {
  if (((uintptr_t)frame & 7) != 0)
    return PLACE_NONE;
  if (frame_on_data_stack(walk, frame))
    return PLACE_DATA_STACK;
  /* In 3.10, all linked frames are alive: the innermost frame is unlinked
   * before it is released (Python/ceval.c, exit_eval_frame), and each frame has
   * a reference to its caller's frame. */
  if (!PY_SP_LAYOUT_DATA_STACK)
    return PLACE_PROBED;
  return py_sp_probe_readable(&walk->probe, frame, sizeof *frame) ? PLACE_PROBED
                                                                  : PLACE_NONE;
}

/* Returns the distance in words from a frame on the data stack to the frame
 * that it called; frames are stored there without gaps, in the order of calls.
 * Returns 0 if the distance is unknown, because the frames are in different
 * chunks, and -1 if these cannot be two valid frames. */
SP_HANDLER_CODE static int64_t frame_words(frame_walk *walk,
                                           const py_sp_pyframe *frame) {
  uintptr_t start = (uintptr_t)frame, edge = walk->edge;
  unsigned i;

  walk->edge = start;
  if (edge == 0)
    return 0;
  for (i = 0; i < walk->piece_count; i++)
    if (start >= walk->pieces[i].start && start < walk->pieces[i].end) {
      if (edge < walk->pieces[i].start || edge > walk->pieces[i].end)
        return 0;
      return edge > start ? (int64_t)((edge - start) / sizeof(void *)) : -1;
    }
  return 0;
}

SP_HANDLER_CODE static void entry_mark(frame_walk *walk) {
  if (walk->count > 0)
    walk->frames[walk->count - 1].flags |= SPANPROF_FRAME_ENTRY;
}

/* Store a frame with the address of its code object. Returns false if the frame
 * cannot be valid. */
SP_HANDLER_CODE static bool
frame_collect(frame_walk *walk, const py_sp_pyframe *frame, walk_place place) {
  const PyCodeObject *code = layout_frame_code(frame);
  uint32_t flags = layout_frame_is_entry(frame) ? SPANPROF_FRAME_ENTRY : 0;
  int64_t unit, words = 0;

  if (!code || ((uintptr_t)code & 7) != 0)
    return false;
  if (!PY_SP_LAYOUT_DATA_STACK)
    py_sp_prefetch_note(walk->thread, frame);
  if (walk->count == 0 ||
      walk->frames[walk->count - 1].code != (uint64_t)(uintptr_t)code)
    py_sp_code_prefetch(code);
  unit = layout_frame_unit(frame, code);
  if (place == PLACE_DATA_STACK)
    words = frame_words(walk, frame);
  if (unit < -1 || unit >= WALK_UNITS_MAX || words < 0)
    return false;
  /* In 3.10, a linked frame is alive, and so is its code object. */
  if ((place == PLACE_DATA_STACK && (walk->count > 0 || walk->written)) ||
      !PY_SP_LAYOUT_DATA_STACK)
    flags |= WALK_SURE;
  walk->frames[walk->count++] =
      (spanprof_frame){.code = (uint64_t)(uintptr_t)code,
                       .offset = unit < 0 ? 0 : (uint32_t)unit,
                       .flags = flags | (uint32_t)words << WALK_WORDS_SHIFT};
  return true;
}

/* Store the frames from `frame` outwards, up to the first that cannot be valid.
 * Returns true if the outermost frame was reached. */
SP_HANDLER_CODE static bool frames_collect(frame_walk *walk,
                                           const py_sp_pyframe *frame) {
  unsigned step;

  for (step = 0; frame && step < WALK_STEPS_MAX; step++) {
    walk_place place = frame_place(walk, frame);
    py_sp_frame_kind kind;

    if (place == PLACE_NONE)
      return false;
    kind = layout_frame_kind(frame);
    if (kind == PY_SP_FRAME_SHIM)
      entry_mark(walk);
    else if (kind != PY_SP_FRAME_CODE || walk->count >= walk->max ||
             !frame_collect(walk, frame, place))
      return false;
    frame = layout_frame_previous(frame);
  }
  return !frame;
}

/* Check the stored frames, and replace the addresses of their code objects by
 * ids. Drops the first frame that is not valid, with all frames outside it.
 * Returns true if all frames are valid. */
SP_HANDLER_CODE static bool frames_prove(frame_walk *walk) {
  const size_t collected = walk->count;
  py_sp_code code = {0};
  uint64_t address = 0;
  size_t i;

  walk->count = 0;
  for (i = 0; i < collected; i++)
    py_sp_code_prefetch_texts(
        (const PyCodeObject *)(uintptr_t)walk->frames[i].code);
  for (i = 0; i < collected; i++) {
    const spanprof_frame frame = walk->frames[i];
    const uint32_t distance = frame.flags >> WALK_WORDS_SHIFT;
    uint32_t words;

    /* In a recursion, look up the code object only once. */
    if (frame.code != address &&
        !py_sp_code_find(&walk->probe,
                         (const PyCodeObject *)(uintptr_t)frame.code,
                         frame.flags & WALK_SURE, &code))
      return false;
    address = frame.code;
    words = code.words & ~PY_SP_CODE_HIDDEN;
    if (frame.offset >= code.units ||
        (distance != 0 && words != 0 && distance != words))
      return false;
    if (!(code.words & PY_SP_CODE_HIDDEN))
      walk->frames[walk->count++] =
          (spanprof_frame){.code = code.id, .offset = frame.offset};
    if (frame.flags & SPANPROF_FRAME_ENTRY)
      entry_mark(walk);
  }
  return true;
}

void py_sp_walk_set_loop(const spanprof_range *ranges, size_t count) {
  size_t i;

  if (count > WALK_LOOP_RANGES)
    return;
  for (i = 0; i < count; i++)
    walk_loop.ranges[i] = ranges[i];
  walk_loop.count = count;
}

/* Returns true if the eval loop is known and `pc` is outside it. */
SP_HANDLER_CODE static bool pc_outside_loop(uint64_t pc) {
  size_t i;

  for (i = 0; i < walk_loop.count; i++)
    if (pc >= walk_loop.ranges[i].start && pc < walk_loop.ranges[i].end)
      return false;
  return walk_loop.count > 0;
}

int py_sp_walk_open(void) {
  walk_thread.key = layout_thread_key();
  walk_thread.specific = pthread_getspecific;
  walk_thread.state = PyGILState_GetThisThreadState;
  /* If this release of CPython has its key at another address than its headers
   * say, call `state` instead. */
  if (walk_thread.key && py_sp_walk_thread() != PyThreadState_Get())
    walk_thread.key = NULL;
  return py_sp_walk_thread() == PyThreadState_Get();
}

/* Signal-safe in practice: CPython's faulthandler also gets the thread's state
 * in signal handlers, by PyGILState_GetThisThreadState()
 * (Modules/faulthandler.c, faulthandler_dump_traceback). */
SP_HANDLER_CODE const PyThreadState *py_sp_walk_thread(void) {
  const Py_tss_t *key = walk_thread.key;

  if (!key)
    return walk_thread.state();
  return key->_is_initialized ? walk_thread.specific(key->_key) : NULL;
}

/* Returns whether `top`, the address of the pointer to the innermost frame, is
 * readable: it is inside the thread's state, which exists, or on a C stack. */
SP_HANDLER_CODE static bool top_readable(frame_walk *walk,
                                         const PyThreadState *thread,
                                         const void *const *top) {
  if ((uintptr_t)top >= (uintptr_t)thread &&
      (uintptr_t)(top + 1) <= (uintptr_t)(thread + 1))
    return true;
  return ((uintptr_t)top & 7) == 0 &&
         py_sp_probe_readable(&walk->probe, top, sizeof *top);
}

SP_HANDLER_CODE size_t py_sp_walk(const PyThreadState *thread,
                                  const spanprof_capture *capture,
                                  spanprof_frame *frames, size_t max,
                                  int *cut) {
  frame_walk walk = {.thread = thread,
                     .frames = frames,
                     .max = max,
                     .written = pc_outside_loop(capture->pc)};
  const void *const *top = layout_top_address(thread);
  bool whole = false;

  if (capture->stack_end > capture->sp) {
    walk.probe.stack_start = (uintptr_t)capture->sp;
    walk.probe.stack_end = (uintptr_t)capture->stack_end;
  }
  pieces_read(&walk, thread);
  if (top_readable(&walk, thread, top))
    whole = frames_collect(&walk, *top);
  if (!frames_prove(&walk))
    whole = false;
  if (whole)
    entry_mark(&walk);
  else
    *cut = 1;
  return walk.count;
}

SP_HANDLER_CODE void py_sp_walk_prefetch(const PyThreadState *thread) {
  layout_thread_prefetch(thread);
}

static uint32_t line_of(const spanprof_frame *frame, py_sp_line_numbers which) {
  switch (which) {
  case PY_SP_LINES_FIRST:
    return py_sp_record_first_line(frame->code);
  case PY_SP_LINES_NONE:
    return 0;
  default:
    return py_sp_record_line(frame->code, frame->offset);
  }
}

void py_sp_walk_set_lines(spanprof_frame *frames, size_t count,
                          py_sp_line_numbers which) {
  size_t i;

  for (i = 0; i < count; i++)
    frames[i].offset = line_of(&frames[i], which);
}
