/* Reads requests to Pyroscope's Push API: JSON if the input begins with a
 * brace, otherwise protobuf. */
#include <stdlib.h>

#include "server/receive/push_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static spanprof_status visit(void *data, sp_series_labels *labels,
                             sp_view profile, sp_view id) {
  (void)id;
  (void)profile;
  ++*(size_t *)data;
  sp_series_labels_drop(labels);
  return SPANPROF_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  sp_view message = sp_view_of(data, size);
  spanprof_status st = SPANPROF_OK;
  sp_refusal refusal;
  size_t visits = 0;
  sp_buffer wire;

  sp_refusal_init(&refusal, &sp_mem_default);
  sp_buffer_init(&wire, &sp_mem_default);
  if (size && data[0] == '{') {
    st = sp_push_request_json(message, &wire, &refusal);
    message = sp_view_of(wire.data, wire.size);
  }
  if (!st) {
    st = sp_push_request_each(message, &sp_mem_default, visit, &visits,
                              &refusal);
    /* JSON that was accepted must give a valid message. */
    if (st && (wire.size || visits))
      abort();
  }
  if ((st == SPANPROF_ERR_FORMAT) != (refusal.kind != SP_REFUSAL_NONE))
    abort();
  sp_buffer_dispose(&wire);
  sp_refusal_dispose(&refusal);
  return 0;
}
