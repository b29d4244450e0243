/* multipart/form-data (RFC 7578), the parts that are files. */
#ifndef SP_MULTIPART_H
#define SP_MULTIPART_H

#include "refusal.h"
#include "util/text/view.h"

/* False ends the reading. */
typedef bool (*sp_multipart_visit)(void *data, sp_view name, sp_view content);

/* `type`: the Content-Type. A part without a file name is passed over, as
 * Pyroscope does. Refuses as broken what has no end, too. */
spanprof_status sp_multipart_files(const char *type, sp_view body,
                                   sp_multipart_visit visit, void *data,
                                   sp_refusal *refusal);

#endif
