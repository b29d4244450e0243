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

/* The method "relay", in C: runs the block that it is called with. The number
 * of arguments selects the function that calls the block. */
static VALUE probe_relay(int argc, VALUE *argv, VALUE self) {
  VALUE result = Qnil;

  (void)self;
  switch (argc) {
  case 0:
    result = rb_yield(Qnil);
    break;
  case 1:
    result = rb_yield_values(2, Qnil, Qnil);
    break;
  case 2:
    result = rb_yield_values2(argc, argv);
    break;
  case 3:
    result = rb_yield_splat(rb_ary_new_from_values(argc, argv));
    break;
  }
  /* Prevent a tail call, which would remove this function from the native
   * stack. */
  __asm__ volatile("" : : : "memory");
  return result;
}

/* A block in C that calls probe_look(). */
static VALUE probe_block(RB_BLOCK_CALL_FUNC_ARGLIST(yielded, self)) {
  (void)yielded, (void)self, (void)argc, (void)argv, (void)blockarg;
  probe_look(self);
  __asm__ volatile("" : : : "memory");
  return Qnil;
}

#define PROBE_CALLS 12

/* Call a method or block in C with one of the functions that C code has for
 * this; `way` selects the function. */
static __attribute__((noinline)) void probe_call(VALUE self, int way) {
  const ID look = rb_intern("look"), relay = rb_intern("relay");
  const VALUE block = rb_proc_new(probe_block, self),
              some[] = {Qnil, Qnil, Qnil};

  switch (way) {
  case 0:
    rb_funcall(self, look, 0);
    break;
  case 1:
    rb_check_funcall(self, look, 0, NULL);
    break;
  case 2:
    rb_funcallv(self, look, 0, NULL);
    break;
  case 3:
    rb_funcallv_kw(self, look, 0, NULL, RB_NO_KEYWORDS);
    break;
  case 4:
    rb_block_call(self, relay, 0, NULL, probe_block, self);
    break;
  case 5:
    rb_block_call_kw(self, relay, 0, NULL, probe_block, self, RB_NO_KEYWORDS);
    break;
  case 6:
    rb_funcall_with_block(self, relay, 0, NULL, block);
    break;
  case 7:
    rb_proc_call_kw(block, rb_ary_new(), RB_NO_KEYWORDS);
    break;
  case 8:
    rb_proc_call_with_block(block, 0, NULL, Qnil);
    break;
  default: /* select the other functions in probe_relay() */
    rb_funcall_with_block(self, relay, way - 8, some, block);
  }
  __asm__ volatile("" : : : "memory");
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

/* Read the native stack of `relay { look {} }`. The method `run`, which
 * rb_funcall() started, called "relay", and the block, which rb_yield()
 * started, called "look". So on the native stack the same functions of the
 * interpreter are the callers of probe_relay() and of probe_look(). The
 * outermost of these functions is vm_exec(), which runs Ruby code. */
static bool stack_read(const native_stack *stack, rb_sp_eval_range *out) {
  size_t look = stack_find(stack, (const void *)probe_look, 0);
  size_t relay = stack_find(stack, (const void *)probe_relay, look);
  size_t same = 0, i;

  while (relay + 1 + same < stack->count && look + 1 + same < relay &&
         stack->starts[look + 1 + same] == stack->starts[relay + 1 + same])
    same++;
  if (same == 0 || same > RB_SP_EVAL_FUNCTIONS_MAX)
    return false;
  for (i = 1; i <= same; i++)
    if (stack->starts[look + i] == 0)
      return false;
  out->run = function_range(stack->starts[look + same]);
  if (times_found(stack, out->run.start, look, relay) != 1)
    return false;
  out->call_count = 0;
  for (i = 1; i < same; i++)
    out->calls[out->call_count++] = function_range(stack->starts[look + i]);
  return true;
}

static bool range_known(const rb_sp_eval_range *range, uint64_t start) {
  size_t i;

  if (start == range->run.start)
    return true;
  for (i = 0; i < range->call_count; i++)
    if (range->calls[i].start == start)
      return true;
  return false;
}

/* Add the functions that call vm_exec(). */
static void callers_add(const native_stack *stack, rb_sp_eval_range *out) {
  size_t i;

  for (i = 0; i + 1 < stack->count; i++) {
    uint64_t caller = stack->starts[i + 1];

    if (stack->starts[i] == out->run.start && caller != 0 &&
        !range_known(out, caller) && out->call_count < RB_SP_EVAL_FUNCTIONS_MAX)
      out->calls[out->call_count++] = function_range(caller);
  }
}

static bool function_own(uint64_t start) {
  const void *const own[] = {
      (const void *)probe_look, (const void *)probe_relay,
      (const void *)probe_block, (const void *)probe_call};
  size_t i = 0;

  while (i < sizeof own / sizeof own[0] &&
         start != function_start((uint64_t)(uintptr_t)own[i]))
    i++;
  return i < sizeof own / sizeof own[0];
}

/* Add the functions of the interpreter between probe_call() and probe_look().
 */
static void callees_add(const native_stack *stack, rb_sp_eval_range *out) {
  const size_t end = stack_find(stack, (const void *)probe_call, 0);
  size_t i;

  for (i = 0; end < stack->count && i < end; i++) {
    uint64_t start = stack->starts[i];

    if (start != 0 && !function_own(start) && !range_known(out, start) &&
        out->call_count < RB_SP_EVAL_FUNCTIONS_MAX)
      out->calls[out->call_count++] = function_range(start);
  }
}

/* Ruby code in which C methods call a block in different ways. */
static const char *const probe_blocks[] = {
    "[1].each { look {} }",
    "1.times { look {} }",
    "[1, 2].sort { |a, b| look {}; a <=> b }",
    "[1].each_with_index { look {} }",
    "{1 => 2}.each { look {} }",
    "[1, 2].inject { look {} }",
    "instance_exec(1) { look {} }",
    "proc { look {} }.public_send(:call)",
};

static void probe_evaluate(const char *source) {
  VALUE text = rb_str_new_cstr(source);

  rb_obj_instance_eval(1, &text, probe_object);
}

void rb_sp_eval_range_init(void) {
  VALUE probe = rb_class_new(rb_cObject);

  probe_object = rb_obj_alloc(probe);
  rb_gc_register_mark_object(probe_object);
  rb_define_method(probe, "look", probe_look, 0);
  rb_define_method(probe, "relay", probe_relay, -1);
}

bool rb_sp_eval_range_find(rb_sp_eval_range *out) {
  size_t i;

  /* Both "relay" and "look" get a block, so that the interpreter uses the same
   * functions to call them. */
  probe_evaluate("def run; relay { look {} }; end");
  rb_funcall(probe_object, rb_intern("run"), 0);
  if (!stack_read(&probe_stack, out))
    return false;
  for (i = 0; i < sizeof probe_blocks / sizeof probe_blocks[0]; i++) {
    probe_evaluate(probe_blocks[i]);
    callers_add(&probe_stack, out);
  }
  for (i = 0; i < PROBE_CALLS; i++) {
    probe_call(probe_object, (int)i);
    callees_add(&probe_stack, out);
  }
  return true;
}
