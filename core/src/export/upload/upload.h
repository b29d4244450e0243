/* One encoded profile on its way out. */
#ifndef SP_UPLOAD_H
#define SP_UPLOAD_H

#include "profile/profile.h"
#include "retry.h"

typedef struct sp_upload {
  sp_encoded part;
  uint64_t number; /* in order of the push */
  sp_tries tries;
  bool spool_refused; /* the spool had no room for it */
  bool local_tried;   /* callback and output directory had their turn */
  bool delivered;     /* by one of them */
  struct sp_upload *next;
} sp_upload;

/* One whose window ends at `now_ns`, monotonic. Takes over the bytes. NULL: no
 * memory, the bytes stay the caller's. */
sp_upload *sp_upload_new(const sp_mem *mem, sp_encoded *part, uint64_t now_ns);
void sp_upload_free(const sp_mem *mem, sp_upload *upload); /* NULL is fine */

#endif
