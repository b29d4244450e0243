/* Parameters of /ingest that describe a profile. */
#ifndef SP_INGEST_QUERY_H
#define SP_INGEST_QUERY_H

#include "profile/tables/arena.h"
#include "server/receive/profile/series_labels.h"
#include "server/receive/wire/refusal.h"

#define SP_INGEST_RATE_DEFAULT 100 /* Hz */

/* `app.cpu{region=eu,host=a}`. Names and values are not quoted. */
typedef struct sp_ingest_name {
  sp_view app;             /* "app.cpu" */
  sp_series_labels labels; /* if a name occurs twice, the last counts */
} sp_ingest_name;

/* Read a name. Texts are in the arena or in `name`. Refuses as invalid. */
spanprof_status sp_ingest_name_read(sp_ingest_name *out, const sp_mem *mem,
                                    sp_view name, sp_refusal *refusal);
void sp_ingest_name_dispose(sp_ingest_name *name);

/* Parse a sample rate in Hz. Returns the default if the text is not a whole
 * number from 0 on. */
uint32_t sp_ingest_rate(const char *text);

/* Returns the time of `from` or `until` in nanoseconds. Clients send "now",
 * "now-10s" and numbers; as in Pyroscope, all other texts and NULL count as
 * now. INT64_MAX for a number out of range or a day that does not exist, so
 * that the checks of the profile refuse it. */
int64_t sp_ingest_time(const char *text, int64_t now_ns);

#endif
