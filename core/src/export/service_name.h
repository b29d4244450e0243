/* The name of the service that the exported profiles belong to, and how long
 * profiles wait for it.
 *
 * If the settings leave the name open (settings->name_open), profiles wait for
 * the name in a tracer's Resource: at most 30 s after the first push, and while
 * they use at most half of queue_bytes. A flush or a stop does not wait. A name
 * that arrives later applies to later profiles.
 *
 * The exporter's lock guards the structure. Callers hold it, unless a comment
 * says otherwise. */
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
  bool open;        /* no name has arrived */
  bool renamed;     /* the output directory and the log use the old name */
  char *other_name; /* the spans' different name, to be logged, or NULL */
  uint64_t wait_until_ns; /* monotonic; 0: nothing was pushed */
  sp_series next_series;  /* labels not yet used; text NULL: none */
} sp_service_name;

/* `settings` and `clock` outlive the structure. */
void sp_service_name_init(sp_service_name *service, const sp_mem *mem,
                          const sp_settings *settings, const sp_clock *clock);

/* As sp_exporter_runtime_set(). */
spanprof_status sp_service_name_set_runtime(sp_service_name *service,
                                            const char *name,
                                            const char *version);

/* As sp_exporter_service_set(). */
spanprof_status sp_service_name_set(sp_service_name *service, const char *name,
                                    const char *name_space, bool *adopted);

/* The present name of the service. Valid while the lock is held. */
const char *sp_service_name_text(const sp_service_name *service);

/* A profile is pushed: the first one starts the wait. */
void sp_service_name_begin_wait(sp_service_name *service);

/* Do not wait for a name from now on. */
void sp_service_name_end_wait(sp_service_name *service);

/* Do profiles still wait for a name? `queued_bytes` is the size of the queue.
 */
bool sp_service_name_is_awaited(const sp_service_name *service,
                                uint64_t queued_bytes);

/* Replace `series` by the newest labels, if they have changed. */
void sp_service_name_update_series(sp_service_name *service, sp_series *series);

/* Names to be logged, each NULL if there is none. */
typedef struct sp_service_news {
  char *name;  /* adopted by the profiles */
  char *own;   /* of the profiles, if the spans have another one */
  char *other; /* of the spans, if they have another one */
} sp_service_news;

/* Fetch the names to be logged. Returns false if there are none. Without
 * memory, names are omitted. */
bool sp_service_name_fetch_news(sp_service_name *service, sp_service_news *out);

/* Log the names and free them. Call it without the lock. */
void sp_service_news_log(sp_service_news *news, const sp_mem *mem, sp_log *log);

/* In a forked child: wait for a name again, because the child's spans may
 * belong to another service. Until then the child uses its parent's name. */
void sp_service_name_after_fork_child(sp_service_name *service);

void sp_service_name_dispose(sp_service_name *service);

#endif
