/* The work of the uploading thread, which decides which profile goes to which
 * destination next. exporter.c explains the protocol. */
#ifndef SP_UPLOADER_H
#define SP_UPLOADER_H

#include "exporter_state.h"

/* The function of the uploading thread. Its argument is the exporter. */
void *sp_uploader_run(void *exporter);

/* The caller of the functions below holds the exporter's lock.
 *
 * Offer every profile to its destinations once more, then move it to the spool,
 * or drop it. Releases the lock while it works. Returns false if the exporter
 * was abandoned during that time; the caller must not touch it. */
bool sp_uploader_finish(sp_exporter *exporter);

/* Copy the delivery's backoff fields to those of the exporter. */
void sp_uploader_copy_backoff(sp_exporter *exporter);

#endif
