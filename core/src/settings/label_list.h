/* The static labels of every profile, checked against Pyroscope's limits. */
#ifndef SP_LABEL_LIST_H
#define SP_LABEL_LIST_H

#include "option_value.h"
#include "settings.h"
#include "util/memory/buffer.h"

/* Pyroscope refuses a series with more than 30 label names, names over 1024
 * bytes, and values over 2048 bytes (pyroscope v2.2.1,
 * pkg/validation/limits.go, max-label-names-per-series and others). 20 names in
 * this list leave space for labels of spans, labels that the program sets, and
 * labels that spanprof adds. */
#define SP_LABEL_LIST_MAX        20
#define SP_LABEL_NAME_MAX_BYTES  1024
#define SP_LABEL_VALUE_MAX_BYTES 2048

typedef struct sp_label_list {
  const sp_mem *mem;
  sp_pair *pairs; /* their names are unique */
  size_t count;
  size_t capacity;
  /* Bit i: pairs[i] was set by the present source, such as an option. */
  uint32_t fresh;
  uint32_t dotted;  /* bit i: the name of pairs[i] had dots */
  bool keep_dots;   /* names keep their dots */
  uint32_t cleaned; /* number of cleaned names */
  bool clean;       /* clean invalid names, with a note; do not refuse them */
} sp_label_list;

void sp_label_list_init(sp_label_list *list, const sp_mem *mem);
void sp_label_list_dispose(sp_label_list *list);

/* Begin a new source of labels, such as another option. Labels of the new
 * source replace labels of the same name without a note. */
void sp_label_list_next_source(sp_label_list *list);

/* Set a label. If a source has a name twice, the last value is used, with a
 * note. An empty value removes the label, with a note, because the server
 * treats it as no label. Returns SPANPROF_ERR_ARGUMENT, with an error message
 * about `given`, if the name does not match [A-Za-z_][A-Za-z0-9_.]*, the
 * profiler sets a label of this name itself, the value is not UTF-8, a text is
 * too long, or there are too many labels. Returns SPANPROF_ERR_NOMEM if out of
 * memory.
 *
 * Unless keep_dots is set, dots in the name become `_` (see sp_clean_dots()).
 * If two names of a source are equal for this reason, the name that had no dots
 * takes precedence. */
spanprof_status sp_label_list_set(sp_label_list *list,
                                  const sp_option_value *given,
                                  const char *name, size_t name_bytes,
                                  const char *value, size_t value_bytes,
                                  sp_buffer *notes);

/* Set every label of given->text, a list "name=value,name=value". Spaces around
 * names and values are removed, and empty items are skipped. A value may
 * contain `=`, but not `,`. Returns the status of sp_label_list_set(). */
spanprof_status sp_label_list_parse(sp_label_list *list,
                                    const sp_option_value *given,
                                    sp_buffer *notes);

/* Make a label name valid in place, by replacing each invalid byte by `_`.
 * Returns true if the name has changed. */
bool sp_label_name_clean(char *name);

#endif
