/* Requests of Pyroscope's Push API, and of the older API /ingest (as recorded
 * with grafana/pyroscope 3fe6a457a, 2026-08-21). */
#ifndef SP_PYROSCOPE_H
#define SP_PYROSCOPE_H

#include "export/http/http_client.h"
#include "export/upload/series.h"
#include "profile/profile.h"
#include "settings/settings.h"
#include "util/memory/buffer.h"

/* Content type of the server's answer to an accepted profile on Push, which is
 * the type of the request. /ingest answers without a body. (600 of 600 recorded
 * answers.) */
#define SP_PYROSCOPE_PUSH_TYPE "application/proto"

typedef struct sp_pyroscope_request {
  /* Its texts are in the buffers below. On /ingest, its body is in the part
   * that is sent. */
  sp_http_request http;
  sp_buffer url;
  sp_buffer body;
} sp_pyroscope_request;

/* Create the request that sends a profile. `part` must outlive the request.
 * Returns SPANPROF_ERR_NOMEM if out of memory; `out` is then empty. */
spanprof_status sp_pyroscope_request_init(sp_pyroscope_request *out,
                                          const sp_mem *mem,
                                          const sp_settings *settings,
                                          const sp_series *series,
                                          const sp_encoded *part);
void sp_pyroscope_request_dispose(sp_pyroscope_request *request);

#endif
