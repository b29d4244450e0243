/* The work of the uploading thread: it decides which profile goes where next.
 * The protocol is in exporter.c. */
#ifndef SP_UPLOADER_H
#define SP_UPLOADER_H

#include "exporter_state.h"

/* The thread's function; its argument is the exporter. */
void *sp_uploader_run(void *exporter);

/* The functions below are called with the lock held.
 *
 * Offer every profile to its destinations once more, then move it to the spool,
 * or drop it. Releases the lock during the work. Returns false if the exporter
 * was abandoned meanwhile and must not be touched. */
bool sp_uploader_finish(sp_exporter *exporter);

/* Copy the backoff from `delivery`. */
void sp_uploader_copy_backoff(sp_exporter *exporter);

#endif
