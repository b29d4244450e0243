/* The service of this process's spans, by the Resource of their tracer. Told
 * once, by spanprof_resource_set(), and kept for the sessions to come; a forked
 * child's spans may be of another, so it begins without. */
#ifndef SP_RESOURCE_H
#define SP_RESOURCE_H

#include "export/exporter.h"

/* Tell `exporter` what is known and what is told from now on; NULL: nobody,
 * when the call returns. */
void sp_resource_attach(sp_exporter *exporter);

/* Around a fork, after the session's lock and before the exporter's. */
void sp_resource_before_fork(void);
void sp_resource_after_fork(bool child);

#endif
