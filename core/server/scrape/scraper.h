/* Fetches profiles from programs that offer them, such as Go's net/http/pprof.
 *
 * Threads: the scraper thread drives all transfers with libcurl's multi
 * interface. Each transfer is limited in bytes and time, and its profile is
 * stored like an upload. A target that does not answer only delays its own
 * probes: the next transfer of a probe starts after the current one has ended.
 * `lock` guards the state that /metrics shows. */
#ifndef SP_SCRAPER_H
#define SP_SCRAPER_H

#include "scrape_plan.h"
#include "server/model/serve.h"
#include "util/memory/buffer.h"

typedef struct sp_scraper sp_scraper;

/* Start the scraper thread. `serve` and `plan` must live longer than the
 * scraper. Can return SPANPROF_ERR_NOMEM and SPANPROF_ERR_SYSTEM. */
spanprof_status sp_scraper_start(sp_scraper **out, sp_serve *serve,
                                 const sp_scrape_plan *plan);

/* Tell the scraper thread to stop, without waiting for it. Accepts NULL. */
void sp_scraper_halt(sp_scraper *scraper);

/* Stop all transfers and the scraper thread, and free the scraper. Returns
 * false if the thread did not stop in time, because it waits for the disk or
 * for a name lookup of an old libcurl. In this case, the thread continues to
 * use the scraper, `serve` and `plan`. Accepts NULL. */
bool sp_scraper_stop(sp_scraper *scraper);

/* Append the metrics of all targets. Accepts NULL. Threads: any. */
void sp_scraper_metrics(sp_scraper *scraper, sp_buffer *out);

#endif
