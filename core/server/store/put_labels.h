/* Ids for the texts and series of a profile that is being stored, within the
 * series limits. Outside the writer's thread, a new item gets no id:
 * SPANPROF_ERR_STATE. Other statuses as in intern.h. */
#ifndef SP_PUT_LABELS_H
#define SP_PUT_LABELS_H

#include "put_profile.h"

/* The id of bytes, as sp_intern_bytes(), or of a text of the profile. */
spanprof_status sp_put_bytes(sp_put *put, sp_intern_kind kind, sp_row_id a,
                             const void *bytes, size_t size, sp_row_id *id);
spanprof_status sp_put_text(sp_put *put, uint32_t text, sp_row_id *id);

/* Find or add the source and its application, if they are not known yet. */
spanprof_status sp_put_source(sp_put *put);

/* Find or add the series of a set of sample labels. Call it after
 * sp_put_source(). */
spanprof_status sp_put_series(sp_put *put, uint32_t set);

#endif
