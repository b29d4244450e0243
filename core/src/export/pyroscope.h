/* What Pyroscope wants to see: requests of its Push API, and of the older
 * /ingest (recorded from grafana/pyroscope 3fe6a457a, 2026-08-21). */
#ifndef SP_PYROSCOPE_H
#define SP_PYROSCOPE_H

#include "export/http/http_client.h"
#include "export/upload/series.h"
#include "profile/profile.h"
#include "settings/settings.h"
#include "util/memory/buffer.h"

/* What the server answers to a profile it took (all of 600 recorded answers):
 * Push as the request, /ingest without a body. */
#define SP_PYROSCOPE_PUSH_TYPE "application/proto"

typedef struct sp_pyroscope_request {
  sp_http_request http; /* of the buffers, and of the part on /ingest */
  sp_buffer url;
  sp_buffer body;
} sp_pyroscope_request;

/* Make the request for one profile; `part` outlives it. SPANPROF_ERR_NOMEM:
 * `out` is empty. */
spanprof_status sp_pyroscope_request_init(sp_pyroscope_request *out,
                                          const sp_mem *mem,
                                          const sp_settings *settings,
                                          const sp_series *series,
                                          const sp_encoded *part);
void sp_pyroscope_request_dispose(sp_pyroscope_request *request);

#endif
