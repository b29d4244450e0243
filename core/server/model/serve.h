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
  sp_counter profiles;           /* stored profiles; each series of an upload
                                  * counts as one */
  sp_counter samples;            /* samples of stored profiles */
  sp_counter compressed_bytes;   /* size of accepted profiles, as received */
  sp_counter decompressed_bytes; /* size of accepted profiles, decompressed */
  sp_counter discarded_profiles; /* profiles refused for any reason */
  sp_counter discarded_bytes;    /* size of refused profiles, decompressed if
                                  * possible */
  sp_counter discarded_values;   /* negative values in accepted profiles */
  sp_counter spans;              /* stored spans of traces */
  sp_counter discarded_spans;    /* refused spans */
} sp_serve_counters;

typedef struct sp_serve_options {
  const char *listen;    /* "127.0.0.1:4040" */
  const char *base_path; /* "/profiles"; NULL: all paths begin at "/" */
  const char *otlp;      /* "127.0.0.1:4318"; NULL: no second address */
  const char *data;      /* the directory of the store */
  uint64_t retention_ns; /* 0: data is kept for ever */
  uint64_t max_bytes;    /* 0: no limit */
  uint64_t max_series;   /* 0: no limit */
  uint64_t max_series_per_application;
  int64_t window_past_ns;   /* largest age of an upload's time; -1: no limit */
  int64_t window_future_ns; /* how far an upload's time may be in the future;
                             * -1: no limit */
  size_t upload_bytes;      /* memory that one upload may use */
  const sp_limits *limits;  /* limits of one profile */
  const char *token;        /* required in each request; may be NULL */
  const char *token_file;   /* file with the token; may be NULL */
  const char *const *hosts; /* names of this machine other than localhost */
  size_t host_count;
  const char *const *sources; /* directories with source files: source_file.h */
  size_t source_count;
  /* Scrape targets, each as `URL[,name=value…]`, and a file of scrape jobs,
   * which may be NULL. */
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
  sp_gate large_uploads; /* one large upload at a time:
                          * ../receive/profile/upload_memory.h */
  /* Called once for each new profile in the store, on any thread. May be NULL.
   * Fixed after the server's start. */
  void (*on_stored)(void *data, const struct sp_received *profile);
  void *on_stored_data;
} sp_serve;

#endif
