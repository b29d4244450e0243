/* The service of this process's spans, from the Resource of their tracer.
 * spanprof_resource_set() sets the service for the present and all later
 * sessions. A forked child starts without a service, because its spans may
 * belong to another one. */
#ifndef SP_RESOURCE_H
#define SP_RESOURCE_H

#include "export/exporter.h"

/* Report the service to `exporter` now, and whenever it changes. NULL: report
 * it to no exporter. After the function has returned, the previous exporter is
 * not used. */
void sp_resource_attach(sp_exporter *exporter);

/* Called before and after a fork. The lock is acquired after the session's
 * locks and before the exporter's lock. */
void sp_resource_before_fork(void);
void sp_resource_after_fork(bool child);

#endif
