/* A flame graph as classic Pyroscope's JSON, "flamebearer". */
#ifndef SP_FLAMEBEARER_H
#define SP_FLAMEBEARER_H

#include "server/query/tree/flame_graph.h"
#include "server/query/wire/json_writer.h"

typedef struct sp_flamebearer {
  const sp_flame_graph *graph;
  const char *name;  /* "cpu" */
  const char *units; /* "samples" */
  int64_t sample_rate;
  const char *spy;
  const char *timeline; /* JSON, or NULL */
  const char *groups;   /* likewise */
  bool groups_empty;    /* {} where there are none, as of text files */
} sp_flamebearer;

/* What Pyroscope says of values of a type and unit. */
void sp_flamebearer_units(const char *type, const char *unit,
                          sp_flamebearer *out);

void sp_flamebearer_put(sp_buffer *out, const sp_flamebearer *bearer);

#endif
