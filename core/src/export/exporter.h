/* Exports encoded profiles to the callback on_profile, the output directory,
 * the server and the spool, with one queue and one thread, the uploading
 * thread.
 *
 * If there is a server, the uploading thread starts when the session starts.
 * Without a server, and in a forked child, it starts with the first profile, so
 * a child without profiles has no such thread. The thread blocks all signals,
 * and does everything that may wait. sp_exporter_push() never waits. */
#ifndef SP_EXPORTER_H
#define SP_EXPORTER_H

#include "profile/profile.h"
#include "settings/settings.h"
#include "util/system/clock.h"
#include "util/system/log.h"

typedef struct sp_exporter sp_exporter;

/* Prepare the directories and the HTTP client. Starts no thread. `settings`,
 * `clock` and `log` must outlive the exporter. Returns SPANPROF_ERR_ARGUMENT or
 * SPANPROF_ERR_IO if a directory or file cannot be used (the last error names
 * it), or SPANPROF_ERR_NOMEM. */
spanprof_status sp_exporter_new(sp_exporter **out, const sp_mem *mem,
                                const sp_settings *settings,
                                const sp_clock *clock, sp_log *log);

/* Set the language runtime: the labels process.runtime.name and
 * process.runtime.version of profiles from now on. Returns SPANPROF_ERR_NOMEM
 * if nothing has changed for lack of memory. */
spanprof_status sp_exporter_runtime_set(sp_exporter *exporter, const char *name,
                                        const char *version);

/* Set the service of the spans, from the Resource of their tracer. `name_space`
 * may be NULL or "". If the settings leave the name open and this is the first
 * name, profiles have this name from now on, also profiles that wait for a
 * name, and *adopted becomes true. If the profiles have another name, a warning
 * is logged, once per process. Any thread may call this function. It does not
 * wait. Returns SPANPROF_ERR_NOMEM if nothing has changed for lack of memory.
 */
spanprof_status sp_exporter_service_set(sp_exporter *exporter, const char *name,
                                        const char *name_space, bool *adopted);

/* Have the uploading thread ask the server, if there is one, whether it opens
 * links to spans. The thread calls `open` if the answer, or a later answer of
 * the server, says that it does. */
void sp_exporter_query_links(sp_exporter *exporter, void (*open)(void));

/* Do not let profiles wait for the name of the service any longer, because the
 * next profile may be the last one. */
void sp_exporter_end_name_wait(sp_exporter *exporter);

/* Add a part of a profile to the queue. Takes ownership of its bytes, also if
 * there is no memory to add it. If the queue has more than queue_bytes, the
 * oldest parts move to the spool, or are dropped and counted. Each sample is
 * counted once, in samples_exported, samples_dropped_export or
 * samples_dropped_stop (see delivery.h). */
void sp_exporter_push(sp_exporter *exporter, sp_encoded *part);

/* Wait until all parts that were pushed before the call are sent, written,
 * spooled, or counted as dropped, at most until `until_ns` (the clock's
 * monotonic time). Parts that wait for their next try move to the spool, if
 * there is one. Returns SPANPROF_ERR_TIMEOUT if some parts still wait. */
spanprof_status sp_exporter_flush(sp_exporter *exporter, uint64_t until_ns);

/* The next three functions are called in this order before a process ends.
 * sp_exporter_retry_now() ends the backoff, so that profiles are sent at once,
 * unless the server ordered the backoff or this process inherited it from its
 * parent. */
void sp_exporter_retry_now(sp_exporter *exporter);

/* Do the same as sp_exporter_flush(), but do not wait for retries. Returns
 * SPANPROF_ERR_IO if all remaining profiles wait for a retry. */
spanprof_status sp_exporter_flush_once(sp_exporter *exporter,
                                       uint64_t until_ns);

/* Have forked children assume that the server is down. Called if
 * sp_exporter_flush_once() timed out because the server has not answered. */
void sp_exporter_mark_unanswered(sp_exporter *exporter);

/* Send every profile once more, unless the server's answers forbid it. Move the
 * remaining profiles to the spool, or drop and count them. Free the exporter.
 * Returns by `until_ns` or after 100 ms, whichever is later, whatever the
 * server does. Returns SPANPROF_ERR_TIMEOUT if samples were dropped. Returns
 * SPANPROF_ERR_STATE if the uploading thread was abandoned because it is stuck
 * (in the callback on_profile, at the disk, or in a name lookup of an old
 * libcurl); `mem`, `settings`, `clock` and `log` must then never be freed. */
spanprof_status sp_exporter_stop(sp_exporter *exporter, uint64_t until_ns);

/* Called before and after a fork. The child does not send its parent's
 * profiles: it starts with an empty queue. It frees the memory that the
 * parent's uploading thread was not using at the fork. */
void sp_exporter_before_fork(sp_exporter *exporter);
void sp_exporter_after_fork_parent(sp_exporter *exporter);
void sp_exporter_after_fork_child(sp_exporter *exporter);

#endif
