/* What may be wrong when a signal arrives, and how the walk bears it:
 *
 * - A frame is being pushed: the VM writes it before it moves ec->cfp (and from
 *   3.2.5 and 3.3.4 on has a compiler fence between). A frame counts only with
 *   a flags word that has one of the known magics; the walk ends at any other.
 * - YJIT of 3.1 moves ec->cfp first: for some instructions the innermost frame
 *   is what another one left there, see rb_jit_push.h. It is left out.
 * - A closure moves environments to the heap (vm_make_env_each() in vm.c): for
 *   some instructions an enclosing environment on the stack holds an object in
 *   place of its flags. The frame is taken then, without its class.
 * - Objects move (compaction): nothing is walked, see rb_compaction.h.
 *
 * Words are read where they are known to be mapped: on the VM stack, in an
 * environment on the heap that a frame whose flags are sound points to, and in
 * the object that such an environment names as its method. */
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

/* Enclosing environments that are followed: blocks within blocks. */
#define WALKER_HOPS_MAX 32

/* Frames that are looked up together: half a KiB of the handler's stack. */
#define WALKER_BATCH 16

/* VM stacks are 1 MiB by default; RUBY_THREAD_VM_STACK_SIZE may ask for more.
 */
#define WALKER_STACK_WORDS_MAX (UINT64_C(1) << 27)

typedef const VALUE *words;

typedef struct vm_stack {
  words start;
  words end;
} vm_stack;

/* Process-wide, because the handler reads it. */
SP_HANDLER_DATA static rb_sp_walker_config walker;
SP_HANDLER_DATA static _Atomic uint64_t walker_torn;

/* rb_during_gc(), where the rest is, and not through two pages of the dynamic
 * linker's. */
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

/* May ep[-2] … ep[0] be read? */
SP_HANDLER_CODE static bool ep_possible(const vm_stack *stack, words ep) {
  return rb_sp_object_possible((VALUE)ep) &&
         (ep < stack->start || ep >= stack->end || ep >= stack->start + 2);
}

/* Is that the flags word of the environment at `ep`? One that is not on the VM
 * stack says that it moved. */
SP_HANDLER_CODE static bool flags_sound(const vm_stack *stack, words ep,
                                        VALUE flags) {
  return rb_sp_flags_valid(flags) &&
         (stack_has(stack, ep) || (flags & RB_SP_FLAGS_ESCAPED));
}

/* The method entry that a word of an environment is, or leads to, or 0. */
SP_HANDLER_CODE static VALUE object_method(VALUE object, bool local) {
  if (!rb_sp_object_possible(object))
    return 0;
  if (rb_sp_imemo_is(object, RB_SP_IMEMO_METHOD))
    return object;
  /* $~ and $_ live between: struct vm_svar, cref_or_me. */
  if (!local || !rb_sp_imemo_is(object, RB_SP_IMEMO_SVAR))
    return 0;
  object = ((words)object)[1];
  return rb_sp_object_possible(object) &&
                 rb_sp_imemo_is(object, RB_SP_IMEMO_METHOD)
             ? object
             : 0;
}

/* The word that names the method a frame belongs to, through the environments
 * around it; 0: none. `flags` are those at `ep`, and sound. */
SP_HANDLER_CODE static VALUE frame_object(const vm_stack *stack, words ep,
                                          VALUE flags) {
  VALUE previous;
  unsigned hop;

  for (hop = 0; hop < WALKER_HOPS_MAX; hop++) {
    VALUE object = ep[RB_SP_EP_METHOD];

    /* A block has one only as a method made by define_method(). */
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

/* The innermost control frame of a thread, and its VM stack; NULL: none. */
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

/* What one control frame runs. */
typedef struct walked_frame {
  VALUE iseq;
  VALUE object; /* names the method, see object_method() */
  uint32_t offset;
  uint32_t flags;
} walked_frame;

/* A frame that waits for its number. */
typedef struct waiting_frame {
  rb_sp_code_slot *slot; /* what it is to be kept in */
  VALUE iseq;
  VALUE object;
  uint32_t place;
  uint32_t index; /* in the sample */
} waiting_frame;

/* Read the VM stack alone. */
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
  /* The first frame of each stack; on the main thread it looks like <main>. */
  if ((flags & RB_SP_FLAGS_MAGIC) == RB_SP_FLAGS_MAGIC_DUMMY)
    return FRAME_NONE;
  if (!(flags & RB_SP_FLAGS_CFRAME)) {
    out->iseq = frame[RB_SP_FRAME_ISEQ];
    /* Which instruction, counted from one that rb_names.c knows. */
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

/* An object that is in the table is a method entry, and need not be looked at:
 * that would be a page of the heap for each method. */
SP_HANDLER_CODE static uint64_t frame_number(const waiting_frame *frame) {
  uint64_t number = rb_sp_code_known(frame->place, frame->iseq, frame->object);

  if (SP_UNLIKELY(number == RB_SP_CODE_NONE))
    return rb_sp_code_number(frame->iseq, object_method(frame->object, true));
  *frame->slot = (rb_sp_code_slot){
      .iseq = frame->iseq, .object = frame->object, .number = number};
  return number;
}

/* Look up what waits, once its places in the table were all asked for. False:
 * one is no code, or finds no room; *count is how many frames there are before
 * it. */
SP_HANDLER_CODE static bool batch_number(const waiting_frame *batch,
                                         size_t waiting, spanprof_frame *frames,
                                         size_t *count) {
  size_t i;

  for (i = 0; i < waiting; i++)
    rb_sp_code_fetch(batch[i].place);
  for (i = 0; i < waiting; i++) {
    frames[batch[i].index].code = frame_number(&batch[i]);
    if (frames[batch[i].index].code == RB_SP_CODE_NONE) {
      *count = batch[i].index;
      return false;
    }
  }
  return true;
}

/* Have the next frames' memory brought near, all at once. */
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

/* True: to the end. */
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
      batch[waiting++] =
          (waiting_frame){.slot = slot,
                          .iseq = walked.iseq,
                          .object = walked.object,
                          .place = rb_sp_code_place(walked.iseq, walked.object),
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

/* Did the signal interrupt a handler on an alternate stack? Ruby's own, of a
 * page it protected while it compacts, runs there. */
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
    /* Whoever has the GVL may collect while this thread is walked. */
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
    rb_sp_thread_foresee(capture->thread_data, frame,
                         (const void *)frame[RB_SP_FRAME_EP]);
    rb_sp_code_cache_begin(cache);
    if (SP_UNLIKELY(rb_sp_jit_push_open(capture, frame)))
      frame += walker.layout.control_frame_words;
    if (!stack_walk(&stack, frame, cache, frames, max, &count))
      *cut = 1;
  }
  rb_sp_code_table_leave();
  return count;
}
