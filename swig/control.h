/* The functions of the control plane that each binding implements itself
 * (rb_session.c, py_session.c), because they wait without the VM's lock or
 * involve the VM. swig/spanprof.i wraps them for the language and converts
 * their arguments. Include this after rb_base.h or py_base.h. */
#ifndef SP_CONTROL_H
#define SP_CONTROL_H

#include <spanprof/spanprof.h>

/* The result of option_values.h. */
typedef struct sp_control_options {
  spanprof_options core;
  sp_object given; /* the mapping; valid during the call */
  sp_object kept;  /* the object that owns the memory to which `core` points */
} sp_control_options;

#define SP_CONTROL_OPTIONS_NONE ((sp_control_options){.kept = (sp_object)0})

/* Called with the VM's lock. Each returns a new object or raises (Python:
 * returns NULL). */
sp_object sp_control_check(const sp_control_options *options); /* Ruby only */
sp_object sp_control_level(const sp_control_options *options); /* Ruby only */
sp_object sp_control_start(const sp_control_options *options);
sp_object sp_control_flush(uint32_t timeout_ms);
sp_object sp_control_stop(uint32_t timeout_ms);
sp_object sp_control_pause(void);
sp_object sp_control_resume(void);
sp_object sp_control_running(void);

#endif
