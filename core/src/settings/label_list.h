/* The static labels of every profile: "name=value,name=value", and single
 * ones, checked against what Pyroscope takes. */
#ifndef SP_LABEL_LIST_H
#define SP_LABEL_LIST_H

#include "given.h"
#include "settings.h"
#include "util/memory/buffer.h"

/* Pyroscope refuses a series of more than 30 label names, its own and those of
 * spans and of the running program included (pyroscope v2.2.1,
 * pkg/validation/limits.go, max-label-names-per-series), names over 1024 bytes
 * and values over 2048. */
#define SP_LABEL_LIST_MAX        20
#define SP_LABEL_NAME_MAX_BYTES  1024
#define SP_LABEL_VALUE_MAX_BYTES 2048

typedef struct sp_label_list {
  const sp_mem *mem;
  sp_pair *pairs; /* unique names */
  size_t count;
  size_t capacity;
  uint32_t fresh;   /* bit i: pairs[i] was set by the present source */
  uint32_t dotted;  /* bit i: the name of pairs[i] was given with dots */
  bool keep_dots;   /* names with dots stay as they are */
  uint32_t cleaned; /* names that were made valid, for who starts a session
                     * to count */
  bool clean;       /* names are made valid, with a note, not refused */
} sp_label_list;

void sp_label_list_init(sp_label_list *list, const sp_mem *mem);
void sp_label_list_dispose(sp_label_list *list);

/* What is set from here on comes from another source: it replaces labels of the
 * same name without a note. */
void sp_label_list_next_source(sp_label_list *list);

/* Set one label. A repeated name within a source: the last one wins, with a
 * note. An empty value, which the server takes for no label, removes it, with a
 * note. SPANPROF_ERR_ARGUMENT, in a sentence about `given`: a name outside
 * [A-Za-z_][A-Za-z0-9_.]*, one the profiler sets itself, a value that is not
 * UTF-8, too long, too many. SPANPROF_ERR_NOMEM.
 *
 * Dots of the name become `_` (see sp_clean_dots()), unless keep_dots; within a
 * source a name that was given without any wins over one that had some. */
spanprof_status sp_label_list_set(sp_label_list *list, const sp_given *given,
                                  const char *name, size_t name_bytes,
                                  const char *value, size_t value_bytes,
                                  sp_buffer *notes);

/* Set every label of given->text. Spaces around names and values are cut, empty
 * items skipped; a value may hold `=`, not `,`. Statuses as above. */
spanprof_status sp_label_list_parse(sp_label_list *list, const sp_given *given,
                                    sp_buffer *notes);

/* Make a name valid in place, `_` for each byte that may not stand in it. True:
 * it was changed. */
bool sp_label_name_clean(char *name);

#endif
