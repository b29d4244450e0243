/* One encoded profile on its way out. */
#ifndef SP_UPLOAD_H
#define SP_UPLOAD_H

#include "../profile/profile.h"

typedef struct sp_upload {
  sp_encoded part;
  uint64_t number;   /* in order of the push */
  uint64_t retry_ns; /* monotonic: not sent before; for its own fault */
  uint32_t refusals; /* answers that may have been its own fault */
  bool unspoolable;  /* the spool had no room for it */
  bool handed_local; /* callback and output directory had their turn */
  bool taken;        /* by one of them */
  bool attempted;    /* sent before */
  struct sp_upload *next;
} sp_upload;

/* Takes over the bytes. NULL: no memory, the bytes stay the caller's. */
sp_upload *sp_upload_new(const sp_mem *mem, sp_encoded *part);
void sp_upload_free(const sp_mem *mem, sp_upload *upload); /* NULL is fine */

#endif
