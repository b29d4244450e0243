/* The process's environment, handed in, never read behind anyone's back. */
#ifndef SP_ENVIRONMENT_H
#define SP_ENVIRONMENT_H

#include "util/memory/buffer.h"

/* The process's own. Empty in a program that has more rights than whoever
 * started it (setuid, file capabilities: AT_SECURE of getauxval(3)): he would
 * choose where it writes and connects to. */
char *const *sp_environment_own(void);

/* The value of `name`, or NULL where it is not set. "" counts as set. */
const char *sp_environment_find(char *const *environment, const char *name);

/* The same, but "" counts as not set: what a variable emptied in a shell or a
 * manifest means (OpenTelemetry specification v1.60.0, specification/
 * configuration/sdk-environment-variables.md, "Parsing empty value"). */
const char *sp_environment_get(char *const *environment, const char *name);

/* true/false, 1/0, yes/no, on/off in any case. SPANPROF_ERR_FORMAT: none of
 * them; leaves spanprof_last_error() alone. */
spanprof_status sp_environment_switch(const char *text, bool *out);

/* Write one line to `notes` that names every PYROSCOPE_* variable `known` does
 * not know (Kubernetes sets PYROSCOPE_PORT=tcp://... for a service of that
 * name, and other agents have variables of their own). Values are never
 * written: they may be secrets. */
void sp_environment_note_unknown(char *const *environment,
                                 bool (*known)(const char *name, size_t bytes),
                                 sp_buffer *notes);

#endif
