/* Walks the VM's control frames in the signal handler. */
#ifndef RB_WALKER_H
#define RB_WALKER_H

#include <ruby.h>
#include <spanprof/runtime.h>

#include "rb_vm_layout.h"

/* The parts of the VM's memory layout that the walk reads. */
typedef enum rb_sp_walker_mode {
  RB_SP_WALKER_METHODS, /* all parts, so frames have methods and classes */
  /* all parts except environments, so frames of Ruby code have no classes */
  RB_SP_WALKER_FRAMES,
  RB_SP_WALKER_OFF
} rb_sp_walker_mode;

typedef struct rb_sp_walker_config {
  rb_sp_vm_layout layout;
  rb_sp_walker_mode mode;
} rb_sp_walker_config;

/* Set the configuration of the walker. Called before the runtime is registered;
 * it must not change until the runtime is removed. */
void rb_sp_walker_configure(const rb_sp_walker_config *config);

/* The function `walk` of the spanprof_runtime. */
size_t rb_sp_walker_walk(void *data, const spanprof_capture *capture,
                         spanprof_frame *frames, size_t max, int *cut);

/* The function `stack_end` of the spanprof_runtime. Returns the lowest address
 * of the VM stack. The VM allocates this stack on the native stack of the
 * thread or fiber, and all native frames of interest are at lower addresses. */
uint64_t rb_sp_walker_stack_end(void *data, const spanprof_capture *capture);

/* A frame for the self-test. rb_sp_walker_look() walks the calling thread,
 * which holds the GVL, and returns the number of frames. This is at most `max`.
 */
typedef struct rb_sp_walked {
  VALUE iseq;   /* 0 for a C method */
  VALUE method; /* 0 if there is none */
} rb_sp_walked;

size_t rb_sp_walker_look(const rb_sp_walker_config *config, const void *thread,
                         rb_sp_walked *frames, size_t max);

/* Returns the number of frames whose method was not found. The reason is that
 * an environment around the frame was being moved to the heap or overwritten,
 * or that there were more environments than the walk reads. */
uint64_t rb_sp_walker_torn(void);

#endif
