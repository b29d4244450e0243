/* Ids for the texts and series of a profile that is being stored, within the
 * series limits. Only the writer's thread adds new items. On other threads the
 * functions return SPANPROF_ERR_STATE for an item that is not known. Otherwise
 * they return the statuses of sp_intern_bytes(). */
#ifndef SP_PUT_LABELS_H
#define SP_PUT_LABELS_H

#include "put_profile.h"

/* Get the id of bytes, with the arguments of sp_intern_bytes(), or of a text of
 * the profile. */
spanprof_status sp_put_bytes(sp_put *put, sp_intern_kind kind, sp_row_id a,
                             const void *bytes, size_t size, sp_row_id *id);
spanprof_status sp_put_text(sp_put *put, uint32_t text, sp_row_id *id);

/* Get the ids of the source (types and labels of the upload) and of its
 * application, if they are not known yet. */
spanprof_status sp_put_source(sp_put *put);

/* Get the series of a set of sample labels. The caller has called
 * sp_put_source() before. */
spanprof_status sp_put_series(sp_put *put, uint32_t set);

#endif
