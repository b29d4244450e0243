#include "matcher_list.h"

#include <pthread.h>
#include <string.h>

/* A compiled expression with a lock: the store matches on several threads, but
 * only one thread at a time may use a compiled expression. */
typedef struct matcher_regex {
  pthread_mutex_t lock;
  sp_regex *regex; /* guarded by `lock` */
  atomic_bool gave_up;
} matcher_regex;

typedef struct matcher_either {
  const char *one;
  const char *other;
} matcher_either;

void sp_matcher_list_init(sp_matcher_list *list, const sp_mem *mem,
                          sp_arena *arena) {
  *list = (sp_matcher_list){.mem = mem, .arena = arena};
}

static bool regex_matches(const sp_matcher *matcher, const char *text,
                          size_t size) {
  matcher_regex *regex = matcher->compiled;
  bool matches = false;

  if (atomic_load_explicit(&regex->gave_up, memory_order_relaxed))
    return false;
  pthread_mutex_lock(&regex->lock);
  if (sp_regex_match(regex->regex, text, size, &matches))
    atomic_store_explicit(&regex->gave_up, true, memory_order_relaxed);
  pthread_mutex_unlock(&regex->lock);
  return matches;
}

static bool either_matches(const sp_matcher *matcher, const char *text,
                           size_t size) {
  const matcher_either *either = matcher->compiled;

  return (strlen(either->one) == size &&
          memcmp(text, either->one, size) == 0) ||
         (strlen(either->other) == size &&
          memcmp(text, either->other, size) == 0);
}

static void matcher_dispose(const sp_matcher *matcher) {
  matcher_regex *regex = matcher->compiled;

  if (matcher->matches != regex_matches)
    return;
  sp_regex_free(regex->regex);
  pthread_mutex_destroy(&regex->lock);
}

void sp_matcher_list_dispose(sp_matcher_list *list) {
  size_t i;

  for (i = 0; i < list->count; i++)
    matcher_dispose(&list->matchers[i]);
  sp_mem_free(list->mem, list->matchers);
  *list = (sp_matcher_list){0};
}

char *sp_arena_text(sp_arena *arena, const char *text, size_t bytes) {
  char *copy = sp_arena_new(arena, bytes + 1, 1);

  if (copy && bytes)
    memcpy(copy, text, bytes);
  return copy;
}

static spanprof_status matcher_compile(const sp_matcher_list *list,
                                       sp_matcher *matcher,
                                       sp_query_fault *fault) {
  matcher_regex *regex = sp_arena_new(list->arena, 1, sizeof *regex);
  sp_regex_fault wrong = {0};
  spanprof_status st;

  if (!regex)
    return list->arena->st;
  st = sp_regex_new(&regex->regex, list->mem, matcher->value,
                    strlen(matcher->value), &wrong);
  if (st == SPANPROF_ERR_FORMAT)
    return sp_query_refuse(fault, SP_CODE_INVALID,
                           "error parsing regexp: %s: `%.*s`", wrong.what,
                           (int)wrong.at_bytes, wrong.at);
  if (st)
    return st;
  pthread_mutex_init(&regex->lock, NULL);
  matcher->compiled = regex;
  matcher->matches = regex_matches;
  return SPANPROF_OK;
}

static spanprof_status matcher_push(sp_matcher_list *list,
                                    const sp_matcher *matcher,
                                    sp_query_fault *fault) {
  spanprof_status st;

  if (list->count == SP_MATCHERS_MAX)
    return sp_query_refuse(fault, SP_CODE_INVALID,
                           "a query has at most %d matchers", SP_MATCHERS_MAX);
  st = sp_mem_reserve(list->mem, (void **)&list->matchers, &list->capacity,
                      list->count + 1, sizeof *list->matchers);
  if (!st)
    list->matchers[list->count++] = *matcher;
  return st;
}

spanprof_status sp_matcher_list_add(sp_matcher_list *list, sp_match_kind kind,
                                    const char *name, const char *value,
                                    sp_query_fault *fault) {
  sp_matcher matcher = {.kind = kind};
  spanprof_status st = SPANPROF_OK;

  matcher.name = sp_arena_text(list->arena, name, strlen(name));
  matcher.value = sp_arena_text(list->arena, value, strlen(value));
  if (!matcher.name || !matcher.value)
    return list->arena->st;
  if (kind == SP_MATCH_REGEX || kind == SP_MATCH_NO_REGEX)
    st = matcher_compile(list, &matcher, fault);
  if (!st)
    st = matcher_push(list, &matcher, fault);
  if (st)
    matcher_dispose(&matcher);
  return st;
}

spanprof_status sp_matcher_list_add_either(sp_matcher_list *list,
                                           const char *name, const char *one,
                                           const char *other,
                                           sp_query_fault *fault) {
  sp_matcher matcher = {.kind = SP_MATCH_REGEX, .matches = either_matches};
  matcher_either *either = sp_arena_new(list->arena, 1, sizeof *either);

  if (!either)
    return list->arena->st;
  either->one = sp_arena_text(list->arena, one, strlen(one));
  either->other = sp_arena_text(list->arena, other, strlen(other));
  matcher.name = sp_arena_text(list->arena, name, strlen(name));
  matcher.value = either->other;
  matcher.compiled = either;
  if (!either->one || !either->other || !matcher.name)
    return list->arena->st;
  return matcher_push(list, &matcher, fault);
}

const sp_matcher *sp_matcher_list_find(const sp_matcher_list *list,
                                       const char *name) {
  size_t i;

  for (i = 0; i < list->count; i++)
    if (list->matchers[i].kind == SP_MATCH_EQUAL &&
        strcmp(list->matchers[i].name, name) == 0)
      return &list->matchers[i];
  return NULL;
}

void sp_matcher_list_remove(sp_matcher_list *list, const sp_matcher *matcher) {
  const size_t at = (size_t)(matcher - list->matchers);

  matcher_dispose(matcher);
  memmove(&list->matchers[at], &list->matchers[at + 1],
          (list->count - at - 1) * sizeof *matcher);
  list->count--;
}

bool sp_matcher_list_gave_up(const sp_matcher_list *list) {
  size_t i;

  for (i = 0; i < list->count; i++) {
    const matcher_regex *regex = list->matchers[i].compiled;

    if (list->matchers[i].matches == regex_matches &&
        atomic_load_explicit(&regex->gave_up, memory_order_relaxed))
      return true;
  }
  return false;
}
