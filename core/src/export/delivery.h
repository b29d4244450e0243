/* Delivers profiles to the callback on_profile, the output directory, the
 * server and the spool, and counts them. Only one thread at a time uses a
 * delivery: the uploading thread, or the thread that stops the session.
 *
 * Counts: the samples of a profile are counted once, after every configured
 * destination has been tried. They are counted as exported if at least one
 * destination accepted the profile, otherwise as dropped. The server has been
 * tried when it has accepted or finally refused the profile, or when the time
 * or the number of tries is used up. The samples of a profile in the spool are
 * pending until the session stops. Then they are counted as exported, because
 * the next process sends the profile. For spooled profiles of dead processes,
 * only profiles and bytes are counted.
 *
 * profiles_dropped counts every profile that was neither sent nor kept in the
 * spool, even if another destination accepted it.
 *
 * Backoff: after a failure no profile is sent before backoff_until_ns, however
 * many profiles wait. So a server that is down gets one request in each
 * backoff. If the server rejects the credentials, all pending profiles move to
 * the spool, if there is one, because often only a new process has better
 * credentials.
 *
 * A forked child assumes that the server is down for 20 s after a failure of
 * its parent or of another child. Otherwise, each of many short-lived children
 * would wait for a connection of its own. 20 s is enough for the parent's
 * backoff (10 s) and its next request (10 s). */
#ifndef SP_DELIVERY_H
#define SP_DELIVERY_H

#include "export/http/http_client.h"
#include "export/spool/spool.h"
#include "export/upload/series.h"
#include "export/upload/upload.h"
#include "profile_files.h"
#include "util/system/clock.h"
#include "util/system/counters.h"
#include "util/system/log.h"

/* The final result for a profile. */
typedef enum sp_outcome {
  SP_OUTCOME_EXPORTED,
  SP_OUTCOME_DROPPED_EXPORT,
  SP_OUTCOME_DROPPED_STOP,
} sp_outcome;

typedef struct sp_delivery {
  /* Fixed after sp_delivery_init(). */
  const sp_mem *mem;
  const sp_settings *settings;
  const sp_clock *clock;
  sp_log *log;
  sp_profile_files *files; /* NULL: there is no output directory */
  sp_spool *spool;         /* NULL: there is no spool or no server */
  /* Forked children assume until this time that the server is down. The process
   * and its forked children share the variable: the pointer leads to a shared
   * page, or to down_private if there was no memory for a shared page. */
  _Atomic uint64_t *down_until_ns;
  _Atomic uint64_t down_private;
  /* Used only by the thread that uses the delivery. */
  sp_http_client *client; /* NULL: there is no server, or no client yet */
  /* sp_delivery_query_links() describes it; or NULL. */
  void (*links_open)(void);
  sp_series series;
  uint32_t failures; /* number of consecutive failures */
  uint64_t backoff_until_ns;
  /* The server set backoff_until_ns or asked for fewer requests, or this
   * process has learned from its parent that the server is down. */
  bool backoff_ordered;
  /* The last answer may change with other credentials, with another address, or
   * with a new version of the server. */
  bool repairable;
  bool accepted;         /* the server has accepted a profile */
  bool spool_off_logged; /* the log says that the spool is off */
} sp_delivery;

/* Prepare the directories and the HTTP client. Returns the statuses of
 * sp_exporter_new(). If the function fails, `out` need not be disposed of. */
spanprof_status sp_delivery_init(sp_delivery *out, const sp_mem *mem,
                                 const sp_settings *settings,
                                 const sp_clock *clock, sp_log *log);
void sp_delivery_dispose(sp_delivery *delivery);

/* Is a server configured? */
bool sp_delivery_uploads(const sp_delivery *delivery);

/* Pass the upload to the callback on_profile, or write it to the output
 * directory. */
void sp_delivery_call_back(sp_delivery *delivery, sp_upload *upload);
void sp_delivery_write(sp_delivery *delivery, sp_upload *upload);

/* Is a server configured, but not yet an HTTP client created? */
bool sp_delivery_needs_client(const sp_delivery *delivery);

/* Create an HTTP client, which the caller stores in `client`. If this fails,
 * logs the reason and returns NULL. */
sp_http_client *sp_delivery_client_new(const sp_delivery *delivery);

/* Ask the server whether it opens links to spans, that is, whether its answer
 * has the header "Spanprof-Links: span". If this answer or a later one has the
 * header, links_open is called. Without an answer, it is not called. */
void sp_delivery_query_links(sp_delivery *delivery);

/* Is the backoff over? */
bool sp_delivery_backoff_over(const sp_delivery *delivery);

/* Send the upload to the server. Returns true if the upload will not be sent
 * again; *outcome is its result. Returns false if it must be sent again, not
 * before backoff_until_ns and not before its retry_ns. */
bool sp_delivery_send(sp_delivery *delivery, sp_upload *upload,
                      sp_outcome *outcome);

/* A spooled profile that is being sent. */
typedef struct sp_spooled {
  sp_spool_entry *entry;
  sp_spool_file file;
  sp_tries tries;
  bool over; /* it will not be sent again; see `outcome` */
  sp_outcome outcome;
} sp_spooled;

/* Send the next spooled profile in three steps: fetch it, send it, and update
 * the spool and the counts. The second step may take long and does not use the
 * spool. The first step returns false if there is no spooled profile, or if it
 * cannot be read now. The caller always disposes of out->file. */
bool sp_delivery_fetch_spooled(sp_delivery *delivery, sp_spooled *out);
void sp_delivery_send_spooled(sp_delivery *delivery, sp_spooled *spooled);
void sp_delivery_finish_spooled(sp_delivery *delivery,
                                const sp_spooled *spooled);

/* If it is time to look for files of dead processes in the spool, take over
 * these files. */
void sp_delivery_claim(sp_delivery *delivery);

/* Move the upload to the spool. It is counted when it leaves the spool, or at
 * the stop. Returns false if there is no spool or no space in it. */
bool sp_delivery_spool(sp_delivery *delivery, const sp_upload *upload);

/* Count the upload as exported if a destination accepted it, otherwise by its
 * `outcome`. */
void sp_delivery_count(const sp_upload *upload, sp_outcome outcome);

/* Count as exported: all profiles of this process that are in the spool. Called
 * at the stop. */
void sp_delivery_count_spooled(const sp_delivery *delivery);

/* Return the next time at which the spool or the end of the backoff needs work.
 */
uint64_t sp_delivery_next_ns(const sp_delivery *delivery);

/* Store for forked children that the server was down at `now_ns`. Any thread
 * may call this function. */
void sp_delivery_mark_down(sp_delivery *delivery, uint64_t now_ns);

/* Called in a forked child, which continues without the parent's connection and
 * files. */
void sp_delivery_after_fork_child(sp_delivery *delivery);

#endif
