/* Matching uses pcre2_dfa_match(), which follows all alternatives at once and
 * does not backtrack. Its time is proportional to the text's length times the
 * pattern's, whereas pcre2_match() may take exponential time. pcre2_dfa_match()
 * supports neither captures, which matching does not need, nor back references,
 * which RE2 does not have. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "regex_match.h"

#include <pcre2.h>

#define REGEX_TEXT_MAX    ((size_t)8 << 10) /* longest pattern */
#define REGEX_WORKSPACE   (1 << 14) /* number of ints; each state needs three */
#define REGEX_MATCH_STEPS 100000
#define REGEX_HEAP_KIB    4096

struct sp_regex {
  const sp_mem *mem;
  pcre2_code *code;
  pcre2_match_data *data;
  pcre2_match_context *context;
  int workspace[REGEX_WORKSPACE];
};

void sp_regex_free(sp_regex *regex) {
  if (!regex)
    return;
  pcre2_match_context_free(regex->context);
  pcre2_match_data_free(regex->data);
  pcre2_code_free(regex->code);
  sp_mem_free(regex->mem, regex);
}

/* Report an expression that sp_regex_from_re2() accepts but PCRE2 refuses: it
 * has an unknown property name or is too large. */
static spanprof_status regex_refused(int error, const char *text, size_t bytes,
                                     sp_regex_fault *fault) {
  if (error == PCRE2_ERROR_HEAP_FAILED)
    return SPANPROF_ERR_NOMEM;
  fault->what = error == PCRE2_ERROR_UNKNOWN_UNICODE_PROPERTY ||
                        error == PCRE2_ERROR_MALFORMED_UNICODE_PROPERTY
                    ? "invalid character class range"
                    : "expression too large";
  fault->at = text;
  fault->at_bytes = bytes;
  return SPANPROF_ERR_FORMAT;
}

static spanprof_status regex_compile(sp_regex *regex, const sp_buffer *pattern,
                                     int *error) {
  const uint32_t options = PCRE2_UTF | PCRE2_DOTALL | PCRE2_NO_AUTO_CAPTURE |
                           PCRE2_ALT_CIRCUMFLEX | PCRE2_NO_AUTO_POSSESS;
  pcre2_compile_context *context = pcre2_compile_context_create(NULL);
  PCRE2_SIZE at;

  if (!context)
    return SPANPROF_ERR_NOMEM;
  pcre2_set_newline(context, PCRE2_NEWLINE_LF);
  pcre2_set_parens_nest_limit(context, 600);
  regex->code = pcre2_compile((PCRE2_SPTR)pattern->data, pattern->size, options,
                              error, &at, context);
  pcre2_compile_context_free(context);
  if (!regex->code)
    return SPANPROF_ERR_FORMAT;
  regex->data = pcre2_match_data_create(1, NULL);
  regex->context = pcre2_match_context_create(NULL);
  if (!regex->data || !regex->context)
    return SPANPROF_ERR_NOMEM;
  pcre2_set_match_limit(regex->context, REGEX_MATCH_STEPS);
  pcre2_set_heap_limit(regex->context, REGEX_HEAP_KIB);
  return SPANPROF_OK;
}

spanprof_status sp_regex_new(sp_regex **out, const sp_mem *mem,
                             const char *text, size_t bytes,
                             sp_regex_fault *fault) {
  sp_regex *regex = NULL;
  sp_buffer pattern;
  int error = 0;
  spanprof_status st;

  *out = NULL;
  if (bytes > REGEX_TEXT_MAX)
    return regex_refused(0, text, REGEX_TEXT_MAX, fault);
  sp_buffer_init(&pattern, mem);
  sp_buffer_text(&pattern, "\\A(?:");
  st = sp_regex_from_re2(&pattern, text, bytes, fault);
  sp_buffer_text(&pattern, ")\\z");
  if (!st)
    st = sp_buffer_status(&pattern);
  if (st)
    goto cleanup;
  regex = sp_mem_zero(mem, sizeof *regex);
  if (!regex) {
    st = SPANPROF_ERR_NOMEM;
    goto cleanup;
  }
  regex->mem = mem;
  st = regex_compile(regex, &pattern, &error);
  if (st == SPANPROF_ERR_FORMAT)
    st = regex_refused(error, text, bytes, fault);
  if (!st)
    *out = regex;

cleanup:
  if (st)
    sp_regex_free(regex);
  sp_buffer_dispose(&pattern);
  return st;
}

spanprof_status sp_regex_match(sp_regex *regex, const char *text, size_t bytes,
                               bool *out) {
  const int found = pcre2_dfa_match(regex->code, (PCRE2_SPTR)text, bytes, 0,
                                    PCRE2_ANCHORED, regex->data, regex->context,
                                    regex->workspace, REGEX_WORKSPACE);

  *out = found >= 0;
  /* PCRE2's errors for invalid UTF-8 in the text are -3 to -22. */
  if (found >= 0 || found == PCRE2_ERROR_NOMATCH ||
      (found <= PCRE2_ERROR_UTF8_ERR1 && found >= PCRE2_ERROR_UTF8_ERR21))
    return SPANPROF_OK;
  return SPANPROF_ERR_LIMIT;
}
