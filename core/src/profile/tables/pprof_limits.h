/* A Pyroscope server's limits for one profile, and spanprof's limits, which are
 * lower. Source: grafana/pyroscope 3fe6a457a (2026-08-21),
 * pkg/validation/limits.go, defaults; verified with a live server. */
#ifndef SP_PPROF_LIMITS_H
#define SP_PPROF_LIMITS_H

#include "name_table.h"
#include "span/span.h"

/* validation.max-profile-stacktrace-samples is 16,000. */
#define SP_PPROF_SAMPLES_MAX 15000

/* distributor.ingestion-burst-size-mb is 2 MiB. It limits the uncompressed
 * profile and the series labels; a larger request is always answered with 429.
 * The remaining 197,152 bytes are for 30 labels of 1,024 + 2,048 bytes and the
 * request around them. */
#define SP_PPROF_BYTES_MAX 1900000

/* validation.max-profile-stacktrace-depth is 1,000. The server cuts innermost
 * frames; spanprof cuts outermost ones. */
#define SP_PPROF_DEPTH_MAX 513

/* validation.max-label-names-per-series is 30. It counts the names of the
 * series and those of samples. */
#define SP_PPROF_LABELS_MAX 30

/* Names of the labels of the series that the exporter sends in addition to the
 * static labels. */
#define SP_PPROF_SERIES_NAMES                                            \
  {                                                                      \
    "__name__", "service_name", "otel.scope.name", "otel.scope.version", \
        "process.runtime.name", "process.runtime.version"                \
  }

/* Number of a span's labels whose names may become names of the series:
 * span_name, and trace_id before Pyroscope 2.1. */
#define SP_PPROF_SPAN_NAMES 2

/* Number of label names that a tracer's Resource may add after profiles have
 * begun: service_namespace. */
#define SP_PPROF_RESOURCE_NAMES 1

/* validation.max-length-label-name. */
#define SP_PPROF_LABEL_NAME_MAX 1024

/* Prefix of the key of an ancestor's numeric label; the ancestor's name follows
 * it. */
#define SP_PPROF_ANCESTOR "ancestor:"

/* Maximum number of comments in a profile. */
#define SP_PPROF_COMMENTS_MAX 32

/* Asserts that a part with a single sample is within the limit, so splitting a
 * window terminates. Each frame may add three texts of SP_NAME_BYTES_MAX with a
 * prefix of 4 bytes, a build id, and the numbers of a location, a function and
 * a mapping (266 bytes with the build id). Each label may add a name and a
 * value, each ancestor a key and a name. */
_Static_assert(SP_PPROF_DEPTH_MAX *(3 * (SP_NAME_BYTES_MAX + 4) + 266) +
                       SP_PPROF_LABELS_MAX *
                           (SP_PPROF_LABEL_NAME_MAX + SP_LABEL_BYTES_MAX + 40) +
                       SP_SPAN_ANCESTORS_MAX * 2 * (SP_LABEL_BYTES_MAX + 60) +
                       SP_PPROF_COMMENTS_MAX * (SP_NAME_BYTES_MAX + 14) + 1000 <
                   SP_PPROF_BYTES_MAX,
               "a sample may be larger than a part");

#endif
