/* What the log is told of profiles that server or spool did not take. */
#ifndef SP_DELIVERY_LOG_H
#define SP_DELIVERY_LOG_H

#include "delivery.h"
#include "export/upload/retry.h"

/* What the server answered, if anything, and what comes of it. */
void sp_delivery_log_failure(const sp_delivery *delivery,
                             const sp_http_answer *answer,
                             const sp_retry *retry);

/* That `what` failed at the spool, and why. Where nothing can be locked the
 * spool is off, and that is said once. */
void sp_delivery_log_spool(sp_delivery *delivery, const char *what,
                           spanprof_status st);

#endif
