/* What every room of the server works with, and how it was told to. */
#ifndef SP_SERVE_H
#define SP_SERVE_H

#include "gate.h"
#include "limits.h"
#include "util/memory/mem.h"
#include "util/system/clock.h"
#include "util/system/log.h"

/* Counted since the start, shown at /metrics. */
typedef struct sp_serve_counters {
  sp_counter profiles;           /* kept, one for each series of a request */
  sp_counter samples;            /* of them */
  sp_counter compressed_bytes;   /* of accepted profiles as they came */
  sp_counter decompressed_bytes; /* of them unpacked */
  sp_counter discarded_profiles; /* refused, for whatever reason */
  sp_counter discarded_bytes;    /* of them, unpacked where they were */
  sp_counter discarded_values;   /* negative ones of accepted profiles */
  sp_counter spans;              /* of traces, stored */
  sp_counter discarded_spans;    /* refused */
} sp_serve_counters;

typedef struct sp_serve_options {
  const char *listen;    /* "127.0.0.1:4040" */
  const char *otlp;      /* "127.0.0.1:4318"; NULL: on `listen` alone */
  const char *data;      /* the directory of the store */
  uint64_t retention_ns; /* 0: for ever */
  uint64_t max_bytes;    /* 0: no limit */
  uint64_t max_series;   /* 0: no limit */
  uint64_t max_series_per_application;
  int64_t window_past_ns;   /* of time_nanos of uploads; -1: no window */
  int64_t window_future_ns; /* likewise */
  size_t upload_bytes;      /* memory that one upload may use */
  const sp_limits *limits;  /* of its profiles */
  const char *token;        /* required of every request; NULL: none */
  const char *token_file;   /* contains it; NULL: none */
  const char *const *hosts; /* names of this machine beside localhost */
  size_t host_count;
  /* What is scraped: `URL[,name=value…]` each, and a file of jobs or NULL. */
  const char *const *scrapes;
  size_t scrape_count;
  const char *scrape_config;
  /* Rules of exported metrics, and a file of them or NULL. */
  const char *const *metrics;
  size_t metric_count;
  const char *metrics_file;
} sp_serve_options;

struct sp_received;

typedef struct sp_serve {
  const sp_mem *mem;
  const sp_clock *clock;
  sp_log *log;
  struct sp_store *store; /* ../store/store.h */
  const sp_serve_options *options;
  sp_serve_counters counters;
  sp_gate large_uploads; /* one at a time: ../receive/upload_memory.h */
  /* Told of each profile that is new in the store, once; NULL: nobody. On any
   * thread; fixed after the start. */
  void (*on_kept)(void *data, const struct sp_received *profile);
  void *on_kept_data;
} sp_serve;

#endif
