/* The name of the service that the exported profiles belong to, and how long
 * profiles wait for it.
 *
 * If the settings leave the name open (settings->name_open), profiles wait for
 * the name from a tracer's Resource: at most 30 s after the first push, and
 * only while they use at most half of queue_bytes. A flush or a stop does not
 * wait. A name that arrives after the wait applies to the profiles that are
 * exported after it.
 *
 * The exporter's lock guards the structure. The callers of all functions hold
 * this lock, unless a comment says otherwise. */
#ifndef SP_SERVICE_NAME_H
#define SP_SERVICE_NAME_H

#include "export/upload/series.h"
#include "util/system/clock.h"
#include "util/system/log.h"

#define SP_SERVICE_NAME_WAIT_NS (30 * SP_NS_PER_S)

typedef struct sp_service_name {
  /* Fixed. */
  const sp_mem *mem;
  const sp_settings *settings;
  const sp_clock *clock;
  /* Guarded by the exporter's lock. */
  sp_series_facts facts;
  bool open; /* no name has arrived */
  /* The name has changed, but the output directory and the log still have the
   * old name. */
  bool renamed;
  char *other_name;       /* another name of the spans, to be logged, or NULL */
  uint64_t wait_until_ns; /* monotonic; 0: nothing was pushed */
  /* Labels that the delivery does not have yet; if its text is NULL, there are
   * none. */
  sp_series next_series;
} sp_service_name;

/* `settings` and `clock` must outlive the structure. */
void sp_service_name_init(sp_service_name *service, const sp_mem *mem,
                          const sp_settings *settings, const sp_clock *clock);

/* Do the work of sp_exporter_runtime_set(). */
spanprof_status sp_service_name_set_runtime(sp_service_name *service,
                                            const char *name,
                                            const char *version);

/* Do the work of sp_exporter_service_set(). */
spanprof_status sp_service_name_set(sp_service_name *service, const char *name,
                                    const char *name_space, bool *adopted);

/* Return the present name of the service, valid while the lock is held. */
const char *sp_service_name_text(const sp_service_name *service);

/* Called when a profile is pushed. The first call starts the wait for the name.
 */
void sp_service_name_begin_wait(sp_service_name *service);

/* End the wait for the name. */
void sp_service_name_end_wait(sp_service_name *service);

/* Do profiles still wait for a name? `queued_bytes` is the size of the queue.
 */
bool sp_service_name_is_awaited(const sp_service_name *service,
                                uint64_t queued_bytes);

/* Replace `series` by the newest labels, if they have changed. */
void sp_service_name_update_series(sp_service_name *service, sp_series *series);

/* Names that are to be logged. Each is NULL if there is none. */
typedef struct sp_service_news {
  char *name;  /* new name of the profiles */
  char *own;   /* name of the profiles, if it differs from `other` */
  char *other; /* name of the spans, if it differs from `own` */
} sp_service_news;

/* Take the names that are to be logged. Returns false if there are none. If
 * there is no memory, names are omitted. */
bool sp_service_name_fetch_news(sp_service_name *service, sp_service_news *out);

/* Log the names and free them. The caller does not hold the lock. */
void sp_service_news_log(sp_service_news *news, const sp_mem *mem, sp_log *log);

/* Called in a forked child: wait for a name again, because the child's spans
 * may belong to another service. Until a name arrives, the child uses the name
 * of its parent. */
void sp_service_name_after_fork_child(sp_service_name *service);

void sp_service_name_dispose(sp_service_name *service);

#endif
