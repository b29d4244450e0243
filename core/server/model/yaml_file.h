/* Configuration files in YAML, and therefore also in JSON, as trees of values
 * with line numbers. */
#ifndef SP_YAML_FILE_H
#define SP_YAML_FILE_H

#include "profile/tables/arena.h"
#include "util/system/log.h"

#define SP_YAML_BYTES_MAX ((size_t)1 << 20)
#define SP_YAML_DEPTH_MAX 32
#define SP_YAML_KEYS_MAX  1000 /* largest number of keys of one map */
/* Largest number of values in a file. A value that aliases or merges repeat is
 * counted each time. */
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
  bool plain; /* a text without quotes, for example a number or true */
  uint32_t line;
  uint32_t values;     /* number of values in this tree, including this value; 0
                        * until its end was read */
  const char *text;    /* the content of a text */
  sp_yaml_item *first; /* the first item of a list or a map */
} sp_yaml;

struct sp_yaml_item {
  sp_yaml_item *next;
  const char *name; /* the key, in a map */
  uint32_t line;    /* line number of the key */
  const sp_yaml *value;
};

struct sp_yaml_file {
  const char *option; /* the option that specifies the file, such as
                       * "--metrics" */
  const char *path;
  sp_log *log; /* for warnings; may be NULL */
  sp_arena arena;
  const sp_yaml *root;
};

/* The known keys of a map. Keys in `read` are used. Keys in `ignored`, which
 * other programs use, cause a warning. NULL ends each list; `ignored` may be
 * NULL. A name in a list that begins with a star matches all keys that end with
 * the rest of the name. */
typedef struct sp_yaml_keys {
  const char *const *read;
  const char *const *ignored;
} sp_yaml_keys;

/* `option` and `path` are not copied. */
void sp_yaml_file_init(sp_yaml_file *file, const char *option, const char *path,
                       sp_log *log, const sp_mem *mem);
void sp_yaml_file_dispose(sp_yaml_file *file);

/* Read the file. Aliases and "<<" are resolved; tags, several documents and
 * duplicate keys are refused. Returns SPANPROF_ERR_IO if the file cannot be
 * read, SPANPROF_ERR_ARGUMENT and an error text with the line number if the
 * content is refused, or SPANPROF_ERR_NOMEM. */
spanprof_status sp_yaml_file_load(sp_yaml_file *file);

/* Like sp_yaml_file_load(), for the content of a file in memory. */
spanprof_status sp_yaml_file_read(sp_yaml_file *file, const void *bytes,
                                  size_t size);

/* Returns the value of a key, or NULL if there is none or `map` is not a map.
 */
const sp_yaml *sp_yaml_get(const sp_yaml *map, const char *name);

/* Returns SPANPROF_ERR_ARGUMENT, and sets an error text that begins with the
 * option, the file and the line of the value. */
spanprof_status sp_yaml_fail(const sp_yaml *value, const char *format, ...)
    SP_PRINTF(2, 3);

/* Prefix the error text with the option, the file and the line of the value.
 * Returns `st`. */
spanprof_status sp_yaml_fail_at(const sp_yaml *value, spanprof_status st);

/* Returns SPANPROF_ERR_ARGUMENT if the value is not a map or has an unknown
 * key; the error text suggests a known one. Warns about ignored keys. `what`
 * describes the map, such as "tls_config of job shop". */
spanprof_status sp_yaml_check_keys(const sp_yaml *map, const char *what,
                                   const sp_yaml_keys *keys);

/* Read the value of a key: a text, or true or false. *out is unchanged if the
 * map does not have the key. Returns SPANPROF_ERR_ARGUMENT for a value of
 * another kind. */
spanprof_status sp_yaml_text(const sp_yaml *map, const char *name,
                             const char **out);
spanprof_status sp_yaml_switch(const sp_yaml *map, const char *name, bool *out);

/* Read the list or map of a key. *out is NULL if the map does not have the key.
 * Returns SPANPROF_ERR_ARGUMENT for a value of another kind. */
spanprof_status sp_yaml_child(const sp_yaml *map, const char *name,
                              sp_yaml_kind kind, const sp_yaml **out);

#endif
