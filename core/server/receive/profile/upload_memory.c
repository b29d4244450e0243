#include "upload_memory.h"

#include <malloc.h>

#include "server/store/store.h"

/* Largest number of large uploads that wait, so that most workers remain free
 * for other uploads. */
#define UPLOAD_WAITING_MAX 8
#define UPLOAD_TRIM_BYTES  ((size_t)16 << 20)

/* Reserve `more` bytes. If the upload becomes large, waits until no other
 * upload is large. Returns false and sets upload->fault if the upload may not
 * use the bytes. */
static bool upload_reserve(sp_upload *upload, size_t more) {
  const bool reads = upload->reads;

  if (more > upload->serve->options->upload_bytes - upload->bytes) {
    upload->fault = SP_UPLOAD_LARGE;
    return false;
  }
  if (upload->is_large || upload->bytes + more <= SP_UPLOAD_SMALL_BYTES)
    return true;
  sp_upload_leave(upload);
  upload->is_large =
      sp_gate_enter_within(&upload->serve->large_uploads, UPLOAD_WAITING_MAX);
  if (reads)
    sp_upload_enter(upload);
  if (!upload->is_large)
    upload->fault = SP_UPLOAD_BUSY;
  return upload->is_large;
}

static void *upload_resize(void *data, void *old, size_t size) {
  sp_upload *upload = data;
  const size_t before = old ? malloc_usable_size(old) : 0;
  void *p;

  if (size > before && !upload_reserve(upload, size - before))
    return NULL;
  p = sp_mem_default.resize(sp_mem_default.data, old, size);
  if (p)
    upload->bytes += malloc_usable_size(p);
  if (p || !size)
    upload->bytes -= before;
  if (upload->bytes > upload->most)
    upload->most = upload->bytes;
  return p;
}

void sp_upload_begin(sp_upload *upload, sp_serve *serve) {
  *upload = (sp_upload){.mem = {.resize = upload_resize, .data = upload},
                        .serve = serve};
}

void sp_upload_end(sp_upload *upload) {
  if (!upload->is_large)
    return;
  /* Return free memory to the system. Otherwise, each of the C library's arenas
   * would keep the memory of its largest upload. */
  if (upload->most > UPLOAD_TRIM_BYTES)
    malloc_trim(0);
  sp_gate_leave(&upload->serve->large_uploads);
  upload->is_large = false;
}

void sp_upload_enter(sp_upload *upload) {
  sp_gate_enter(sp_store_gate(upload->serve->store));
  upload->reads = true;
}

void sp_upload_leave(sp_upload *upload) {
  if (upload->reads)
    sp_gate_leave(sp_store_gate(upload->serve->store));
  upload->reads = false;
}

void sp_upload_release_if_small(sp_upload *upload) {
  if (upload->bytes <= SP_UPLOAD_SMALL_BYTES)
    sp_upload_end(upload);
}

spanprof_status sp_upload_explain(const sp_upload *upload, sp_refusal *refusal,
                                  spanprof_status st) {
  switch (upload->fault) {
  case SP_UPLOAD_SOUND:
    break;
  case SP_UPLOAD_LARGE:
    return sp_refuse(refusal, SP_REFUSAL_LARGE,
                     "the upload takes more than %zu MiB of memory to read "
                     "(--upload-memory): send it in parts",
                     upload->serve->options->upload_bytes >> 20);
  case SP_UPLOAD_BUSY:
    refusal->kind = SP_REFUSAL_NONE;
    sp_buffer_clear(&refusal->text);
    return sp_refuse(refusal, SP_REFUSAL_STORE,
                     "too many large uploads are under way, try again");
  }
  return st;
}
