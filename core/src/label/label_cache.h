/* A thread's cache of the label sets that it pushed last, so that most pushes
 * touch no shared memory.
 *
 * Only the thread itself uses the cache, inside and outside of signal handlers.
 * A signal handler may interrupt the thread at any instruction. So a writer
 * first invalidates the entry, then writes the key, and then the set; a handler
 * that interrupts a writer does not write. A reader uses an entry only if
 * nothing was written while it read the entry, because a handler can replace
 * the entry between the reads of the key and of the set. */
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

/* The first and last 8 bytes of a string. If the string has at most 16 bytes,
 * these are all of them. */
typedef struct sp_label_cache_ends {
  uint64_t first;
  uint64_t last;
} sp_label_cache_ends;

typedef struct sp_label_cache_string {
  spanprof_labels set; /* 0: no entry */
  spanprof_labels parent;
  uint32_t name_bytes;
  uint32_t value_bytes;
  sp_label_cache_ends name;
  sp_label_cache_ends value;
} sp_label_cache_string;

typedef struct sp_label_cache {
  uint32_t version; /* odd while a writer is active */
  sp_label_cache_text texts[SP_LABEL_CACHE_TEXTS];
  sp_label_cache_string strings[SP_LABEL_CACHE_STRINGS];
} sp_label_cache;

#endif
