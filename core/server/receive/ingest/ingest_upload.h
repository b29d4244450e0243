/* One upload to /ingest while it is converted to profiles in a batch. */
#ifndef SP_INGEST_UPLOAD_H
#define SP_INGEST_UPLOAD_H

#include "ingest_query.h"
#include "server/receive/profile/batch.h"
#include "stack_text.h"

typedef struct sp_ingest_upload {
  sp_batch *batch;
  sp_arena *arena;
  sp_refusal *refusal;
  sp_ingest_name name;
  sp_view spy;
  uint32_t rate; /* Hz */
  int64_t from_ns;
  int64_t duration_ns; /* 0 if unknown */
  sp_view body;
} sp_ingest_upload;

typedef spanprof_status (*sp_ingest_stacks)(sp_stack_list *list, sp_view body);

/* Read a body that is pprof or, if `form_type` is not NULL, a form that
 * contains pprof. `form_type` is the Content-Type of the form. An empty body is
 * ignored. */
spanprof_status sp_ingest_pprof(sp_ingest_upload *upload,
                                const char *form_type);

/* Read a body of stacks in a text format, with its reader `read`. */
spanprof_status sp_ingest_text(sp_ingest_upload *upload, sp_ingest_stacks read);

/* Read a body that is a speedscope file. Each profile of the file is added to
 * the batch. */
spanprof_status sp_ingest_speedscope(sp_ingest_upload *upload);

#endif
