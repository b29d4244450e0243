#include "pattern.h"

#include "util/system/status.h"

spanprof_status sp_pattern_set(sp_pattern *pattern, const char *text) {
  char why[120];
  int answer;

  sp_pattern_dispose(pattern);
  answer = regcomp(&pattern->regex, text, REG_EXTENDED | REG_NOSUB);
  if (answer) {
    regerror(answer, &pattern->regex, why, sizeof why);
    return sp_fail(SPANPROF_ERR_ARGUMENT, "not a regular expression: %s", why);
  }
  pattern->given = true;
  return SPANPROF_OK;
}

void sp_pattern_dispose(sp_pattern *pattern) {
  if (pattern->given)
    regfree(&pattern->regex);
  pattern->given = false;
}

bool sp_pattern_finds(const sp_pattern *pattern, const char *text) {
  return pattern->given && regexec(&pattern->regex, text, 0, NULL, 0) == 0;
}
