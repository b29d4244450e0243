/* Reads the files of multipart/form-data (RFC 7578). */
#ifndef SP_MULTIPART_H
#define SP_MULTIPART_H

#include "refusal.h"
#include "util/text/view.h"

/* Receives one file. Returns false to stop. */
typedef bool (*sp_multipart_visit)(void *data, sp_view name, sp_view content);

/* Visit each file. `type` is the Content-Type. Parts without a file name are
 * skipped, as in Pyroscope. Refuses malformed bodies, including those without
 * an end. */
spanprof_status sp_multipart_files(const char *type, sp_view body,
                                   sp_multipart_visit visit, void *data,
                                   sp_refusal *refusal);

#endif
