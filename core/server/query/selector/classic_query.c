#include "classic_query.h"

#include <string.h>

/* The endings that classic Pyroscope clients appended to application names, and
 * the profile types under which Pyroscope has stored such profiles since
 * version 1.0. */
static const struct {
  const char *ending;
  const char *type;
} classic_types[] = {
    {".cpu", "process_cpu:cpu:nanoseconds:cpu:nanoseconds"},
    {".itimer", "process_cpu:cpu:nanoseconds:cpu:nanoseconds"},
    {".samples", "process_cpu:samples:count:cpu:nanoseconds"},
    {".wall", "wall:wall:nanoseconds:wall:nanoseconds"},
    {".alloc_objects", "memory:alloc_objects:count:space:bytes"},
    {".alloc_space", "memory:alloc_space:bytes:space:bytes"},
    {".inuse_objects", "memory:inuse_objects:count:space:bytes"},
    {".inuse_space", "memory:inuse_space:bytes:space:bytes"},
    {".goroutines", "goroutine:goroutine:count:goroutine:count"},
    {".mutex_count", "mutex:contentions:count:contentions:count"},
    {".mutex_duration", "mutex:delay:nanoseconds:contentions:count"},
    {".block_count", "block:contentions:count:contentions:count"},
    {".block_duration", "block:delay:nanoseconds:contentions:count"},
};

static bool classic_is_plain(char c) {
  return c == '_' || c == ':' || (c >= '0' && c <= '9') ||
         (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Returns the index of the name's ending, or the number of endings if it has
 * none. */
static size_t classic_ending(const char *name, size_t bytes) {
  size_t i;

  for (i = 0; i < SP_COUNT_OF(classic_types); i++) {
    const size_t ending = strlen(classic_types[i].ending);

    if (bytes > ending &&
        memcmp(name + bytes - ending, classic_types[i].ending, ending) == 0)
      break;
  }
  return i;
}

/* Returns the length of a name with arbitrary characters, such as "Größe &
 * Söhne.cpu" in links that spanprof's clients make. Only the ending
 * distinguishes such a name from a selector. Returns 0 if the text has no known
 * ending. */
static size_t classic_free_name_bytes(const char *text) {
  const size_t bytes = strcspn(text, "{}\"'`\t\r\n");

  if ((text[bytes] != '{' && text[bytes] != '\0') ||
      classic_ending(text, bytes) == SP_COUNT_OF(classic_types))
    return 0;
  return bytes;
}

size_t sp_classic_name_bytes(const char *text) {
  const char *p = text;
  bool classic = false;

  if (classic_free_name_bytes(text))
    return classic_free_name_bytes(text);
  if (!classic_is_plain(*p) || *p == ':')
    return 0;
  for (; classic_is_plain(*p) || (*p && strchr(".-/", *p)); p++)
    classic |= !classic_is_plain(*p);
  return classic ? (size_t)(p - text) : 0;
}

spanprof_status sp_classic_match(sp_matcher_list *list, const char *name,
                                 size_t bytes, const char **type,
                                 sp_query_fault *fault) {
  const char *whole = sp_arena_text(list->arena, name, bytes);
  const size_t i = classic_ending(name, bytes);
  const char *stem;

  if (!whole)
    return list->arena->st;
  if (i < SP_COUNT_OF(classic_types)) {
    stem = sp_arena_text(list->arena, name,
                         bytes - strlen(classic_types[i].ending));
    if (!stem)
      return list->arena->st;
    if (type)
      *type = classic_types[i].type;
    return sp_matcher_list_add_either(list, "service_name", stem, whole, fault);
  }
  return sp_matcher_list_add(list, SP_MATCH_EQUAL, "service_name", whole,
                             fault);
}

const char *sp_classic_type(const char *ending) {
  size_t i;

  for (i = 0; i < SP_COUNT_OF(classic_types); i++)
    if (strcmp(classic_types[i].ending + 1, ending) == 0)
      return classic_types[i].type;
  return NULL;
}
