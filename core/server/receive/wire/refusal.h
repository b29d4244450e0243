/* The reason why an upload is refused, with a message that helps its sender. In
 * comments, "refuses a malformed text with SP_REFUSAL_BROKEN" means that a
 * function calls sp_refuse() with SP_REFUSAL_BROKEN and returns
 * SPANPROF_ERR_FORMAT. */
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
  SP_REFUSAL_STORE    /* could not be stored, which is not the sender's fault */
} sp_refusal_kind;

typedef struct sp_refusal {
  sp_refusal_kind kind;
  sp_buffer text;
} sp_refusal;

void sp_refusal_init(sp_refusal *refusal, const sp_mem *mem);
void sp_refusal_dispose(sp_refusal *refusal);

/* Set the kind and the message, unless the refusal is set already: an upload
 * with several faults is answered with the first one. Returns
 * SPANPROF_ERR_FORMAT. */
spanprof_status sp_refuse(sp_refusal *refusal, sp_refusal_kind kind,
                          const char *format, ...) SP_PRINTF(3, 4);

/* Insert `prefix` and ": " before the message. */
void sp_refusal_prefix(sp_refusal *refusal, const char *prefix);

/* Log a refused upload. At most one line is logged in a minute. */
void sp_refusal_log(sp_serve *serve, const char *path, const char *sentence);

/* Returns SPANPROF_OK if `wire` has found no error. Otherwise, refuses the
 * upload with SP_REFUSAL_BROKEN. `message` is the name of the message that was
 * read. */
spanprof_status sp_wire_status(const sp_wire *wire, const char *message,
                               sp_refusal *refusal);

/* Returns the message, or "" if the refusal is not set. */
const char *sp_refusal_text(const sp_refusal *refusal);

#endif
