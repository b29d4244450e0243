/* An upload: an encoded part of a profile that is being exported. */
#ifndef SP_UPLOAD_H
#define SP_UPLOAD_H

#include "profile/profile.h"
#include "retry.h"

typedef struct sp_upload {
  sp_encoded part;
  uint64_t number; /* number in the order of the pushes */
  sp_tries tries;
  bool spool_refused; /* the spool had no space for it */
  bool local_tried;   /* passed to the callback and the output directory */
  bool delivered;     /* accepted by the callback or the output directory */
  struct sp_upload *next;
} sp_upload;

/* Create an upload whose window has ended at `now_ns`, monotonic. Takes
 * ownership of the bytes of `part`. Returns NULL if out of memory; the caller
 * then still owns the bytes. */
sp_upload *sp_upload_new(const sp_mem *mem, sp_encoded *part, uint64_t now_ns);
void sp_upload_free(const sp_mem *mem, sp_upload *upload); /* may be NULL */

#endif
