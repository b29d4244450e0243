/* The state of an exporter, shared by exporter.c, which works for the callers,
 * and uploader.c, which works on the uploading thread. The protocol is in
 * exporter.c. */
#ifndef SP_EXPORTER_STATE_H
#define SP_EXPORTER_STATE_H

#include <pthread.h>

#include "delivery.h"
#include "export/upload/upload_queue.h"
#include "exporter.h"
#include "service_name.h"

/* Where the uploading thread works without the lock. */
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
  /* Used by the uploading thread only, or by the stopping thread after it
   * abandoned that one. */
  sp_delivery delivery;
  uint64_t cpu_ns; /* the thread's CPU time at the last count */
  /* Guarded by lock. */
  pthread_mutex_t lock;
  pthread_cond_t work;     /* wakes the uploading thread */
  pthread_cond_t progress; /* wakes the threads that wait for it */
  sp_upload_queue queue;
  sp_upload *in_flight;
  sp_exporter_place place;
  uint64_t http_since_ns; /* when `place` became IN_HTTP */
  uint64_t last_number;
  uint64_t backoff_until_ns; /* copy of the delivery's, for all threads */
  bool backoff_ordered;      /* likewise */
  sp_service_name service;
  pthread_t thread;
  unsigned flushing;           /* threads that wait in sp_exporter_flush() */
  void (*on_links_open)(void); /* pending query of sp_exporter_query_links() */
  bool running;
  bool stopping;
  bool finished;
  bool abandoned;
  uint64_t send_until_ns;
  struct sp_exporter *next;
};

#endif
