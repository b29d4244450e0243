/* States in which a signal may find the VM, and how the walk handles them:
 *
 * - A frame is being pushed. The VM writes the frame before it moves ec->cfp,
 *   the pointer to the innermost frame (since Ruby 3.2.5 and 3.3.4 with a
 *   compiler fence in between). A frame is valid only if its flags word has one
 *   of the known magics; the walk ends at any other frame.
 * - YJIT of Ruby 3.1 moves ec->cfp first, so for some instructions the
 *   innermost frame has old contents (see rb_jit_push.h). The walk skips this
 *   frame.
 * - A closure moves environments to the heap (vm_make_env_each() in vm.c): for
 *   some instructions an enclosing environment on the stack has an object
 *   instead of its flags. In this state the frame is recorded without its
 *   class.
 * - Objects move (compaction): nothing is walked, see rb_compaction.h.
 *
 * The walk reads only words that are known to be mapped. These are on the VM
 * stack, in an environment on the heap to which a frame with valid flags
 * points, and in the object to which such an environment refers as its method.
 */
#include "rb_walker.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <ucontext.h>

#include "rb_code_table.h"
#include "rb_compaction.h"
#include "rb_jit_push.h"
#include "rb_thread_table.h"
#include "rb_vm_layout.h"
#include "util/base.h"

/* Maximum number of enclosing environments (blocks within blocks) that are
 * searched for the method of a frame. */
#define WALKER_HOPS_MAX 32

/* Number of frames that are looked up together. Their data takes half a KiB of
 * the handler's stack. */
#define WALKER_BATCH 16

/* Maximum size of a VM stack. The default is 1 MiB, and
 * RUBY_THREAD_VM_STACK_SIZE may set more. */
#define WALKER_STACK_WORDS_MAX (UINT64_C(1) << 27)

typedef const VALUE *words;

typedef struct vm_stack {
  words start;
  words end;
} vm_stack;

/* One for the process, because handlers of all threads read it. */
SP_HANDLER_DATA static rb_sp_walker_config walker;
SP_HANDLER_DATA static _Atomic uint64_t walker_torn;

/* The address of rb_during_gc(). It is stored next to the other data, so that a
 * call does not read two pages of the dynamic linker. */
SP_HANDLER_DATA static int (*walker_collects)(void) = rb_during_gc;

void rb_sp_walker_configure(const rb_sp_walker_config *config) {
  walker = *config;
}

uint64_t rb_sp_walker_torn(void) {
  return atomic_load(&walker_torn);
}

SP_HANDLER_CODE static bool stack_has(const vm_stack *stack, words at) {
  return at >= stack->start && at < stack->end;
}

/* Returns whether the words ep[-2] to ep[0] of an environment may be read. */
SP_HANDLER_CODE static bool ep_possible(const vm_stack *stack, words ep) {
  return rb_sp_object_possible((VALUE)ep) &&
         (ep < stack->start || ep >= stack->end || ep >= stack->start + 2);
}

/* Returns whether `flags` is the flags word of the environment at `ep`. An
 * environment outside the VM stack must have the flag that it was moved to the
 * heap. */
SP_HANDLER_CODE static bool flags_sound(const vm_stack *stack, words ep,
                                        VALUE flags) {
  return rb_sp_flags_valid(flags) &&
         (stack_has(stack, ep) || (flags & RB_SP_FLAGS_ESCAPED));
}

/* Returns the method entry to which a word of an environment refers, directly
 * or indirectly, or 0. */
SP_HANDLER_CODE static VALUE object_method(VALUE object, bool local) {
  if (!rb_sp_object_possible(object))
    return 0;
  if (rb_sp_imemo_is(object, RB_SP_IMEMO_METHOD))
    return object;
  /* A method that uses $~ or $_ has them in an object (struct vm_svar), which
   * then refers to the method entry (cref_or_me). */
  if (!local || !rb_sp_imemo_is(object, RB_SP_IMEMO_SVAR))
    return 0;
  object = ((words)object)[1];
  return rb_sp_object_possible(object) &&
                 rb_sp_imemo_is(object, RB_SP_IMEMO_METHOD)
             ? object
             : 0;
}

/* Returns the word that refers to the method of a frame, or 0. Searches the
 * environment at `ep` and the environments around it. `flags` are the valid
 * flags of the environment at `ep`. */
SP_HANDLER_CODE static VALUE frame_object(const vm_stack *stack, words ep,
                                          VALUE flags) {
  VALUE previous;
  unsigned hop;

  for (hop = 0; hop < WALKER_HOPS_MAX; hop++) {
    VALUE object = ep[RB_SP_EP_METHOD];

    /* A block has a method entry only if define_method() made it a method. */
    if ((flags & RB_SP_FLAGS_LOCAL) || object_method(object, false))
      return object;
    previous = ep[RB_SP_EP_PREVIOUS];
    ep = (words)(previous & ~(VALUE)3);
    if (rb_sp_flags_valid(previous) || !ep_possible(stack, ep))
      break;
    flags = ep[RB_SP_EP_FLAGS];
    if (!flags_sound(stack, ep, flags))
      break;
  }
  atomic_fetch_add_explicit(&walker_torn, 1, memory_order_relaxed);
  return 0;
}

/* Returns the innermost control frame of a thread and sets *stack to the
 * thread's VM stack. Returns NULL if there is no frame. */
SP_HANDLER_CODE static words stack_enter(const rb_sp_walker_config *config,
                                         const void *thread, vm_stack *stack) {
  words ec =
      *(const words *)((const char *)thread + config->layout.thread_ec_bytes);
  words frame;
  VALUE size;

  if (!ec)
    return NULL;
  stack->start = (words)ec[RB_SP_EC_STACK];
  size = ec[RB_SP_EC_STACK_WORDS];
  frame = (words)ec[RB_SP_EC_FRAME];
  if (!rb_sp_object_possible((VALUE)stack->start) ||
      size > WALKER_STACK_WORDS_MAX || ((VALUE)frame & 7))
    return NULL;
  stack->end = stack->start + size;
  return stack_has(stack, frame) ? frame : NULL;
}

typedef enum frame_kind { FRAME_NONE, FRAME_CODE, FRAME_BROKEN } frame_kind;

/* What frame_read() has found in one control frame. */
typedef struct walked_frame {
  VALUE iseq;
  VALUE object; /* object_method() finds the method entry in this object */
  uint32_t offset;
  uint32_t flags;
} walked_frame;

/* A frame whose code number is not yet known. */
typedef struct waiting_frame {
  rb_sp_code_slot *slot; /* cache slot that gets the number */
  VALUE iseq;
  VALUE object;
  uint32_t index_slot;
  uint32_t index; /* index in the sample */
} waiting_frame;

/* Read a control frame. For a frame of Ruby code in the mode "methods", this
 * also reads the environments on the heap around the frame. */
SP_HANDLER_CODE static frame_kind frame_read(const rb_sp_walker_config *config,
                                             const vm_stack *stack, words frame,
                                             walked_frame *out) {
  words ep = (words)frame[RB_SP_FRAME_EP];
  VALUE flags;

  if (!ep_possible(stack, ep))
    return FRAME_BROKEN;
  flags = ep[RB_SP_EP_FLAGS];
  if (!flags_sound(stack, ep, flags))
    return FRAME_BROKEN;
  *out = (walked_frame){0};
  /* The VM itself pushes a dummy frame first on each stack; on the main thread
   * it looks like <main>. */
  if ((flags & RB_SP_FLAGS_MAGIC) == RB_SP_FLAGS_MAGIC_DUMMY)
    return FRAME_NONE;
  if (!(flags & RB_SP_FLAGS_CFRAME)) {
    out->iseq = frame[RB_SP_FRAME_ISEQ];
    /* Bits 3 to 34 of the instruction's address; rb_names.c computes its
     * index. */
    out->offset = (uint32_t)(frame[RB_SP_FRAME_PC] >> 3);
    out->flags = flags & RB_SP_FLAGS_FINISH ? SPANPROF_FRAME_ENTRY : 0;
    if (config->mode == RB_SP_WALKER_METHODS)
      out->object = frame_object(stack, ep, flags);
  } else if ((flags & RB_SP_FLAGS_MAGIC) == RB_SP_FLAGS_MAGIC_CFUNC) {
    out->object = ep[RB_SP_EP_METHOD];
  }
  return out->iseq || out->object ? FRAME_CODE : FRAME_NONE;
}

size_t rb_sp_walker_look(const rb_sp_walker_config *config, const void *thread,
                         rb_sp_walked *frames, size_t max) {
  size_t count = 0;
  vm_stack stack;
  words frame = stack_enter(config, thread, &stack);

  for (; frame && count < max &&
         frame + config->layout.control_frame_words <= stack.end;
       frame += config->layout.control_frame_words) {
    walked_frame walked;
    frame_kind kind = frame_read(config, &stack, frame, &walked);

    if (kind == FRAME_BROKEN)
      break;
    if (kind == FRAME_CODE)
      frames[count++] = (rb_sp_walked){
          .iseq = walked.iseq, .method = object_method(walked.object, true)};
  }
  return count;
}

/* Return the code number of a frame. If frame->object is in the table, it is a
 * method entry, so the function does not read the object. A read would touch a
 * page of the heap for each method. */
SP_HANDLER_CODE static uint64_t frame_number(const waiting_frame *frame) {
  uint64_t number =
      rb_sp_code_known(frame->index_slot, frame->iseq, frame->object);

  if (SP_UNLIKELY(number == RB_SP_CODE_NONE))
    return rb_sp_code_number(frame->iseq, object_method(frame->object, true));
  *frame->slot = (rb_sp_code_slot){
      .iseq = frame->iseq, .object = frame->object, .number = number};
  return number;
}

/* Prefetch the pairs of all frames of a batch, and find their code numbers.
 * Returns false if a frame is not code or does not fit into the table; *count
 * is then the number of frames before this frame. */
SP_HANDLER_CODE static bool batch_number(const waiting_frame *batch,
                                         size_t waiting, spanprof_frame *frames,
                                         size_t *count) {
  size_t i;

  for (i = 0; i < waiting; i++)
    rb_sp_code_fetch(batch[i].index_slot);
  for (i = 0; i < waiting; i++) {
    frames[batch[i].index].code = frame_number(&batch[i]);
    if (frames[batch[i].index].code == RB_SP_CODE_NONE) {
      *count = batch[i].index;
      return false;
    }
  }
  return true;
}

/* Prefetch the memory of the next WALKER_BATCH frames. Returns the end of these
 * frames. */
SP_HANDLER_CODE static words frames_fetch(words frame, const vm_stack *stack) {
  const size_t frame_words = walker.layout.control_frame_words;
  words end = frame + WALKER_BATCH * frame_words, at;

  if (end > stack->end)
    end = stack->end;
  for (at = frame; at + frame_words <= end; at += frame_words)
    __builtin_prefetch(at + RB_SP_FRAME_EP);
  for (at = frame; at + frame_words <= end; at += frame_words)
    __builtin_prefetch((words)at[RB_SP_FRAME_EP] + RB_SP_EP_PREVIOUS);
  return end;
}

/* Walk a VM stack. Returns true if the walk reached the end of the stack. */
SP_HANDLER_CODE static bool stack_walk(const vm_stack *stack, words frame,
                                       rb_sp_code_cache *cache,
                                       spanprof_frame *frames, size_t max,
                                       size_t *count) {
  const size_t frame_words = walker.layout.control_frame_words;
  waiting_frame batch[WALKER_BATCH];
  size_t waiting = 0;
  words near = frame;

  for (; frame + frame_words <= stack->end; frame += frame_words) {
    walked_frame walked;
    frame_kind kind;
    rb_sp_code_slot *slot;

    if (frame >= near)
      near = frames_fetch(frame, stack);
    kind = *count < max ? frame_read(&walker, stack, frame, &walked)
                        : FRAME_BROKEN;
    if (kind == FRAME_BROKEN)
      break;
    if (kind == FRAME_NONE)
      continue;
    slot = &cache->slots[(size_t)(stack->end - frame) / frame_words %
                         RB_SP_CODE_SLOTS];
    frames[*count] = (spanprof_frame){
        .code = slot->number, .offset = walked.offset, .flags = walked.flags};
    if (slot->number == RB_SP_CODE_NONE || slot->iseq != walked.iseq ||
        slot->object != walked.object) {
      batch[waiting++] = (waiting_frame){
          .slot = slot,
          .iseq = walked.iseq,
          .object = walked.object,
          .index_slot = rb_sp_code_slot_find(walked.iseq, walked.object),
          .index = (uint32_t)*count};
    }
    ++*count;
    if (waiting == WALKER_BATCH) {
      if (!batch_number(batch, waiting, frames, count))
        return false;
      waiting = 0;
    }
  }
  return batch_number(batch, waiting, frames, count) &&
         frame + frame_words > stack->end;
}

/* Returns whether the signal interrupted a handler on an alternate stack.
 * Ruby's own handler for pages that it protects during a compaction runs on
 * that stack. */
SP_HANDLER_CODE static bool
on_alternate_stack(const spanprof_capture *capture) {
  const ucontext_t *context = capture->ucontext;
  uint64_t base = (uint64_t)(uintptr_t)context->uc_stack.ss_sp;

  return !(context->uc_stack.ss_flags & SS_DISABLE) && capture->sp >= base &&
         capture->sp < base + context->uc_stack.ss_size;
}

SP_HANDLER_CODE uint64_t
rb_sp_walker_stack_end(void *data, const spanprof_capture *capture) {
  rb_sp_code_cache *cache;
  const void *thread = rb_sp_thread_find(capture->thread_data, &cache);
  vm_stack stack;

  (void)data;
  if (!thread || !stack_enter(&walker, thread, &stack))
    return 0;
  return (uint64_t)(uintptr_t)stack.start;
}

SP_HANDLER_CODE size_t rb_sp_walker_walk(void *data,
                                         const spanprof_capture *capture,
                                         spanprof_frame *frames, size_t max,
                                         int *cut) {
  rb_sp_code_cache *cache;
  const void *thread = rb_sp_thread_find(capture->thread_data, &cache);
  bool moves = rb_sp_compaction_possible(), collects, mine;
  size_t count = 0;
  vm_stack stack;
  words frame;

  (void)data;
  if (!thread || max == 0)
    return 0;
  collects = walker_collects();
  if (collects || moves) {
    mine = ruby_thread_has_gvl_p();
    if (collects && mine)
      frames[count++] =
          (spanprof_frame){.code = RB_SP_CODE_GC, .flags = SPANPROF_FRAME_LEAF};
    /* Any thread with the GVL may run the garbage collector while this thread
     * is walked. */
    if (moves && (collects || !mine || on_alternate_stack(capture))) {
      *cut = 1;
      return count;
    }
  }
  if (!rb_sp_code_table_enter()) {
    *cut = 1;
    return count;
  }
  frame = stack_enter(&walker, thread, &stack);
  if (frame) {
    rb_sp_thread_prefetch(capture->thread_data, frame,
                          (const void *)frame[RB_SP_FRAME_EP]);
    rb_sp_code_cache_begin(cache);
    if (SP_UNLIKELY(rb_sp_jit_push_pending(capture, frame)))
      frame += walker.layout.control_frame_words;
    if (!stack_walk(&stack, frame, cache, frames, max, &count))
      *cut = 1;
  }
  rb_sp_code_table_leave();
  return count;
}
