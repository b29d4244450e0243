/* The matchers of a query, with their compiled regular expressions. */
#ifndef SP_MATCHER_LIST_H
#define SP_MATCHER_LIST_H

#include "profile/tables/arena.h"
#include "query_fault.h"
#include "regex_match.h"
#include "server/model/selector.h"

#define SP_MATCHERS_MAX 256 /* largest number of matchers of a query */

typedef struct sp_matcher_list {
  const sp_mem *mem;
  sp_arena *arena; /* owns the texts; must outlive the list */
  sp_matcher *matchers;
  size_t count;
  size_t capacity;
} sp_matcher_list;

void sp_matcher_list_init(sp_matcher_list *list, const sp_mem *mem,
                          sp_arena *arena);
void sp_matcher_list_dispose(sp_matcher_list *list);

/* Copy a text into the arena. If this fails, returns NULL and sets
 * arena->st. */
char *sp_arena_text(sp_arena *arena, const char *text, size_t bytes);

/* Add a matcher. `name` and `value` are copied. Returns SPANPROF_ERR_ARGUMENT
 * and sets *fault if the expression is invalid or there are too many
 * matchers. */
spanprof_status sp_matcher_list_add(sp_matcher_list *list, sp_match_kind kind,
                                    const char *name, const char *value,
                                    sp_query_fault *fault);

/* Add a matcher that accepts two values. */
spanprof_status sp_matcher_list_add_either(sp_matcher_list *list,
                                           const char *name, const char *one,
                                           const char *other,
                                           sp_query_fault *fault);

/* Returns the first `=` matcher for a label name, or NULL. */
const sp_matcher *sp_matcher_list_find(const sp_matcher_list *list,
                                       const char *name);
void sp_matcher_list_remove(sp_matcher_list *list, const sp_matcher *matcher);

/* Returns whether a regular expression took too long. From that time on, its
 * matcher matches nothing. */
bool sp_matcher_list_gave_up(const sp_matcher_list *list);

#endif
