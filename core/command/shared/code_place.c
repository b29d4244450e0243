#include "code_place.h"

#include <string.h>

#include "util/system/status.h"

/* Longer paths are those of the program. */
#define CODE_PATH_MAX 4096

/* The folders of packages and standard libraries. A greedy ".*" finds the
 * innermost folder. */
static const struct code_rule {
  const char *pattern;
  sp_code_kind kind;
  const char *label;
  unsigned group; /* the short path begins at this group of the pattern */
} code_rules[SP_CODE_RULES] = {
    {"^.*/gems/([^/]+-([0-9][^/]*|[0-9a-f]{12})/)", SP_CODE_PACKAGE, "gem ", 1},
    {"^.*/(site-packages/[^/]+)", SP_CODE_PACKAGE, "", 1},
    {"^.*/(dist-packages/[^/]+)", SP_CODE_PACKAGE, "", 1},
    {"^(.*/)?(node_modules/(@[^/]+/)?[^/]+)", SP_CODE_PACKAGE, "", 2},
    {"^.*/pkg/mod/([^@]+@[^/]+)", SP_CODE_PACKAGE, "", 1},
    {"^.*/registry/src/[^/]+/([^/]+/)", SP_CODE_PACKAGE, "crate ", 1},
    {"^.*/(site_|vendor_)?ruby/([0-9]+[.][0-9]+[.][0-9]+[^/]*/)",
     SP_CODE_LIBRARY, "ruby ", 2},
    {"^.*/(vendor_ruby/[^/]+)", SP_CODE_PACKAGE, "", 1},
    {"^.*/lib(64|32)?/python([0-9]+[.][0-9]+t?/)", SP_CODE_LIBRARY, "python ",
     2},
    {"^/rustc/[^/]+(/)", SP_CODE_LIBRARY, "rust", 1},
    {"^(/usr/local/go|.*/go-[0-9.]+)/src(/)", SP_CODE_LIBRARY, "go", 2},
    {"^(/usr/include/)", SP_CODE_LIBRARY, "", 1},
    {"^(.*([.](so([.][0-9.]+)?|dylib|bundle|ko([.][A-Za-z0-9_]+)?)$|/vmlinux)|"
     "(.*/)?(lib)?(ruby|python)[-0-9.]*([.]so[0-9.]*|dm?)?$|[[])",
     SP_CODE_MODULE, "", 0},
    /* Programs that packages install. */
    {"^((/usr(/local)?)?/s?|.*/(bundle|[^/]*env|versions/[^/]+)/)(bin/[^/]+)$",
     SP_CODE_PACKAGE, "", 5},
};

#define CODE_GROUPS 6

spanprof_status sp_code_rules_init(sp_code_rules *rules) {
  for (rules->count = 0; rules->count < SP_CODE_RULES; rules->count++) {
    if (regcomp(&rules->patterns[rules->count],
                code_rules[rules->count].pattern, REG_EXTENDED)) {
      sp_code_rules_dispose(rules);
      return sp_fail(SPANPROF_ERR_NOMEM, "out of memory");
    }
  }
  return SPANPROF_OK;
}

void sp_code_rules_dispose(sp_code_rules *rules) {
  while (rules->count > 0)
    regfree(&rules->patterns[--rules->count]);
}

static bool begins(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

/* Find the place of code that has no path, such as "<internal:kernel>", "(eval
 * at /srv/a.rb:3)" or "-e". Returns false if `file` is another text. */
static bool place_without_path(const char *file, sp_code_kind *out) {
  static const char *const own[] = {"(", "<string", "<stdin", "<console",
                                    "<ipython"};
  size_t i;

  if (!*file) {
    *out = SP_CODE_NONE;
    return true;
  }
  for (i = 0; i < SP_COUNT_OF(own); i++)
    if (begins(file, own[i]))
      break;
  *out = i < SP_COUNT_OF(own) || strcmp(file, "-e") == 0 ? SP_CODE_APPLICATION
                                                         : SP_CODE_LIBRARY;
  return *out == SP_CODE_APPLICATION || *file == '<' || begins(file, "node:");
}

sp_code_place sp_code_place_of(const sp_code_rules *rules, const char *file) {
  sp_code_place place = {.label = "", .path = file};
  regmatch_t groups[CODE_GROUPS];
  size_t i;

  if (place_without_path(file, &place.kind))
    return place;
  place.kind = SP_CODE_APPLICATION;
  if (strlen(file) > CODE_PATH_MAX)
    return place;
  for (i = 0; i < rules->count; i++) {
    if (regexec(&rules->patterns[i], file, CODE_GROUPS, groups, 0) == 0) {
      place.kind = code_rules[i].kind;
      place.label = code_rules[i].label;
      place.path = file + groups[code_rules[i].group].rm_so;
      return place;
    }
  }
  if (!strpbrk(file, "/."))
    place.kind = SP_CODE_PROGRAM;
  else if (begins(file, "./"))
    place.path = file + strlen("./");
  return place;
}

/* Returns the length of the folder's part of a path, with its last slash. */
static size_t folder_bytes(const char *path, size_t bytes) {
  while (bytes > 0 && path[bytes - 1] != '/')
    bytes--;
  return bytes;
}

void sp_code_folder_add(sp_code_folder *folder, const char *path) {
  size_t same = 0;

  if (path[0] != '/' || strlen(path) >= sizeof folder->path)
    return;
  if (!folder->path[0]) {
    strcpy(folder->path, path);
    folder->bytes = folder_bytes(path, strlen(path));
    return;
  }
  while (same < folder->bytes && path[same] == folder->path[same])
    same++;
  folder->bytes = folder_bytes(folder->path, same);
}

const char *sp_code_folder_below(const sp_code_folder *folder,
                                 const char *path) {
  const bool below =
      folder->bytes > 1 && strncmp(path, folder->path, folder->bytes) == 0;

  return below ? path + folder->bytes : path;
}
