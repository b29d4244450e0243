/* Reads the files of multipart/form-data (RFC 7578). */
#ifndef SP_MULTIPART_H
#define SP_MULTIPART_H

#include "refusal.h"
#include "util/text/view.h"

/* Receives one file. Returns false to stop the visit of files. */
typedef bool (*sp_multipart_visit)(void *data, sp_view name, sp_view content);

/* Call `visit` for each file of a body. `type` is the Content-Type. As in
 * Pyroscope, parts without a file name are skipped. Refuses malformed bodies,
 * including those without a final delimiter, with SP_REFUSAL_BROKEN. */
spanprof_status sp_multipart_files(const char *type, sp_view body,
                                   sp_multipart_visit visit, void *data,
                                   sp_refusal *refusal);

#endif
