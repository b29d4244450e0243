#include "selector.h"

#include <string.h>

/* Current names of profile types, and the names that older clients and servers
 * used. */
static const char *const selector_renamed[][2] = {
    {"goroutine:goroutine:count:goroutine:count",
     "goroutines:goroutine:count:goroutine:count"},
};

bool sp_profile_type_matches(const char *wanted, const char *type) {
  size_t i;

  if (strcmp(wanted, type) == 0)
    return true;
  for (i = 0; i < SP_COUNT_OF(selector_renamed); i++)
    if (strcmp(wanted, selector_renamed[i][0]) == 0 &&
        strcmp(type, selector_renamed[i][1]) == 0)
      return true;
  return false;
}

bool sp_matcher_accepts(const sp_matcher *matcher, const char *text) {
  switch (matcher->kind) {
  case SP_MATCH_EQUAL:
    return strcmp(matcher->value, text) == 0;
  case SP_MATCH_UNEQUAL:
    return strcmp(matcher->value, text) != 0;
  case SP_MATCH_REGEX:
    return matcher->matches(matcher, text, strlen(text));
  case SP_MATCH_NO_REGEX:
    return !matcher->matches(matcher, text, strlen(text));
  }
  return false;
}
