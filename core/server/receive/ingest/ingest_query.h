/* Parameters of /ingest that describe a profile. */
#ifndef SP_INGEST_QUERY_H
#define SP_INGEST_QUERY_H

#include "profile/tables/arena.h"
#include "server/receive/profile/series_labels.h"
#include "server/receive/wire/refusal.h"

#define SP_INGEST_RATE_DEFAULT 100 /* Hz */

/* The parameter `name`: `app.cpu{region=eu,host=a}`. Label names and values are
 * not quoted. */
typedef struct sp_ingest_name {
  sp_view app;             /* "app.cpu" */
  sp_series_labels labels; /* if a label name occurs twice, the last one
                            * counts */
} sp_ingest_name;

/* Parse the parameter `name`. The texts of *out point into `name`; `mem`
 * allocates the list of labels. Refuses an invalid name with
 * SP_REFUSAL_INVALID. Dispose of *out also in this case. */
spanprof_status sp_ingest_name_read(sp_ingest_name *out, const sp_mem *mem,
                                    sp_view name, sp_refusal *refusal);
void sp_ingest_name_dispose(sp_ingest_name *name);

/* Parse a sample rate in Hz. Returns SP_INGEST_RATE_DEFAULT if the text is not
 * a whole number from 0 on. */
uint32_t sp_ingest_rate(const char *text);

/* Parse the parameter `from` or `until`. Returns a Unix time in nanoseconds.
 * Clients send "now", "now-10s" and numbers. As in Pyroscope, all other texts
 * and NULL stand for the current time. Returns INT64_MAX for a number out of
 * range or a day that does not exist, so that the checks of the profile refuse
 * the upload. */
int64_t sp_ingest_time(const char *text, int64_t now_ns);

#endif
