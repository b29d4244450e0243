/* The profile types that /ingest recognizes by the end of an application's
 * name. */
#ifndef SP_INGEST_TYPE_H
#define SP_INGEST_TYPE_H

#include "stack_list.h"

typedef struct sp_ingest_type {
  const char *metric; /* __name__: "process_cpu" */
  const char *type;
  const char *unit;
  bool is_time; /* values are samples of 1/rate seconds */
} sp_ingest_type;

/* Split "app.cpu" into the application and the type. A name without a dot is of
 * type cpu. Refuses unknown types as invalid. */
spanprof_status sp_ingest_type_find(sp_view name, sp_view *app,
                                    const sp_ingest_type **out,
                                    sp_refusal *refusal);

#endif
