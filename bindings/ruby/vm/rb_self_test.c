#include "rb_self_test.h"

#include <errno.h>
#include <fcntl.h>
#include <ruby/debug.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rb_thread_table.h"

#define TEST_FRAMES_MAX 512

#define TEST_REASON_BYTES 128

/* Ruby code whose frames are difficult to walk. It has nested blocks, one of
 * which a C method calls, environments on the heap, and a method with the
 * special variable $~. */
static const char test_source[] = "def outer\n"
                                  "  'spanprof' =~ /span/\n"
                                  "  kept = proc { kept }\n"
                                  "  middle { [kept].sort_by { compare } }\n"
                                  "end\n"
                                  "def middle\n"
                                  "  yield\n"
                                  "end\n";
#define TEST_FRAMES_OWN 5

/* Number of frames that belong to the methods `outer` (the method and its two
 * blocks) and `middle`. The fifth frame belongs to `compare`, which is in C. */
#define TEST_FRAMES_OF_METHODS 4

static VALUE test_object = Qnil;

/* Data of test_compare(). Guarded by the GVL. */
static struct {
  const rb_sp_walker_config *config;
  const char *reason;
  int pipe[2];
} test;

/* Returns whether memory can be read, by letting the kernel write it to a pipe.
 * process_vm_readv() is not used, because containers may deny it (Docker's
 * default profile before Linux 4.8). */
static bool memory_readable(uint64_t at, size_t bytes) {
  char copy[128];

  return write(test.pipe[1], (const void *)(uintptr_t)at, bytes) ==
             (ssize_t)bytes &&
         read(test.pipe[0], copy, bytes) == (ssize_t)bytes;
}

/* Returns whether the memory at `thread` looks like the VM's data of a thread.
 * Checks each pointer before it is followed. */
static bool thread_plausible(const rb_sp_vm_layout *layout,
                             const void *thread) {
  const VALUE *ec, *stack, *frame;

  if (!memory_readable((uint64_t)(uintptr_t)thread, 64))
    return false;
  ec = *(const VALUE *const *)((const char *)thread + layout->thread_ec_bytes);
  if (!memory_readable((uint64_t)(uintptr_t)ec, 3 * sizeof(VALUE)))
    return false;
  stack = (const VALUE *)ec[RB_SP_EC_STACK];
  frame = (const VALUE *)ec[RB_SP_EC_FRAME];
  return frame > stack && frame < stack + ec[RB_SP_EC_STACK_WORDS] &&
         memory_readable((uint64_t)(uintptr_t)frame,
                         layout->control_frame_words * sizeof(VALUE));
}

/* Returns whether both are the same frame. The VM's own list has the method
 * entry or the iseq of a frame; which one it has for a block depends on the
 * version. */
static bool frame_same(const rb_sp_walked *ours, VALUE theirs) {
  if (theirs == ours->iseq || theirs == ours->method)
    return true;
  return ours->iseq && !ours->method &&
         rb_equal(rb_profile_frame_base_label(ours->iseq),
                  rb_profile_frame_base_label(theirs)) &&
         rb_equal(rb_profile_frame_path(ours->iseq),
                  rb_profile_frame_path(theirs));
}

/* Returns whether the walked frames are a subsequence of the VM's own list. The
 * list also has blocks in C and, in Ruby 3.1, a second <main>. */
static bool frames_agree(const rb_sp_walked *ours, size_t count,
                         const VALUE *theirs, int their_count) {
  size_t found = 0;
  int i;

  for (i = 0; i < their_count && found < count; i++)
    found += frame_same(&ours[found], theirs[i]);
  return found == count;
}

/* Returns whether the walk found the method entry of each frame of `outer` and
 * `middle`. */
static bool methods_agree(const rb_sp_walked *ours, size_t count) {
  size_t own = 0, i;

  for (i = 0; i < count; i++) {
    VALUE name;

    if (!ours[i].method)
      continue;
    name = rb_profile_frame_method_name(ours[i].method);
    if (!NIL_P(name) &&
        (rb_str_equal(name, rb_str_new_cstr("outer")) == Qtrue ||
         rb_str_equal(name, rb_str_new_cstr("middle")) == Qtrue))
      own++;
  }
  return own == TEST_FRAMES_OF_METHODS;
}

static bool instructions_agree(const rb_sp_walked *ours, size_t count) {
  size_t i;

  for (i = 0; i < count; i++) {
    rb_sp_instructions all;

    if (!ours[i].iseq)
      continue;
    if (!memory_readable(ours[i].iseq, 3 * sizeof(VALUE)) ||
        !rb_sp_imemo_is(ours[i].iseq, RB_SP_IMEMO_ISEQ))
      return false;
    all = rb_sp_iseq_instructions(ours[i].iseq);
    if (all.count == 0 || all.count > 1 << 24 ||
        !memory_readable((uint64_t)(uintptr_t)(all.first + all.count - 1),
                         sizeof(VALUE)))
      return false;
  }
  return true;
}

static const char *layout_check(const rb_sp_walker_config *config) {
  static rb_sp_walked ours[TEST_FRAMES_MAX];
  static VALUE theirs[TEST_FRAMES_MAX];
  static int lines[TEST_FRAMES_MAX];
  const void *thread = rb_sp_thread_pointer(rb_thread_current());
  size_t count;
  int their_count;

  if (!thread_plausible(&config->layout, thread))
    return "the VM's thread structure is not as expected";
  count = rb_sp_walker_look(config, thread, ours, TEST_FRAMES_MAX);
  their_count = rb_profile_frames(0, TEST_FRAMES_MAX, theirs, lines);
  if (count < TEST_FRAMES_OWN)
    return "the VM's frames are not as expected";
  if (!instructions_agree(ours, count))
    return "the VM's instruction sequences are not as expected";
  if (count < TEST_FRAMES_MAX && their_count < TEST_FRAMES_MAX &&
      !frames_agree(ours, count, theirs, their_count))
    return "spanprof read other frames than the VM reports";
  if (config->mode == RB_SP_WALKER_METHODS && !methods_agree(ours, count))
    return "the VM's method entries are not as expected";
  return NULL;
}

static VALUE test_compare(VALUE self) {
  (void)self;
  test.reason = layout_check(test.config);
  return INT2FIX(1);
}

void rb_sp_self_test_init(void) {
  VALUE tested = rb_class_new(rb_cObject);

  test_object = rb_obj_alloc(tested);
  rb_gc_register_mark_object(test_object);
  rb_define_method(tested, "compare", test_compare, 0);
}

static VALUE test_call(VALUE self) {
  rb_obj_instance_eval(1, (VALUE[]){rb_str_new_cstr(test_source)}, self);
  return rb_funcall(self, rb_intern("outer"), 0);
}

static VALUE test_end(VALUE self) {
  (void)self;
  close(test.pipe[0]);
  close(test.pipe[1]);
  return Qnil;
}

const char *rb_sp_self_test_run(const rb_sp_walker_config *config) {
  static char reason[TEST_REASON_BYTES];

  test.config = config;
  test.reason = "its self-test did not run";
  if (pipe2(test.pipe, O_CLOEXEC | O_NONBLOCK) != 0) {
    snprintf(reason, sizeof reason, "its self-test needs a pipe: %s",
             strerror(errno));
    return reason;
  }
  rb_ensure(test_call, test_object, test_end, Qnil);
  return test.reason;
}
