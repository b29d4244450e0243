#include "upload.h"

sp_upload *sp_upload_new(const sp_mem *mem, sp_encoded *part, uint64_t now_ns) {
  sp_upload *upload = sp_mem_zero(mem, sizeof *upload);

  if (upload) {
    upload->part = *part;
    upload->tries.began_ns = now_ns - part->duration_ns;
    part->bytes = NULL;
  }
  return upload;
}

void sp_upload_free(const sp_mem *mem, sp_upload *upload) {
  if (!upload)
    return;
  sp_encoded_dispose(&upload->part);
  sp_mem_free(mem, upload);
}
