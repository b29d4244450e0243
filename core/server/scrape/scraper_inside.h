/* Types that several source files of the scraper share. */
#ifndef SP_SCRAPER_INSIDE_H
#define SP_SCRAPER_INSIDE_H

#include <pthread.h>

#include "scrape_delta.h"
#include "scrape_transfer.h"
#include "scraper.h"

typedef enum sp_scrape_state {
  SP_SCRAPE_NEW, /* no answer yet */
  SP_SCRAPE_UP,
  SP_SCRAPE_DOWN,
  SP_SCRAPE_ABSENT, /* the target does not have this optional profile */
} sp_scrape_state;

/* The state of a probe for /metrics. */
typedef struct sp_scrape_report {
  sp_scrape_state state;
  uint64_t scrapes;
  uint64_t failures;
  uint64_t bytes;
  uint64_t took_ns; /* duration of the last scrape */
  /* Error of the last scrape, or "" if it succeeded. */
  char error[SP_SCRAPE_ERROR_SIZE];
} sp_scrape_report;

typedef struct sp_scrape_run {
  /* Not changed after the scraper thread has started. */
  const sp_scrape_probe *probe;
  /* Only used by the scraper thread. */
  sp_scrape_transfer transfer;
  sp_scrape_delta delta;
  uint64_t due_ns;
  uint64_t begun_ns;
  /* Guarded by `lock` of the scraper. */
  sp_scrape_report report;
} sp_scrape_run;

/* Time of the last log line about a target. */
typedef struct sp_scrape_logged {
  uint64_t at_ns; /* 0: never */
  uint64_t suppressed;
} sp_scrape_logged;

struct sp_scraper {
  /* Not changed after the scraper thread has started. */
  sp_serve *serve;
  const sp_scrape_plan *plan;
  CURLM *multi;
  pthread_t thread;
  sp_scrape_run *runs; /* one for each probe of the plan */
  /* Only used by the scraper thread. */
  sp_scrape_logged *logged; /* one for each target of the plan */
  /* Used by all threads. */
  _Atomic bool stopping;
  pthread_mutex_t lock;
};

#endif
