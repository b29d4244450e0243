/* The environment of the process. The functions receive the environment as an
 * argument, so that tests can pass their own. */
#ifndef SP_ENVIRONMENT_H
#define SP_ENVIRONMENT_H

#include "util/memory/buffer.h"

/* Return the environment of the process. It is empty in a program with more
 * rights than the user who started it (setuid, file capabilities: AT_SECURE of
 * getauxval(3)), because that user could otherwise choose files and servers. */
char *const *sp_environment_own(void);

/* Return the value of `name`, or NULL if it is not set. "" counts as set. */
const char *sp_environment_find(char *const *environment, const char *name);

/* Return the value of `name`, or NULL if it is not set or "". A shell or a
 * manifest may set a variable to nothing (OpenTelemetry specification v1.60.0,
 * specification/configuration/sdk-environment-variables.md, "Parsing empty
 * value"). */
const char *sp_environment_get(char *const *environment, const char *name);

/* Read true/false, 1/0, yes/no or on/off, in upper or lower case. Returns
 * SPANPROF_ERR_FORMAT for any other text. Does not set the last error. */
spanprof_status sp_environment_switch(const char *text, bool *out);

/* Write one line to `notes` with the names of all PYROSCOPE_* variables that
 * `known` rejects. (Kubernetes sets PYROSCOPE_PORT=tcp://... for a service of
 * that name, and other agents have their own variables.) Values are never
 * written, because they may be secrets. */
void sp_environment_note_unknown(char *const *environment,
                                 bool (*known)(const char *name, size_t bytes),
                                 sp_buffer *notes);

#endif
