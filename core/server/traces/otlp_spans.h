/* Reads the spans of an OTLP traces request. */
#ifndef SP_OTLP_SPANS_H
#define SP_OTLP_SPANS_H

#include "profile/tables/arena.h"
#include "server/receive/wire/refusal.h"
#include "server/store/store.h"

/* Memory limit for the spans of one request. */
#define SP_OTLP_SPANS_MEMORY_MAX ((size_t)64 << 20)

typedef struct sp_otlp_spans {
  sp_arena arena; /* owns all texts */
  sp_store_span *spans;
  size_t count;
  size_t rejected; /* spans without ids or with an invalid time */
  /* Spans that end before from_ns, or begin or end after until_ns, are
   * rejected. sp_otlp_spans_init() sets no limits; the caller may set them
   * after it. */
  int64_t from_ns;
  int64_t until_ns;
} sp_otlp_spans;

void sp_otlp_spans_init(sp_otlp_spans *spans, const sp_mem *mem);
void sp_otlp_spans_dispose(sp_otlp_spans *spans);

/* Read an ExportTraceServiceRequest of opentelemetry-proto v1.0 and later.
 * Malformed and too large requests are refused. */
spanprof_status sp_otlp_spans_read(sp_otlp_spans *out, sp_view request,
                                   sp_refusal *refusal);

#endif
