/* Stores the profile that a target has sent, after the same checks as for an
 * upload. */
#ifndef SP_SCRAPE_STORE_H
#define SP_SCRAPE_STORE_H

#include "scrape_delta.h"
#include "scrape_plan.h"
#include "server/model/serve.h"
#include "server/receive/wire/refusal.h"
#include "util/text/view.h"

/* Store the profile; it is on disk when this returns. `now_ns` is the monotonic
 * time of the answer. Refuses malformed profiles and profiles of another kind.
 * SPANPROF_ERR_NOMEM; SPANPROF_ERR_LIMIT for a profile beyond a bound. */
spanprof_status sp_scrape_store(sp_serve *serve, const sp_scrape_probe *probe,
                                sp_scrape_delta *delta, sp_view answer,
                                uint64_t now_ns, sp_refusal *refusal);

#endif
