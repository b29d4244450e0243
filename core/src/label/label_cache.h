/* A thread's own small memory of the sets it pushed last, so that a push costs
 * no shared memory.
 *
 * Only the thread itself uses it, in and out of signal handlers. A handler may
 * come at any instruction: a writer makes the entry invalid, writes the key,
 * then the set, and a handler that finds a writer at work does not write. A
 * reader takes what it read only if nothing was written meanwhile: a handler
 * could put another key and set in between the two. */
#ifndef SP_LABEL_CACHE_H
#define SP_LABEL_CACHE_H

#include "util/base.h"

#define SP_LABEL_CACHE_TEXTS   16u
#define SP_LABEL_CACHE_STRINGS 16u

typedef struct sp_label_cache_text {
  spanprof_labels set; /* 0: no entry */
  spanprof_labels parent;
  spanprof_text_id name;
  spanprof_text_id value;
} sp_label_cache_text;

/* The first and last bytes of a string, which are all of it up to 16 bytes. */
typedef struct sp_label_cache_edges {
  uint64_t first;
  uint64_t last;
} sp_label_cache_edges;

typedef struct sp_label_cache_string {
  spanprof_labels set; /* 0: no entry */
  spanprof_labels parent;
  uint32_t name_bytes;
  uint32_t value_bytes;
  sp_label_cache_edges name;
  sp_label_cache_edges value;
} sp_label_cache_string;

typedef struct sp_label_cache {
  uint32_t version; /* odd: a writer is at work */
  sp_label_cache_text texts[SP_LABEL_CACHE_TEXTS];
  sp_label_cache_string strings[SP_LABEL_CACHE_STRINGS];
} sp_label_cache;

#endif
