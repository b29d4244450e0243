/* Delivers profiles to the user's callback, the output directory, the server
 * and the spool, and counts them. Used by one thread at a time, normally the
 * uploading thread.
 *
 * Counts: the samples of a profile are counted once, after every configured
 * destination has been tried: as exported if at least one destination accepted
 * the profile, otherwise as dropped. The server has been tried when it accepted
 * or finally refused the profile, or when the time or the number of tries is
 * used up. A profile in the spool is pending while its process lives. At the
 * stop it counts as exported, because the next process sends it. For spooled
 * profiles of dead processes, only profiles and bytes are counted.
 *
 * profiles_dropped counts every profile that was neither sent nor kept in the
 * spool, even if another destination accepted it.
 *
 * Backoff: after a failure nothing is sent before backoff_until_ns, however
 * many profiles wait. A server that is down thus gets one request per backoff.
 * If the server rejects the credentials, all pending profiles move to the
 * spool, if there is one, because often only a new process has better
 * credentials.
 *
 * A forked child assumes that the server is down for 20 s after a failure of
 * its parent or of another child. This time includes the parent's backoff and
 * its next request. Otherwise, each of many short-lived children would wait for
 * a connection of its own. */
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
   * page, or, without memory for one, to down_private. */
  _Atomic uint64_t *down_until_ns;
  _Atomic uint64_t down_private;
  /* Used by the thread. */
  sp_http_client *client;   /* NULL: there is no server, or no client yet */
  void (*links_open)(void); /* see sp_delivery_query_links(); may be NULL */
  sp_series series;
  uint32_t failures; /* consecutive */
  uint64_t backoff_until_ns;
  bool backoff_ordered;  /* the server set the time or asked for fewer requests,
                          * or the process inherited that the server is down */
  bool repairable;       /* other credentials, another address or a roll-out can
                          * change the last answer */
  bool accepted;         /* the server has accepted a profile */
  bool spool_off_logged; /* the log says that the spool is off */
} sp_delivery;

/* Statuses: as sp_exporter_new(). On failure, `out` needs no dispose. */
spanprof_status sp_delivery_init(sp_delivery *out, const sp_mem *mem,
                                 const sp_settings *settings,
                                 const sp_clock *clock, sp_log *log);
void sp_delivery_dispose(sp_delivery *delivery);

/* Is there a server? */
bool sp_delivery_uploads(const sp_delivery *delivery);

/* Pass the upload to the callback; write it to the output directory. */
void sp_delivery_call_back(sp_delivery *delivery, sp_upload *upload);
void sp_delivery_write(sp_delivery *delivery, sp_upload *upload);

/* Is there a server, but no client yet? */
bool sp_delivery_needs_client(const sp_delivery *delivery);

/* Create a client, which the caller stores. Returns NULL after logging the
 * reason if it fails. */
sp_http_client *sp_delivery_client_new(const sp_delivery *delivery);

/* Ask the server whether it opens links to spans. No answer means no. This
 * answer, and each later answer with the header, calls links_open. */
void sp_delivery_query_links(sp_delivery *delivery);

/* Is the backoff over? */
bool sp_delivery_backoff_over(const sp_delivery *delivery);

/* Send the upload to the server. Returns true if the server is finished with
 * it; *outcome is the result. Returns false if the upload must be sent again,
 * at the earliest after backoff_until_ns and its retry_ns. */
bool sp_delivery_send(sp_delivery *delivery, sp_upload *upload,
                      sp_outcome *outcome);

/* A spooled profile that is being sent. */
typedef struct sp_spooled {
  sp_spool_entry *entry;
  sp_spool_file file;
  sp_tries tries;
  bool over; /* the server is finished with it; `outcome` is the result */
  sp_outcome outcome;
} sp_spooled;

/* Send the next spooled profile in three steps: fetch it, send it, and update
 * the spool and the counts. The second step may take long and does not use the
 * spool. The first step returns false if there is no profile, or it cannot be
 * read now. The caller always disposes of out->file. */
bool sp_delivery_fetch_spooled(sp_delivery *delivery, sp_spooled *out);
void sp_delivery_send_spooled(sp_delivery *delivery, sp_spooled *spooled);
void sp_delivery_finish_spooled(sp_delivery *delivery,
                                const sp_spooled *spooled);

/* Take over the spools of dead processes, if it is time to look for them. */
void sp_delivery_claim(sp_delivery *delivery);

/* Move the upload to the spool, which counts it later. Returns false if there
 * is no spool or no space. */
bool sp_delivery_spool(sp_delivery *delivery, const sp_upload *upload);

/* Count the upload: as exported if a destination accepted it, otherwise as
 * `outcome`. */
void sp_delivery_count(const sp_upload *upload, sp_outcome outcome);

/* At the stop, count the profiles of this process that are in the spool. */
void sp_delivery_count_spooled(const sp_delivery *delivery);

/* The next time at which the spool or the backoff needs work. */
uint64_t sp_delivery_next_ns(const sp_delivery *delivery);

/* Record that the server was down at `now_ns`. Any thread. */
void sp_delivery_mark_down(sp_delivery *delivery, uint64_t now_ns);

/* In a forked child: continue without the parent's connection and files. */
void sp_delivery_after_fork_child(sp_delivery *delivery);

#endif
