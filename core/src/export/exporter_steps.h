/* What the exporter's thread does, step by step; the protocol is in exporter.c.
 * All of it runs with the lock held and gives it back for the work itself. */
#ifndef SP_EXPORTER_STEPS_H
#define SP_EXPORTER_STEPS_H

#include <pthread.h>

#include "delivery.h"
#include "export/upload/upload_queue.h"
#include "exporter.h"

typedef enum sp_exporter_place {
  SP_EXPORTER_IDLE,
  SP_EXPORTER_IN_CALLBACK,
  SP_EXPORTER_IN_DISK,
  SP_EXPORTER_IN_HTTP,
} sp_exporter_place;

struct sp_exporter {
  /* Fixed after sp_exporter_new(). */
  const sp_mem *mem;
  const sp_settings *settings;
  const sp_clock *clock;
  sp_log *log;
  /* Of the uploading thread; of the stopping one when that is abandoned. */
  sp_delivery delivery;
  uint64_t cpu_ns; /* of it, counted so far */
  /* Guarded by lock. */
  pthread_mutex_t lock;
  pthread_cond_t work;     /* for the uploading thread */
  pthread_cond_t progress; /* for those who wait for it */
  sp_upload_queue queue;
  sp_upload *in_flight;
  sp_exporter_place place;
  uint64_t asking_ns; /* when it became IN_HTTP */
  uint64_t last_number;
  uint64_t backoff_until_ns; /* of delivery, for all to read */
  bool backoff_ordered;      /* the same */
  sp_series_facts facts;     /* see exporter_service.h */
  bool name_open;            /* nobody has told yet */
  bool renamed;              /* files and log do not know it yet */
  char *other_name;          /* of spans, to be said; NULL: nothing to say */
  uint64_t hold_until_ns;    /* 0: nothing was pushed yet */
  sp_series next_series;     /* text NULL: none */
  pthread_t thread;
  unsigned flushing;    /* threads that wait in sp_exporter_flush() */
  void (*asking)(void); /* for sp_exporter_ask_links(); NULL: asked */
  bool running;
  bool stopping;
  bool finished;
  bool abandoned;
  uint64_t send_until_ns;
  struct sp_exporter *next;
};

/* Do one piece of work; *worked says whether there was one. False: abandoned
 * meanwhile, nothing may be touched. */
bool sp_exporter_step(sp_exporter *exporter, bool *worked);

/* Everything once more, then the spool, then drop. False as above. */
bool sp_exporter_finish(sp_exporter *exporter);

/* When there is something to do that nobody announces. */
uint64_t sp_exporter_next_ns(const sp_exporter *exporter);

/* Copy the backoff from `delivery`. */
void sp_exporter_backoff_read(sp_exporter *exporter);

/* The upload in flight is settled, or goes back into the queue. */
void sp_exporter_land(sp_exporter *exporter, bool settled);

#endif
