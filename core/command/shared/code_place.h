/* Whose code a source file or module contains, and its short path. The page
 * has the same rules (core/page/src/flame/stacks/code_place.ts);
 * core/page/test/code_place/cases.tsv lists cases for both. */
#ifndef SP_CODE_PLACE_H
#define SP_CODE_PLACE_H

#include <regex.h>

#include "util/base.h"

#define SP_CODE_RULES 14

typedef enum sp_code_kind {
  SP_CODE_NONE,        /* no file */
  SP_CODE_APPLICATION, /* a source file of the program */
  SP_CODE_PROGRAM,     /* an executable: the program's own code if the profile
                        * has no source file of the program */
  SP_CODE_PACKAGE,     /* a gem, a Python package or another dependency */
  SP_CODE_LIBRARY,     /* the standard library of a language */
  SP_CODE_MODULE,      /* a shared object, the interpreter or the kernel */
} sp_code_kind;

/* The compiled rules. Used by one thread. */
typedef struct sp_code_rules {
  regex_t patterns[SP_CODE_RULES];
  size_t count; /* number of compiled patterns */
} sp_code_rules;

/* The short path is `label` followed by `path`, a part of the file's path. For
 * a source file of the program, `path` is the whole path. */
typedef struct sp_code_place {
  sp_code_kind kind;
  const char *label;
  const char *path;
} sp_code_place;

/* Returns SPANPROF_ERR_NOMEM if memory ran out; the rules need not be disposed
 * of then. */
spanprof_status sp_code_rules_init(sp_code_rules *rules);
void sp_code_rules_dispose(sp_code_rules *rules);

/* Find the place of the file or module of a function; "" is no file. */
sp_code_place sp_code_place_of(const sp_code_rules *rules, const char *file);

#define SP_CODE_FOLDER_BYTES 1024

/* The folder that contains all absolute paths that were added. Initialize it
 * with zeros. */
typedef struct sp_code_folder {
  char path[SP_CODE_FOLDER_BYTES]; /* the first path that was added */
  size_t bytes; /* length of the folder's part of `path`, with its last slash */
} sp_code_folder;

/* Paths that are not absolute or not shorter than SP_CODE_FOLDER_BYTES are
 * ignored. */
void sp_code_folder_add(sp_code_folder *folder, const char *path);

/* Returns the part of `path` below the folder, or `path` if it is not in the
 * folder or if the folder is the root directory. */
const char *sp_code_folder_below(const sp_code_folder *folder,
                                 const char *path);

#endif
