/* Exports encoded profiles to the user's callback, the output directory, the
 * server and the spool, with one queue and one thread.
 *
 * The thread starts at the session's start if there is a server; otherwise, and
 * in a forked child, with the first profile. (A child that never profiles has
 * no thread.) It blocks all signals, and does everything that may wait. A push
 * never waits. */
#ifndef SP_EXPORTER_H
#define SP_EXPORTER_H

#include "profile/profile.h"
#include "settings/settings.h"
#include "util/system/clock.h"
#include "util/system/log.h"

typedef struct sp_exporter sp_exporter;

/* Prepare the directories and the HTTP client. Starts no thread. `settings`,
 * `clock` and `log` must outlive the exporter. SPANPROF_ERR_ARGUMENT,
 * SPANPROF_ERR_IO: a directory or file cannot be used; the error names it. */
spanprof_status sp_exporter_new(sp_exporter **out, const sp_mem *mem,
                                const sp_settings *settings,
                                const sp_clock *clock, sp_log *log);

/* Set the language runtime: the labels process.runtime.name and .version of
 * profiles from now on. SPANPROF_ERR_NOMEM: nothing changes. */
spanprof_status sp_exporter_runtime_set(sp_exporter *exporter, const char *name,
                                        const char *version);

/* Set the service of the spans, from the Resource of their tracer. `name_space`
 * may be NULL or "". If the settings leave the name open, and this is the first
 * name, profiles have it from now on, also the waiting ones, and *adopted
 * becomes true. If the name differs from the profiles' name, a warning is
 * logged, once per process. Any thread may call this. It does not wait.
 * SPANPROF_ERR_NOMEM: nothing changes. */
spanprof_status sp_exporter_service_set(sp_exporter *exporter, const char *name,
                                        const char *name_space, bool *adopted);

/* Have the thread ask the server, if there is one, whether it opens links to
 * spans. The thread calls `open` if this answer or a later one says so. */
void sp_exporter_query_links(sp_exporter *exporter, void (*open)(void));

/* Stop waiting for a name of the service, because the next profile may be the
 * last. */
void sp_exporter_end_name_wait(sp_exporter *exporter);

/* Add a part. Takes ownership of its bytes, also on failure. Beyond
 * queue_bytes, the oldest parts move to the spool, or are dropped and counted.
 * Each sample is counted once, in samples_exported, samples_dropped_export or
 * samples_dropped_stop (see delivery.h). */
void sp_exporter_push(sp_exporter *exporter, sp_encoded *part);

/* Wait until all earlier parts are sent, written, spooled, or counted as
 * dropped, at most until `until_ns` (the clock's monotonic time). Parts that
 * wait for their next try move to the spool, if there is one.
 * SPANPROF_ERR_TIMEOUT: some parts still wait. */
spanprof_status sp_exporter_flush(sp_exporter *exporter, uint64_t until_ns);

/* The three steps before a process ends. First: end a backoff, unless the
 * server ordered it or this process inherited it. */
void sp_exporter_retry_now(sp_exporter *exporter);

/* Second: as sp_exporter_flush(), but do not wait for retries. SPANPROF_ERR_IO:
 * all remaining profiles wait for a retry. */
spanprof_status sp_exporter_flush_once(sp_exporter *exporter,
                                       uint64_t until_ns);

/* Third, if the server has not answered: have forked children assume that the
 * server is down. */
void sp_exporter_mark_unanswered(sp_exporter *exporter);

/* Try every profile once more, unless the server's answers forbid it; then
 * spool, or drop and count, the remaining ones. Ends by `until_ns` (at the
 * earliest 100 ms from now), whatever the server does, and frees the exporter.
 * SPANPROF_ERR_TIMEOUT: samples were dropped. SPANPROF_ERR_STATE: also, the
 * thread is stuck (in the user's callback, the disk, or a name lookup of an old
 * libcurl) and was abandoned: `mem`, `settings`, `clock` and `log` must never
 * be freed. */
spanprof_status sp_exporter_stop(sp_exporter *exporter, uint64_t until_ns);

/* Around a fork. The child does not send its parent's profiles: it starts with
 * an empty queue, and frees the memory that the parent's thread did not use. */
void sp_exporter_before_fork(sp_exporter *exporter);
void sp_exporter_after_fork_parent(sp_exporter *exporter);
void sp_exporter_after_fork_child(sp_exporter *exporter);

#endif
