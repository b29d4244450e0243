#include "selector.h"

#include <string.h>

bool sp_matcher_takes(const sp_matcher *matcher, const char *text) {
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
