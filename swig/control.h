/* The functions that control sessions and that each binding implements itself
 * (rb_session.c, py_session.c), because they wait without the VM's lock or use
 * the VM. swig/spanprof.i wraps them for the language and converts their
 * arguments. Include rb_base.h or py_base.h before this file. */
#ifndef SP_CONTROL_H
#define SP_CONTROL_H

#include <spanprof/spanprof.h>

/* The options that option_values.h makes from a mapping of the language. */
typedef struct sp_control_options {
  spanprof_options core;
  sp_object given; /* the mapping; valid during the call */
  sp_object kept;  /* the object that owns the memory to which `core` points */
} sp_control_options;

#define SP_CONTROL_OPTIONS_NONE ((sp_control_options){.kept = (sp_object)0})

/* The caller holds the VM's lock. Each function returns a new object or raises
 * (Python: returns NULL). */
sp_object sp_control_check(const sp_control_options *options); /* Ruby only */
sp_object sp_control_level(const sp_control_options *options); /* Ruby only */
sp_object sp_control_start(const sp_control_options *options);
sp_object sp_control_flush(uint32_t timeout_ms);
sp_object sp_control_stop(uint32_t timeout_ms);
sp_object sp_control_pause(void);
sp_object sp_control_resume(void);
sp_object sp_control_running(void);

#endif
