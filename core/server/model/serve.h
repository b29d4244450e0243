/* The state and options that all components of the server share. */
#ifndef SP_SERVE_H
#define SP_SERVE_H

#include "gate.h"
#include "limits.h"
#include "util/memory/mem.h"
#include "util/system/clock.h"
#include "util/system/log.h"

/* Totals since the start, shown at /metrics. */
typedef struct sp_serve_counters {
  sp_counter profiles;           /* stored; each series of a request counts */
  sp_counter samples;            /* samples of stored profiles */
  sp_counter compressed_bytes;   /* of accepted profiles, as received */
  sp_counter decompressed_bytes; /* of accepted profiles, decompressed */
  sp_counter discarded_profiles; /* refused for any reason */
  sp_counter discarded_bytes;    /* of refused ones; decompressed if possible */
  sp_counter discarded_values;   /* negative values in accepted profiles */
  sp_counter spans;              /* stored spans of traces */
  sp_counter discarded_spans;    /* refused spans */
} sp_serve_counters;

typedef struct sp_serve_options {
  const char *listen;    /* "127.0.0.1:4040" */
  const char *otlp;      /* "127.0.0.1:4318"; NULL: no second address */
  const char *data;      /* the directory of the store */
  uint64_t retention_ns; /* 0: for ever */
  uint64_t max_bytes;    /* 0: no limit */
  uint64_t max_series;   /* 0: no limit */
  uint64_t max_series_per_application;
  int64_t window_past_ns;   /* for time_nanos of uploads; -1: no limit */
  int64_t window_future_ns; /* likewise */
  size_t upload_bytes;      /* memory that one upload may use */
  const sp_limits *limits;  /* limits of one profile */
  const char *token;        /* required in each request; may be NULL */
  const char *token_file;   /* file with the token; may be NULL */
  const char *const *hosts; /* names of this machine other than localhost */
  size_t host_count;
  /* Scrape targets, `URL[,name=value…]` each, and a file of jobs, which may be
   * NULL. */
  const char *const *scrapes;
  size_t scrape_count;
  const char *scrape_config;
  /* Rules of exported metrics, and a file of rules, which may be NULL. */
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
  sp_gate large_uploads; /* width 1: ../receive/profile/upload_memory.h */
  /* Called once for each new profile in the store, on any thread. May be NULL.
   * Fixed after the start. */
  void (*on_stored)(void *data, const struct sp_received *profile);
  void *on_stored_data;
} sp_serve;

#endif
