/* The service of this process's spans, from the Resource of their tracer.
 * spanprof_resource_set() sets it once, also for later sessions. A forked child
 * starts without one, because its spans may belong to another service. */
#ifndef SP_RESOURCE_H
#define SP_RESOURCE_H

#include "export/exporter.h"

/* Report the service to `exporter`, now and when it changes; NULL: to none.
 * After the return, the previous exporter is not used. */
void sp_resource_attach(sp_exporter *exporter);

/* Around a fork, between the session's locks and the exporter's. */
void sp_resource_before_fork(void);
void sp_resource_after_fork(bool child);

#endif
