/* Requests of Pyroscope's Push API, and of the older /ingest (recorded from
 * grafana/pyroscope 3fe6a457a, 2026-08-21). */
#ifndef SP_PYROSCOPE_H
#define SP_PYROSCOPE_H

#include "export/http/http_client.h"
#include "export/upload/series.h"
#include "profile/profile.h"
#include "settings/settings.h"
#include "util/memory/buffer.h"

/* Content type of the server's answer to an accepted profile (all of 600
 * recorded answers): Push answers with the type of the request, /ingest without
 * a body. */
#define SP_PYROSCOPE_PUSH_TYPE "application/proto"

typedef struct sp_pyroscope_request {
  sp_http_request
      http; /* points into the buffers, and, on /ingest, into the part */
  sp_buffer url;
  sp_buffer body;
} sp_pyroscope_request;

/* Create the request for a profile. `part` must outlive it. SPANPROF_ERR_NOMEM:
 * `out` is empty. */
spanprof_status sp_pyroscope_request_init(sp_pyroscope_request *out,
                                          const sp_mem *mem,
                                          const sp_settings *settings,
                                          const sp_series *series,
                                          const sp_encoded *part);
void sp_pyroscope_request_dispose(sp_pyroscope_request *request);

#endif
