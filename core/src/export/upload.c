#include "upload.h"

sp_upload *sp_upload_new(const sp_mem *mem, sp_encoded *part) {
  sp_upload *upload = sp_mem_zero(mem, sizeof *upload);

  if (upload) {
    upload->part = *part;
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
