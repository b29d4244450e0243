/* RE2's syntax: invalid expressions with Go's error messages, and the matches
 * of valid ones. */
#include "check.h"

#include <server/query/selector/regex_match.h>

typedef struct refusal {
  const char *text;
  const char *what;
  const char *at;
} refusal;

/* The expected messages are those of regexp/syntax in Go 1.26 with the flag
 * Perl. */
static const refusal refusals[] = {
    {"[", "missing closing ]", "["},
    {"[a", "missing closing ]", "[a"},
    {"[]a", "missing closing ]", "[]a"},
    {"(a", "missing closing )", "(a"},
    {"a)", "unexpected )", "a)"},
    {"*", "missing argument to repetition operator", "*"},
    {"(*a)", "missing argument to repetition operator", "*"},
    {"a|+", "missing argument to repetition operator", "+"},
    {"a**", "invalid nested repetition operator", "**"},
    {"a++", "invalid nested repetition operator", "++"},
    {"a{2}{3}", "invalid nested repetition operator", "{2}{3}"},
    {"a{1001}", "invalid repeat count", "{1001}"},
    {"a{3,2}", "invalid repeat count", "{3,2}"},
    {"(a{100}){11}", "invalid repeat count", "{11}"},
    {"(?=x)", "invalid or unsupported Perl syntax", "(?="},
    {"(?!x)", "invalid or unsupported Perl syntax", "(?!"},
    {"(?>x)", "invalid or unsupported Perl syntax", "(?>"},
    {"(?i-)x", "invalid or unsupported Perl syntax", "(?i-)"},
    {"(?#x)", "invalid or unsupported Perl syntax", "(?#"},
    {"(?<=x)y", "invalid named capture", "(?<=x)y"},
    {"(?P<a b>x)", "invalid named capture", "(?P<a b>"},
    {"(?P=a)", "invalid or unsupported Perl syntax", "(?P"},
    {"\\1", "invalid escape sequence", "\\1"},
    {"\\C", "invalid escape sequence", "\\C"},
    {"\\K", "invalid escape sequence", "\\K"},
    {"\\R", "invalid escape sequence", "\\R"},
    {"\\Z", "invalid escape sequence", "\\Z"},
    {"\\h", "invalid escape sequence", "\\h"},
    {"\\x{}", "invalid escape sequence", "\\x{}"},
    {"\\x{110000}", "invalid escape sequence", "\\x{110000"},
    {"a\\", "trailing backslash at end of expression", ""},
    {"[z-a]", "invalid character class range", "z-a"},
    {"[[:nope:]]", "invalid character class range", "[:nope:]"},
    {"\\p{Nope}", "invalid character class range", NULL},
    {"\\p{Lowercase}", "invalid character class range", NULL},
    {"\\p{Xan}", "invalid character class range", "\\p{Xan}"},
    {"\\pz", "invalid character class range", "\\pz"},
    {"\xff", "invalid UTF-8", "\xff"},
};

static void expressions_that_re2_refuses_have_its_messages(void) {
  size_t i;

  for (i = 0; i < SP_COUNT_OF(refusals); i++) {
    sp_regex *regex;
    sp_regex_fault fault = {0};
    char at[64];

    CHECK_EQUAL(SPANPROF_ERR_FORMAT,
                sp_regex_new(&regex, &sp_mem_default, refusals[i].text,
                             strlen(refusals[i].text), &fault));
    CHECK_TEXT(fault.what, refusals[i].what);
    snprintf(at, sizeof at, "%.*s", (int)fault.at_bytes, fault.at);
    if (refusals[i].at)
      CHECK_TEXT(at, refusals[i].at);
  }
}

typedef struct match {
  const char *text;
  const char *yes; /* a text that matches, or NULL */
  const char *no;
} match;

static const match matches[] = {
    {"check.+", "checkout", "check"},
    {"check", "check", "checkout"},
    {"a|b", "b", "ab"},
    {"", "", "a"},
    {"a{2,3}", "aaa", "aaaa"},
    {"a{,3}", "a{,3}", "aaa"}, /* "{,3}" is no count */
    {"a{", "a{", "a"},
    {"a.b", "a\nb", "ab"},
    {"(?-s)a.b", "axb", "a\nb"},
    {"(?i)GET .*", "get /cart", "put /cart"},
    {"a(?i)b", "aB", "AB"},
    {"(?:a(?i)b|c)d", "aBd", "aBD"},
    {"x(?i)*", "xxx", "X"},
    {"^a$", "a", "a\n"},
    {"(?m)a$\nb", "a\nb", "a"},
    {"\\Qa.b\\E+", "a.bb", "axb"},
    {"[[:alpha:]]+", "abc", "ab1"},
    {"[^[:space:]]+", "abc", "a b"},
    {"[\\d_]+", "1_2", "x"},
    {"\\s", " ", "\v"}, /* PCRE2's \s matches a vertical tab */
    {"[[:space:]]", "\v", "x"},
    {"\\S", "\v", " "},
    {"[^\\S]", " ", "\v"},
    {"\\v", "\v", "\n"},
    {"\\pL+", "Größe", "1"},
    {"\\P{Greek}", "a", "λ"},
    {"\\p{^Greek}", "a", "λ"},
    {"[\\p{Lu}]", "A", "a"},
    {"\\x{3bb}|\\x41", "λ", "B"},
    {"\\101\\012", "A\n", "A"},
    {"\\bfoo\\b.*", "foo bar", "foobar"},
    {"(?P<x>a)(?<y>b)", "ab", "a"},
    {"(?i)\\p{Lu}[\\p{Lu}]", "aB", "a1"}, /* PCRE2 does not ignore case here */
    {"(?i)\\P{Ll}", "1", "A"},
    {"\\P{Greek}", "\xcd\x85",
     "λ"}, /* this character is Greek only in PCRE2's script extensions */
    {"\\p{Any}", "λ", "ab"},
    {"a|[\\x{d800}-\\x{dfff}]", "a", "b"}, /* PCRE2 alone refuses surrogates */
    {"[^\\x{d800}-\\x{dfff}]", "a", ""},
    {"[\\x{61}-\\x{d900}]", "λ", "A"},
    {"[]a]+", "]a", "[a"},
    {"[a-]+", "a-", "b"},
    {"(?U)a+", "aaa", "b"},
    {"(|a)*", "aaa", "b"},
    {"\\/\\_\\-", "/_-", "/"},
};

static void valid_expressions_match_as_in_re2(void) {
  size_t i;

  for (i = 0; i < SP_COUNT_OF(matches); i++) {
    sp_regex *regex;
    sp_regex_fault fault = {0};
    bool found;

    if (sp_regex_new(&regex, &sp_mem_default, matches[i].text,
                     strlen(matches[i].text), &fault))
      fprintf(stderr, "%s: %s\n", matches[i].text, fault.what);
    CHECK(regex);
    CHECK(
        !sp_regex_match(regex, matches[i].yes, strlen(matches[i].yes), &found));
    if (!found)
      fprintf(stderr, "%s does not match %s\n", matches[i].text,
              matches[i].yes);
    CHECK(found);
    CHECK(!sp_regex_match(regex, matches[i].no, strlen(matches[i].no), &found));
    if (found)
      fprintf(stderr, "%s matches %s\n", matches[i].text, matches[i].no);
    CHECK(!found);
    sp_regex_free(regex);
  }
}

/* A matcher that backtracks needs exponential time for these patterns. */
static void every_match_ends_in_bounded_time(void) {
  static const char *const patterns[] = {"(a*)*b", "(a|aa)+b", "(x+x+)+y",
                                         "(.*)(.*)(.*)(.*)(.*)(.*)(.*)z"};
  char text[2048];
  size_t i;

  memset(text, 'a', sizeof text);
  for (i = 0; i < SP_COUNT_OF(patterns); i++) {
    sp_regex *regex;
    sp_regex_fault fault;
    bool found;

    CHECK(!sp_regex_new(&regex, &sp_mem_default, patterns[i],
                        strlen(patterns[i]), &fault));
    CHECK(!sp_regex_match(regex, text, sizeof text, &found));
    CHECK(!found);
    sp_regex_free(regex);
  }
}

/* Long and deeply nested patterns are refused. One that may be too large for
 * PCRE2 is either accepted or refused. */
static void the_size_of_a_pattern_is_limited(void) {
  static const char huge[] = "((((\\pL{30}){30}x){1}y)z|a{900}){1}";
  sp_regex *regex;
  sp_regex_fault fault;
  char text[9000];
  spanprof_status st;

  memset(text, 'a', sizeof text);
  CHECK_EQUAL(SPANPROF_ERR_FORMAT,
              sp_regex_new(&regex, &sp_mem_default, text, sizeof text, &fault));
  CHECK_TEXT(fault.what, "expression too large");
  memset(text, '(', sizeof text);
  CHECK_EQUAL(SPANPROF_ERR_FORMAT,
              sp_regex_new(&regex, &sp_mem_default, text, 1000, &fault));
  CHECK_TEXT(fault.what, "expression nests too deeply");
  st = sp_regex_new(&regex, &sp_mem_default, huge, strlen(huge), &fault);
  CHECK(st == SPANPROF_OK || st == SPANPROF_ERR_FORMAT);
  sp_regex_free(regex);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"expressions_that_re2_refuses_have_its_messages",
       expressions_that_re2_refuses_have_its_messages},
      {"valid_expressions_match_as_in_re2", valid_expressions_match_as_in_re2},
      {"every_match_ends_in_bounded_time", every_match_ends_in_bounded_time},
      {"the_size_of_a_pattern_is_limited", the_size_of_a_pattern_is_limited},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
