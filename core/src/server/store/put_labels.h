/* Texts, and the series of a profile on its way into the file, within the
 * limits of series. Before the writer's turn what is new has no id:
 * SPANPROF_ERR_STATE; else statuses as of intern.h. */
#ifndef SP_PUT_LABELS_H
#define SP_PUT_LABELS_H

#include "put_profile.h"

/* The id of bytes, as of sp_intern_bytes(), and of a text of the profile. */
spanprof_status sp_put_bytes(sp_put *put, sp_intern_kind kind, uint32_t a,
                             const void *bytes, size_t size, uint32_t *id);
spanprof_status sp_put_text(sp_put *put, uint32_t text, uint32_t *id);

/* The source, if it is not known yet, and whose it is. */
spanprof_status sp_put_source(sp_put *put);

/* The series of a set of the samples' labels, after the source. */
spanprof_status sp_put_series(sp_put *put, uint32_t set);

#endif
