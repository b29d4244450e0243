/* The routes that receive profiles: Push, /ingest and OTLP. */
#ifndef SP_RECEIVE_H
#define SP_RECEIVE_H

#include "server/http/message/http.h"
#include "server/model/serve.h"

/* SPANPROF_ERR_NOMEM. */
spanprof_status sp_receive_routes(sp_http_routes *routes, sp_serve *serve);

#endif
