/* From the bytes that a target answered to a profile in the store, by the way
 * that uploads go. */
#ifndef SP_SCRAPE_TAKE_H
#define SP_SCRAPE_TAKE_H

#include "scrape_delta.h"
#include "scrape_plan.h"
#include "server/model/serve.h"
#include "server/receive/wire/refusal.h"
#include "util/text/view.h"

/* Keep the profile; durable when this returns. `now_ns` is monotonic, and when
 * the answer came. Refuses what is no profile, or another kind than was asked
 * for; SPANPROF_ERR_NOMEM, and SPANPROF_ERR_LIMIT for a profile past a bound.
 */
spanprof_status sp_scrape_take(sp_serve *serve, const sp_scrape_probe *probe,
                               sp_scrape_delta *delta, sp_view answer,
                               uint64_t now_ns, sp_refusal *refusal);

#endif
