/* Delivers profiles to the user's callback, the output directory, the server
 * and the spool, and counts them. Used by one thread at a time, the exporter's.
 *
 * Counts: the samples of a profile are counted once, after every configured
 * sink has been tried: as exported if at least one sink accepted the profile,
 * otherwise as dropped. The server has been tried when it accepted or finally
 * refused the profile, or when the time or the tries are used up. A profile in
 * the spool is pending while its process lives. At the stop it counts as
 * exported, because the next process sends it. For spooled profiles of dead
 * processes only profiles and bytes are counted.
 *
 * profiles_dropped counts every profile that was given up for the server or the
 * spool, even if another sink accepted it.
 *
 * Backoff: after a failure nothing is sent before backoff_until_ns, however
 * many profiles wait. A server that is down thus gets one request per backoff.
 * While it rejects our credentials, all pending profiles go into the spool, if
 * there is one: often only a new process has better ones.
 *
 * A forked child assumes that the server is down for 20 s after a failure of
 * its parent or of another child: by then the parent has tried again, its
 * backoff included. Without this, each of many short-lived children would wait
 * for a connection of its own. */
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

/* How a profile's way ended. */
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
  sp_profile_files *files; /* NULL: no output directory */
  sp_spool *spool;         /* NULL: none, or no server */
  /* Until then forked children assume that the server is down. Shared by the
   * process and its forked children: it points into a shared page, or, without
   * memory for one, to down_private. */
  _Atomic uint64_t *down_until_ns;
  _Atomic uint64_t down_private;
  /* Of the thread. */
  sp_http_client *client;   /* NULL: no server, or not made yet */
  void (*links_open)(void); /* see sp_delivery_query_links(); NULL: none */
  sp_series series;
  uint32_t failures; /* in a row */
  uint64_t backoff_until_ns;
  bool backoff_ordered;  /* the server set the time or asked for fewer requests,
                          * or the process inherited that the server is down */
  bool repairable;       /* the last answer was one that credentials, address or
                          * roll-out can mend */
  bool accepted;         /* the server took one */
  bool spool_off_logged; /* it was said that the spool is off */
} sp_delivery;

/* Statuses as of sp_exporter_new(); on failure nothing is held. */
spanprof_status sp_delivery_init(sp_delivery *out, const sp_mem *mem,
                                 const sp_settings *settings,
                                 const sp_clock *clock, sp_log *log);
void sp_delivery_dispose(sp_delivery *delivery);

/* Is there a server? */
bool sp_delivery_uploads(const sp_delivery *delivery);

/* The callback's turn, then the directory's. */
void sp_delivery_call_back(sp_delivery *delivery, sp_upload *upload);
void sp_delivery_write(sp_delivery *delivery, sp_upload *upload);

/* Is there a server, but no client for it yet? */
bool sp_delivery_needs_client(const sp_delivery *delivery);

/* Make one, which the caller puts in its place. NULL: told why. */
sp_http_client *sp_delivery_client_new(const sp_delivery *delivery);

/* Ask whether the server opens links to spans. No answer is a no. This answer
 * and each later one that says so calls links_open. */
void sp_delivery_query_links(sp_delivery *delivery);

/* Is it time to ask the server? */
bool sp_delivery_backoff_over(const sp_delivery *delivery);

/* The server's turn. True: it is over, *outcome says how. False: the profile is
 * to be sent again, at the earliest when backoff_until_ns and its retry_ns have
 * passed. */
bool sp_delivery_send(sp_delivery *delivery, sp_upload *upload,
                      sp_outcome *outcome);

/* One of the spool on its way to the server. */
typedef struct sp_spooled {
  sp_spool_entry *entry;
  sp_spool_file file;
  sp_tries tries;
  bool over; /* the server's turn; `outcome` says how */
  sp_outcome outcome;
} sp_spooled;

/* The same for the next one of the spool, in three steps: take it, send it, put
 * it right in spool and books. The second, which may take long, leaves the
 * spool to others. False: there is none, or it cannot be read now. Whatever
 * comes of it, the caller disposes of out->file. */
bool sp_delivery_fetch_spooled(sp_delivery *delivery, sp_spooled *out);
void sp_delivery_send_spooled(sp_delivery *delivery, sp_spooled *spooled);
void sp_delivery_finish_spooled(sp_delivery *delivery,
                                const sp_spooled *spooled);

/* Look for the spools of dead processes, if it is time. */
void sp_delivery_claim(sp_delivery *delivery);

/* Put into the spool, which settles it later. False: there is none, or no
 * room. */
bool sp_delivery_spool(sp_delivery *delivery, const sp_upload *upload);

/* Settle: exported if some sink has taken it, else as `outcome`. */
void sp_delivery_count(const sp_upload *upload, sp_outcome outcome);

/* Settle what lies in the spool of this process, at the stop. */
void sp_delivery_count_spooled(const sp_delivery *delivery);

/* When there is something to send or to look for, of spool and backoff alone.
 */
uint64_t sp_delivery_next_ns(const sp_delivery *delivery);

/* Record that the server was down at `now_ns`. Any thread. */
void sp_delivery_mark_down(sp_delivery *delivery, uint64_t now_ns);

/* In a forked child: start anew, without the parent's connection and files. */
void sp_delivery_after_fork_child(sp_delivery *delivery);

#endif
