/* The static labels of every profile, checked against Pyroscope's limits. */
#ifndef SP_LABEL_LIST_H
#define SP_LABEL_LIST_H

#include "option_value.h"
#include "settings.h"
#include "util/memory/buffer.h"

/* Pyroscope refuses a series with more than 30 label names, including its own,
 * those of spans and those of the running program (pyroscope v2.2.1,
 * pkg/validation/limits.go, max-label-names-per-series); names over 1024 bytes;
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
  uint32_t dotted;  /* bit i: the name of pairs[i] had dots */
  bool keep_dots;   /* names keep their dots */
  uint32_t cleaned; /* number of cleaned names */
  bool clean; /* invalid names are cleaned, with a note, instead of refused */
} sp_label_list;

void sp_label_list_init(sp_label_list *list, const sp_mem *mem);
void sp_label_list_dispose(sp_label_list *list);

/* Later labels come from another source: they replace labels of the same name
 * without a note. */
void sp_label_list_next_source(sp_label_list *list);

/* Set a label. If a source has a name twice, the last one is used, with a note.
 * An empty value, which the server treats as no label, removes the label, with
 * a note. SPANPROF_ERR_ARGUMENT, with a sentence about `given`: the name does
 * not match [A-Za-z_][A-Za-z0-9_.]*, the profiler sets the name itself, the
 * value is not UTF-8, a text is too long, or there are too many labels.
 * SPANPROF_ERR_NOMEM.
 *
 * Unless keep_dots, dots in the name become `_` (see sp_clean_dots()). Within a
 * source, a name that had no dots takes precedence over one that had dots. */
spanprof_status sp_label_list_set(sp_label_list *list,
                                  const sp_option_value *given,
                                  const char *name, size_t name_bytes,
                                  const char *value, size_t value_bytes,
                                  sp_buffer *notes);

/* Set every label of given->text. Spaces around names and values are removed,
 * and empty items are skipped. A value may contain `=`, but not `,`. Statuses:
 * as sp_label_list_set(). */
spanprof_status sp_label_list_parse(sp_label_list *list,
                                    const sp_option_value *given,
                                    sp_buffer *notes);

/* Make a name valid in place: `_` replaces each invalid byte. Returns true if
 * the name changed. */
bool sp_label_name_clean(char *name);

#endif
