#include "rb_eval_range.h"

#include <stdint.h>
#include <unwind.h>

#include "base/rb_base.h"

#define PROBE_FRAMES_MAX 64

/* Upper bound on the size of a function of the interpreter. */
#define PROBE_FUNCTION_BYTES_MAX (UINT64_C(1) << 22)

/* Start addresses of the functions on a native stack, innermost first. */
typedef struct native_stack {
  uint64_t starts[PROBE_FRAMES_MAX];
  size_t count;
} native_stack;

static native_stack probe_stack;
static VALUE probe_object = Qnil;

/* Returns the start of the function that contains the byte at `pc`.
 * _Unwind_FindEnclosingFunction() finds the function of the byte before its
 * argument. */
static uint64_t function_start(uint64_t pc) {
  return (uint64_t)(uintptr_t)_Unwind_FindEnclosingFunction(
      (void *)(uintptr_t)(pc + 1));
}

static _Unwind_Reason_Code frame_note(struct _Unwind_Context *context,
                                      void *data) {
  native_stack *stack = data;

  if (stack->count == PROBE_FRAMES_MAX)
    return _URC_END_OF_STACK;
  stack->starts[stack->count++] = function_start(_Unwind_GetIP(context) - 1);
  return _URC_NO_REASON;
}

/* The method "look", in C: stores the native stack from which it was called. */
static VALUE probe_look(VALUE self) {
  (void)self;
  probe_stack.count = 0;
  _Unwind_Backtrace(frame_note, &probe_stack);
  return Qnil;
}

/* The method "relay", in C: on the stack, it is between the sequence of Ruby
 * code that calls it and that of its block. */
static VALUE probe_relay(VALUE self) {
  VALUE result = rb_yield(Qnil);

  (void)self;
  /* Prevent a tail call, which would remove this frame. */
  __asm__ volatile("" : : : "memory");
  return result;
}

static size_t stack_find(const native_stack *stack, const void *function,
                         size_t from) {
  uint64_t start = function_start((uint64_t)(uintptr_t)function);
  size_t i = from;

  while (i < stack->count && stack->starts[i] != start)
    i++;
  return i;
}

static spanprof_range function_range(uint64_t start) {
  uint64_t inside = 0, outside = PROBE_FUNCTION_BYTES_MAX;

  while (outside - inside > 1) {
    uint64_t middle = inside + (outside - inside) / 2;

    if (function_start(start + middle) == start)
      inside = middle;
    else
      outside = middle;
  }
  return (spanprof_range){.start = start, .end = start + outside};
}

static size_t times_found(const native_stack *stack, uint64_t start,
                          size_t from, size_t to) {
  size_t found = 0, i;

  for (i = from; i < to; i++)
    found += stack->starts[i] == start;
  return found;
}

/* Find vm_exec() on the native stack. Ruby code called probe_look() and
 * probe_relay(), so the callers of both are the same functions of the
 * interpreter, up to the one that runs a sequence of Ruby code. Outside that
 * function the callers differ, because rb_yield() began one sequence and
 * rb_funcall() the other. */
static bool stack_read(const native_stack *stack, spanprof_range *out) {
  size_t look = stack_find(stack, (const void *)probe_look, 0);
  size_t relay = stack_find(stack, (const void *)probe_relay, look);
  size_t same = 0, i;

  while (relay + 1 + same < stack->count && look + 1 + same < relay &&
         stack->starts[look + 1 + same] == stack->starts[relay + 1 + same])
    same++;
  if (same == 0)
    return false;
  for (i = 1; i <= same; i++)
    if (stack->starts[look + i] == 0)
      return false;
  *out = function_range(stack->starts[look + same]);
  return times_found(stack, out->start, look, relay) == 1;
}

static void probe_evaluate(const char *source) {
  VALUE text = rb_str_new_cstr(source);

  rb_obj_instance_eval(1, &text, probe_object);
}

void rb_sp_eval_range_init(void) {
  VALUE probe = rb_class_new(rb_cObject);

  probe_object = rb_obj_alloc(probe);
  rb_gc_register_mark_object(probe_object);
  rb_define_method(probe, "look", probe_look, 0);
  rb_define_method(probe, "relay", probe_relay, 0);
}

bool rb_sp_eval_range_find(spanprof_range *out) {
  /* Both calls have a block, so that the interpreter calls both methods in the
   * same way. */
  probe_evaluate("def run; relay { look {} }; end");
  rb_funcall(probe_object, rb_intern("run"), 0);
  return stack_read(&probe_stack, out);
}
