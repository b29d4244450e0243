/* What the log is told of a profile that the server did not take. */
#ifndef SP_DELIVERY_LOG_H
#define SP_DELIVERY_LOG_H

#include "delivery.h"
#include "retry.h"

/* What the server answered, if anything, and what comes of it. */
void sp_delivery_log_failure(const sp_delivery *delivery,
                             const sp_http_answer *answer,
                             const sp_retry *retry);

#endif
