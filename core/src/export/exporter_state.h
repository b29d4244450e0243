/* The state of an exporter, shared by exporter.c, whose functions other threads
 * call, and uploader.c, whose functions run on the uploading thread. exporter.c
 * explains the protocol. */
#ifndef SP_EXPORTER_STATE_H
#define SP_EXPORTER_STATE_H

#include <pthread.h>

#include "delivery.h"
#include "export/upload/upload_queue.h"
#include "exporter.h"
#include "service_name.h"

/* Where the uploading thread works while it does not hold the lock. */
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
  /* Used only by the uploading thread. If that thread was abandoned, used by
   * the thread that stops the exporter. */
  sp_delivery delivery;
  /* CPU time of the uploading thread that is already counted. */
  uint64_t cpu_ns;
  /* Guarded by `lock`. */
  pthread_mutex_t lock;
  pthread_cond_t work;     /* wakes the uploading thread */
  pthread_cond_t progress; /* wakes threads that wait for the uploading thread
                            */
  sp_upload_queue queue;
  sp_upload *in_flight;
  sp_exporter_place place;
  uint64_t http_since_ns; /* when `place` became IN_HTTP */
  uint64_t last_number;
  /* Copies of the delivery's fields, for other threads. */
  uint64_t backoff_until_ns;
  bool backoff_ordered;
  sp_service_name service;
  pthread_t thread;
  unsigned flushing; /* number of threads in sp_exporter_flush() */
  /* The callback that sp_exporter_query_links() received, or NULL. */
  void (*on_links_open)(void);
  bool running;
  bool stopping;
  bool finished;
  bool abandoned;
  uint64_t send_until_ns;
  struct sp_exporter *next;
};

#endif
