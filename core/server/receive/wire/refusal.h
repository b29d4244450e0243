/* The reason why an upload is refused, with a message that helps its sender. In
 * comments, "refuses as malformed" means that a function calls sp_refuse() with
 * SP_REFUSAL_BROKEN and returns its status. Likewise, "as invalid" means
 * SP_REFUSAL_INVALID, and "as too large" SP_REFUSAL_LARGE. */
#ifndef SP_REFUSAL_H
#define SP_REFUSAL_H

#include "profile/pprof/wire.h"
#include "server/model/serve.h"
#include "util/memory/buffer.h"

typedef enum sp_refusal_kind {
  SP_REFUSAL_NONE,
  SP_REFUSAL_BROKEN,  /* malformed bytes */
  SP_REFUSAL_INVALID, /* well formed, but violates a rule */
  SP_REFUSAL_REQUEST, /* a required part of the request is missing */
  SP_REFUSAL_LARGE,   /* larger than one upload may be */
  SP_REFUSAL_RATE,    /* larger than Pyroscope's burst */
  SP_REFUSAL_STORE    /* accepted, but not stored: not the sender's fault */
} sp_refusal_kind;

typedef struct sp_refusal {
  sp_refusal_kind kind;
  sp_buffer text;
} sp_refusal;

void sp_refusal_init(sp_refusal *refusal, const sp_mem *mem);
void sp_refusal_dispose(sp_refusal *refusal);

/* Set kind and message, unless the refusal is set already, and return
 * SPANPROF_ERR_FORMAT. An upload with several faults is answered with the
 * first. */
spanprof_status sp_refuse(sp_refusal *refusal, sp_refusal_kind kind,
                          const char *format, ...) SP_PRINTF(3, 4);

/* Prefix the message with `prefix` and ": ". */
void sp_refusal_prefix(sp_refusal *refusal, const char *prefix);

/* Log a refused upload, at most one per minute. */
void sp_refusal_log(sp_serve *serve, const char *path, const char *sentence);

/* Refuse as SP_REFUSAL_BROKEN if the reader of the message found an error;
 * otherwise return SPANPROF_OK. `message` is the name of the message. */
spanprof_status sp_wire_status(const sp_wire *wire, const char *message,
                               sp_refusal *refusal);

/* Returns the message, or "" if there is none. */
const char *sp_refusal_text(const sp_refusal *refusal);

#endif
