/* From encoded profiles to the output directory, the server, the spool and the
 * user's callback: one queue, one thread.
 *
 * The thread starts at the session's start where there is a server, else, and
 * in a forked child, with the first profile (a child that never profiles has
 * none), blocks all signals, and does everything that can wait.
 * Whoever pushes never waits. */
#ifndef SP_EXPORTER_H
#define SP_EXPORTER_H

#include "profile/profile.h"
#include "settings/settings.h"
#include "util/system/clock.h"
#include "util/system/log.h"

typedef struct sp_exporter sp_exporter;

/* Prepare the directories and the HTTP client; starts no thread. `settings`,
 * `clock` and `log` outlive the exporter. SPANPROF_ERR_ARGUMENT,
 * SPANPROF_ERR_IO: a directory or file cannot be used, named in the error. */
spanprof_status sp_exporter_new(sp_exporter **out, const sp_mem *mem,
                                const sp_settings *settings,
                                const sp_clock *clock, sp_log *log);

/* The language runtime, as labels process.runtime.name and .version of what is
 * sent from now on. SPANPROF_ERR_NOMEM: as before. */
spanprof_status sp_exporter_runtime_set(sp_exporter *exporter, const char *name,
                                        const char *version);

/* The service of the spans, from their tracer's Resource (`name_space` NULL or
 * "": none). Where the settings leave the name open, and nobody has told yet,
 * profiles have it from now on (*adopted), those that wait for it too. A name
 * that is another than theirs is told of in the log, once in a process. Any
 * thread; waits for nothing. SPANPROF_ERR_NOMEM: as before. */
spanprof_status sp_exporter_service_set(sp_exporter *exporter, const char *name,
                                        const char *name_space, bool *adopted);

/* Have the thread ask the server, if there is one, whether it opens links to
 * spans. The thread calls `open` for this and each later answer that says so.
 */
void sp_exporter_query_links(sp_exporter *exporter, void (*open)(void));

/* From now on no name is waited for: what is pushed may be the last. */
void sp_exporter_end_name_wait(sp_exporter *exporter);

/* Take over a part (its bytes too, also on failure). Past queue_bytes the
 * oldest go to the spool, else are dropped and counted. Every sample of it ends
 * in samples_exported or samples_dropped_export / _stop, once (delivery.h says
 * when). */
void sp_exporter_push(sp_exporter *exporter, sp_encoded *part);

/* Wait until all that was pushed before is sent, written, spooled or counted as
 * dropped, at most until `until_ns` (clock's monotonic time). What waits for
 * its next try goes into the spool, if there is one. SPANPROF_ERR_TIMEOUT: some
 * of it still waits. */
spanprof_status sp_exporter_flush(sp_exporter *exporter, uint64_t until_ns);

/* The three steps at the end of a process. First: end a backoff now, unless the
 * server ordered it or this process inherited it. */
void sp_exporter_retry_now(sp_exporter *exporter);

/* Second: flush as sp_exporter_flush(), but do not wait for retries.
 * SPANPROF_ERR_IO: all remaining profiles wait for a retry. */
spanprof_status sp_exporter_flush_once(sp_exporter *exporter,
                                       uint64_t until_ns);

/* Third, if the server has not answered: have forked children assume that it is
 * down. */
void sp_exporter_mark_unanswered(sp_exporter *exporter);

/* One last try for everything, unless the server's answers forbid it, then the
 * spool, then drop and count; ends by
 * `until_ns` (at the earliest 100 ms from now) whatever the server does, and
 * frees the exporter. SPANPROF_ERR_TIMEOUT: samples were dropped.
 * SPANPROF_ERR_STATE: besides, the thread is stuck (in the user's callback, the
 * disk, or a name lookup of an old libcurl) and was left behind: `mem`,
 * `settings`, `clock` and `log` must never be freed. */
spanprof_status sp_exporter_stop(sp_exporter *exporter, uint64_t until_ns);

/* In a forked child: the parent's queue is the parent's to send. Frees what can
 * be freed without its thread and starts empty. Call sp_exporter_before_fork()
 * before the fork and one of the others after it. */
void sp_exporter_before_fork(sp_exporter *exporter);
void sp_exporter_after_fork_parent(sp_exporter *exporter);
void sp_exporter_after_fork_child(sp_exporter *exporter);

#endif
