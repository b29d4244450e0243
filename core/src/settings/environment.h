/* The environment of the process. Callers pass it as an argument. */
#ifndef SP_ENVIRONMENT_H
#define SP_ENVIRONMENT_H

#include "util/memory/buffer.h"

/* Return the environment of the process. It is empty in a program with more
 * rights than the user who started it (setuid, file capabilities: AT_SECURE of
 * getauxval(3)), because that user could otherwise choose files and servers. */
char *const *sp_environment_own(void);

/* Return the value of `name`, or NULL if it is not set. "" counts as set. */
const char *sp_environment_find(char *const *environment, const char *name);

/* As sp_environment_find(), but "" counts as not set, as for a variable that a
 * shell or a manifest sets to nothing (OpenTelemetry specification v1.60.0,
 * specification/configuration/sdk-environment-variables.md, "Parsing empty
 * value"). */
const char *sp_environment_get(char *const *environment, const char *name);

/* Read true/false, 1/0, yes/no or on/off, in any case. SPANPROF_ERR_FORMAT:
 * another text. Leaves spanprof_last_error() unchanged. */
spanprof_status sp_environment_switch(const char *text, bool *out);

/* Write one line to `notes` with the names of all PYROSCOPE_* variables that
 * `known` rejects. (Kubernetes sets PYROSCOPE_PORT=tcp://... for a service of
 * that name, and other agents have their own variables.) Values are never
 * written, because they may be secrets. */
void sp_environment_note_unknown(char *const *environment,
                                 bool (*known)(const char *name, size_t bytes),
                                 sp_buffer *notes);

#endif
