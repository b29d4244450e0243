#include "receive.h"

#include "push.h"
#include "server/receive/ingest/ingest.h"
#include "server/receive/otlp/otlp.h"
#include "server/receive/wire/connect.h"

spanprof_status sp_receive_routes(sp_http_routes *routes, sp_serve *serve) {
  const sp_http_route all[] = {
      {.methods = "POST",
       .path = "/push.v1.PusherService/Push",
       .handler = sp_push_handle,
       .data = serve,
       .flags = SP_HTTP_CHANGES | SP_HTTP_ALLOW_HEADER | SP_HTTP_ANYWHERE,
       .body_max = SP_PUSH_BYTES_MAX,
       .early = sp_connect_early},
      {.methods = "POST",
       .path = "/ingest",
       .handler = sp_ingest_handle,
       .data = serve,
       .flags = SP_HTTP_CHANGES | SP_HTTP_ANYWHERE,
       .body_max = SP_INGEST_BYTES_MAX},
      {.methods = "POST",
       .path = "/v1development/profiles",
       .handler = sp_otlp_handle,
       .data = serve,
       .flags = SP_HTTP_CHANGES,
       .body_max = SP_OTLP_BYTES_MAX},
      {.methods = "POST",
       .path = "/opentelemetry.proto.collector.profiles.v1development."
               "ProfilesService/Export",
       .handler = sp_otlp_handle,
       .data = serve,
       .flags = SP_HTTP_CHANGES,
       .body_max = SP_OTLP_BYTES_MAX},
  };
  spanprof_status st = SPANPROF_OK;
  size_t i;

  for (i = 0; !st && i < SP_COUNT_OF(all); i++)
    st = sp_http_routes_add(routes, &all[i]);
  return st;
}
