/* Stores the profile that a target has sent, after the same checks as for an
 * upload. */
#ifndef SP_SCRAPE_STORE_H
#define SP_SCRAPE_STORE_H

#include "scrape_delta.h"
#include "scrape_plan.h"
#include "server/model/serve.h"
#include "server/receive/wire/refusal.h"
#include "util/text/view.h"

/* Store the profile in `answer`. The profile is on disk when this function
 * returns. `now_ns` is the monotonic time of the answer. Refuses a malformed
 * profile with SP_REFUSAL_BROKEN, and a profile of another kind with
 * SP_REFUSAL_INVALID. Can return SPANPROF_ERR_NOMEM, and SPANPROF_ERR_LIMIT if
 * the profile exceeds a limit. */
spanprof_status sp_scrape_store(sp_serve *serve, const sp_scrape_probe *probe,
                                sp_scrape_delta *delta, sp_view answer,
                                uint64_t now_ns, sp_refusal *refusal);

#endif
