#include "rb_vm_layout.h"

#include <ruby/debug.h>
#include <ruby/version.h>
#include <stdlib.h>

/* Positions of fields. rb_iseq_t consists of the words flags, wrapper and body.
 * rb_iseq_constant_body begins with type and iseq_size (32 bits each) and
 * iseq_encoded. */
#define ISEQ_BODY_WORD         2
#define BODY_COUNT_BYTES       4
#define BODY_INSTRUCTIONS_WORD 1

static const rb_sp_vm_layout layout_3_1 = {.thread_ec_bytes = 40,
                                           .control_frame_words = 8};
static const rb_sp_vm_layout layout_3_2 = {.thread_ec_bytes = 48,
                                           .control_frame_words = 8};
static const rb_sp_vm_layout layout_3_3 = {.thread_ec_bytes = 48,
                                           .control_frame_words = 7};

const rb_sp_vm_layout *rb_sp_vm_layout_find(int major, int minor) {
  static const struct {
    int major, minor;
    const rb_sp_vm_layout *layout;
  } known[] = {{3, 1, &layout_3_1},
               {3, 2, &layout_3_2},
               {3, 3, &layout_3_3},
               {3, 4, &layout_3_3}};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(known); i++)
    if (known[i].major == major && known[i].minor == minor)
      return known[i].layout;
  return NULL;
}

static bool version_from(int minor) {
  return ruby_api_version[0] > 3 ||
         (ruby_api_version[0] == 3 && ruby_api_version[1] >= minor);
}

/* Reads the environment variable in the same way as ruby_mn_threads_params() in
 * thread_pthread.c. */
bool rb_sp_vm_threads_move(void) {
  const char *many = getenv("RUBY_MN_THREADS");

  return version_from(3) && many && atoi(many) > 0;
}

bool rb_sp_vm_frees_signal_stack(void) {
  return version_from(2);
}

rb_sp_instructions rb_sp_iseq_instructions(VALUE iseq) {
  const char *body = ((const char *const *)iseq)[ISEQ_BODY_WORD];

  return (rb_sp_instructions){
      .first = ((const VALUE *const *)body)[BODY_INSTRUCTIONS_WORD],
      .count = *(const uint32_t *)(body + BODY_COUNT_BYTES)};
}

/* One for the process, because Ruby never removes a registered job. */
#if RUBY_API_VERSION_CODE >= 30300
static rb_postponed_job_handle_t vm_job;

void rb_sp_vm_job_init(void (*run)(void *data)) {
  vm_job = rb_postponed_job_preregister(0, run, NULL);
}

void rb_sp_vm_job_trigger(void) {
  rb_postponed_job_trigger(vm_job);
}
#else
static void (*vm_job)(void *data);

void rb_sp_vm_job_init(void (*run)(void *data)) {
  vm_job = run;
}

void rb_sp_vm_job_trigger(void) {
  rb_postponed_job_register_one(0, vm_job, NULL);
}
#endif
