/* Why an upload is not taken, in words that its sender can act on. */
#ifndef SP_REFUSAL_H
#define SP_REFUSAL_H

#include "profile/pprof/wire.h"
#include "server/model/serve.h"
#include "util/memory/buffer.h"

typedef enum sp_refusal_kind {
  SP_REFUSAL_NONE,
  SP_REFUSAL_BROKEN,  /* the bytes are not what they claim to be */
  SP_REFUSAL_INVALID, /* they are, and break a rule */
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

/* Keep kind and sentence and return SPANPROF_ERR_FORMAT. Of several the first
 * stays: an upload with two faults is answered with one. */
spanprof_status sp_refuse(sp_refusal *refusal, sp_refusal_kind kind,
                          const char *format, ...) SP_PRINTF(3, 4);

/* Prefix the stored sentence with `prefix` and ": ". */
void sp_refusal_prefix(sp_refusal *refusal, const char *prefix);

/* Log a refused upload. At most one refused upload a minute is logged. */
void sp_refusal_log(sp_serve *serve, const char *path, const char *sentence);

/* Refuse as SP_REFUSAL_BROKEN what made the reader of a message stop;
 * SPANPROF_OK if nothing did. `message`: its name. */
spanprof_status sp_wire_status(const sp_wire *wire, const char *message,
                               sp_refusal *refusal);

/* The sentence; "" where there is none. */
const char *sp_refusal_text(const sp_refusal *refusal);

#endif
