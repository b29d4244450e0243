/* Takes profiles from programs that offer them, as Go's net/http/pprof does.
 *
 * Protocol: one thread drives all transfers (libcurl's multi interface), each
 * bounded in bytes and time, and takes what came the way uploads are taken. A
 * target that hangs holds its own transfer alone; the next of that probe begins
 * when it has ended. `lock` guards what /metrics shows. */
#ifndef SP_SCRAPER_H
#define SP_SCRAPER_H

#include "scrape_plan.h"
#include "server/model/serve.h"
#include "util/memory/buffer.h"

typedef struct sp_scraper sp_scraper;

/* `serve` and `plan` outlive it. SPANPROF_ERR_NOMEM, SPANPROF_ERR_SYSTEM. */
spanprof_status sp_scraper_start(sp_scraper **out, sp_serve *serve,
                                 const sp_scrape_plan *plan);

/* Have it end; NULL is fine. */
void sp_scraper_halt(sp_scraper *scraper);

/* End every transfer and the thread, and free it. False: the thread did not end
 * in time (in the disk, or a name lookup of an old libcurl), and uses the
 * server and the plan on. NULL is fine. */
bool sp_scraper_stop(sp_scraper *scraper);

/* Append the metrics of every target; NULL has none. Any thread. */
void sp_scraper_metrics(sp_scraper *scraper, sp_buffer *out);

#endif
