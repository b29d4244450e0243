/* Files of settings that users write in YAML, and so in JSON, as trees whose
 * values know their lines. */
#ifndef SP_YAML_FILE_H
#define SP_YAML_FILE_H

#include "profile/tables/arena.h"
#include "util/system/log.h"

#define SP_YAML_BYTES_MAX ((size_t)1 << 20)
#define SP_YAML_DEPTH_MAX 32
#define SP_YAML_KEYS_MAX  1000 /* of one map */
/* Values of a file, each counted as often as aliases and merges show it. */
#define SP_YAML_VALUES_MAX 100000

typedef enum sp_yaml_kind {
  SP_YAML_NULL,
  SP_YAML_TEXT,
  SP_YAML_LIST,
  SP_YAML_MAP
} sp_yaml_kind;

typedef struct sp_yaml_file sp_yaml_file;
typedef struct sp_yaml_item sp_yaml_item;

typedef struct sp_yaml {
  const sp_yaml_file *file;
  sp_yaml_kind kind;
  bool plain; /* of a text: without quotes, as numbers and true are */
  uint32_t line;
  uint32_t values;     /* in it, with itself; 0 while it is being read */
  const char *text;    /* of a text */
  sp_yaml_item *first; /* of a list or a map */
} sp_yaml;

struct sp_yaml_item {
  sp_yaml_item *next;
  const char *name; /* in a map */
  uint32_t line;    /* of the name */
  const sp_yaml *value;
};

struct sp_yaml_file {
  const char *option; /* that names the file, as "--metrics" */
  const char *path;
  sp_log *log; /* of warnings; NULL: nobody wants them */
  sp_arena arena;
  const sp_yaml *root;
};

/* Keys of a map: those that are read, and those of others' programs that are
 * not, but may stand there. NULL ends each; `left_out` may be NULL. One that
 * begins with a star stands for all with its end. */
typedef struct sp_yaml_keys {
  const char *const *read;
  const char *const *left_out;
} sp_yaml_keys;

/* `option` and `path` are not copied. */
void sp_yaml_file_init(sp_yaml_file *file, const char *option, const char *path,
                       sp_log *log, const sp_mem *mem);
void sp_yaml_file_dispose(sp_yaml_file *file);

/* Read the file. Aliases and "<<" are followed; tags, several documents and
 * keys that are there twice are refused. SPANPROF_ERR_IO,
 * SPANPROF_ERR_ARGUMENT in a sentence with the line, SPANPROF_ERR_NOMEM. */
spanprof_status sp_yaml_file_load(sp_yaml_file *file);

/* The same of bytes. */
spanprof_status sp_yaml_file_read(sp_yaml_file *file, const void *bytes,
                                  size_t size);

/* The map's value, or NULL: none, or `map` is none itself. */
const sp_yaml *sp_yaml_get(const sp_yaml *map, const char *name);

/* SPANPROF_ERR_ARGUMENT in a sentence that begins with option, file and line.
 */
spanprof_status sp_yaml_fail(const sp_yaml *value, const char *format, ...)
    SP_PRINTF(2, 3);

/* Put option, file and line before the sentence of spanprof_last_error().
 * Returns `st`. */
spanprof_status sp_yaml_fail_at(const sp_yaml *value, spanprof_status st);

/* Refuse a value that is no map and the first key that is not known, with the
 * one that was meant; warn of those that are left out. `what` is the map:
 * "tls_config of job shop". */
spanprof_status sp_yaml_known(const sp_yaml *map, const char *what,
                              const sp_yaml_keys *keys);

/* The texts of these keys; *out stays as it is where there is none. */
spanprof_status sp_yaml_text(const sp_yaml *map, const char *name,
                             const char **out);
spanprof_status sp_yaml_switch(const sp_yaml *map, const char *name, bool *out);

/* The list or map of that key, NULL: none. */
spanprof_status sp_yaml_inside(const sp_yaml *map, const char *name,
                               sp_yaml_kind kind, const sp_yaml **out);

#endif
