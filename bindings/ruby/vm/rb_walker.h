/* The walk over the VM's control frames, in the signal handler. */
#ifndef RB_WALKER_H
#define RB_WALKER_H

#include <ruby.h>
#include <spanprof/runtime.h>

#include "rb_vm_layout.h"

/* How much of the VM's layout the walk relies on. */
typedef enum rb_sp_walker_mode {
  RB_SP_WALKER_METHODS, /* frames with their classes */
  RB_SP_WALKER_FRAMES,  /* follows no environments: Ruby code has no classes */
  RB_SP_WALKER_OFF
} rb_sp_walker_mode;

typedef struct rb_sp_walker_config {
  rb_sp_vm_layout layout;
  rb_sp_walker_mode mode;
} rb_sp_walker_config;

/* Set before the runtime is registered, unchanged until it is removed. */
void rb_sp_walker_configure(const rb_sp_walker_config *config);

/* The `walk` of the runtime. */
size_t rb_sp_walker_walk(void *data, const spanprof_capture *capture,
                         spanprof_frame *frames, size_t max, int *cut);

/* The `stack_end` of the runtime: the VM stack of a thread or fiber is a piece
 * of its native stack, further out than all frames of interest. */
uint64_t rb_sp_walker_stack_end(void *data, const spanprof_capture *capture);

/* One frame as the VM has it, for the self-test: with the GVL, of the calling
 * thread. Returns how many there are, at most `max`. */
typedef struct rb_sp_walked {
  VALUE iseq;   /* 0: a C method */
  VALUE method; /* 0: none */
} rb_sp_walked;

size_t rb_sp_walker_look(const rb_sp_walker_config *config, const void *thread,
                         rb_sp_walked *frames, size_t max);

/* Frames whose method was not found: an environment around them was being moved
 * to the heap or overwritten, or there are too many. */
uint64_t rb_sp_walker_torn(void);

#endif
