/* What the query string of /ingest says of a profile. */
#ifndef SP_INGEST_QUERY_H
#define SP_INGEST_QUERY_H

#include "profile/tables/arena.h"
#include "server/receive/profile/series_labels.h"
#include "server/receive/wire/refusal.h"

#define SP_INGEST_RATE_DEFAULT 100 /* Hz */

/* `app.cpu{region=eu,host=a}`: names and values as they stand, no quotes. */
typedef struct sp_ingest_name {
  sp_view app;             /* "app.cpu" */
  sp_series_labels labels; /* of one name twice the last alone */
} sp_ingest_name;

/* Texts are in the arena or in `name`. Refuses as invalid. */
spanprof_status sp_ingest_name_read(sp_ingest_name *out, const sp_mem *mem,
                                    sp_view name, sp_refusal *refusal);
void sp_ingest_name_dispose(sp_ingest_name *name);

/* Samples a second; what is no whole number from 0 on is the default. */
uint32_t sp_ingest_rate(const char *text);

/* The time of `from` or `until` in nanoseconds. Clients send "now", "now-10s"
 * and numbers; as in Pyroscope, all other texts and NULL count as now. INT64_MAX
 * for a number out of range or a day that does not exist, so that the checks of
 * the profile refuse it. */
int64_t sp_ingest_time(const char *text, int64_t now_ns);

#endif
