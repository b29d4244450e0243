/* Walks the VM's control frames in the signal handler. */
#ifndef RB_WALKER_H
#define RB_WALKER_H

#include <ruby.h>
#include <spanprof/runtime.h>

#include "rb_vm_layout.h"

/* The parts of the VM's memory layout that the walk reads. */
typedef enum rb_sp_walker_mode {
  RB_SP_WALKER_METHODS, /* all parts: frames have methods and classes */
  RB_SP_WALKER_FRAMES,  /* all but environments: frames of Ruby code have no
                           classes */
  RB_SP_WALKER_OFF
} rb_sp_walker_mode;

typedef struct rb_sp_walker_config {
  rb_sp_vm_layout layout;
  rb_sp_walker_mode mode;
} rb_sp_walker_config;

/* Set the configuration. Called before the runtime is registered; it must not
 * change until the runtime is removed. */
void rb_sp_walker_configure(const rb_sp_walker_config *config);

/* The `walk` of the runtime. */
size_t rb_sp_walker_walk(void *data, const spanprof_capture *capture,
                         spanprof_frame *frames, size_t max, int *cut);

/* The `stack_end` of the runtime: the VM stack of a thread or fiber is a part
 * of its native stack, and all frames of interest are further in. */
uint64_t rb_sp_walker_stack_end(void *data, const spanprof_capture *capture);

/* A frame as the self-test sees it. rb_sp_walker_look() walks the calling
 * thread, which holds the GVL, and returns the number of frames, at most `max`.
 */
typedef struct rb_sp_walked {
  VALUE iseq;   /* 0 for a C method */
  VALUE method; /* 0 if there is none */
} rb_sp_walked;

size_t rb_sp_walker_look(const rb_sp_walker_config *config, const void *thread,
                         rb_sp_walked *frames, size_t max);

/* Number of frames whose method was not found: an environment around them was
 * being moved to the heap or overwritten, or there were more environments than
 * the walk reads. */
uint64_t rb_sp_walker_torn(void);

#endif
