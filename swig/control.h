/* What of the control plane each binding does its own way, because it waits
 * without its VM's lock or tells the VM's own parts (rb_session.c,
 * py_session.c). swig/spanprof.i makes functions of the language of it, and
 * converts what they are given. After rb_base.h or py_base.h. */
#ifndef SP_CONTROL_H
#define SP_CONTROL_H

#include <spanprof/spanprof.h>

/* Read from a mapping; option_values.h. */
typedef struct sp_control_options {
  spanprof_options core;
  sp_object given; /* the mapping: valid during the call */
  sp_object kept;  /* the object that owns what `core` points into */
} sp_control_options;

#define SP_CONTROL_OPTIONS_NONE ((sp_control_options){.kept = (sp_object)0})

/* Called with the VM's lock. Each returns a new object, or raises (Python:
 * NULL). */
sp_object sp_control_check(const sp_control_options *options); /* Ruby only */
sp_object sp_control_level(const sp_control_options *options); /* Ruby only */
sp_object sp_control_start(const sp_control_options *options);
sp_object sp_control_flush(uint32_t timeout_ms);
sp_object sp_control_stop(uint32_t timeout_ms);
sp_object sp_control_pause(void);
sp_object sp_control_resume(void);
sp_object sp_control_running(void);

#endif
