/* The profile types that /ingest recognizes by the end of an application's
 * name. */
#ifndef SP_INGEST_TYPE_H
#define SP_INGEST_TYPE_H

#include "stack_list.h"

typedef struct sp_ingest_type {
  const char *metric; /* the label __name__: "process_cpu" */
  const char *type;
  const char *unit;
  bool is_time; /* each value is a number of samples of 1/rate seconds */
} sp_ingest_type;

/* Split a name such as "app.cpu" into the application and the type. A name
 * without a dot has the type cpu. Refuses an unknown type with
 * SP_REFUSAL_INVALID. */
spanprof_status sp_ingest_type_find(sp_view name, sp_view *app,
                                    const sp_ingest_type **out,
                                    sp_refusal *refusal);

#endif
