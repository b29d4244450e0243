#include "regex_re2.h"

#include <string.h>

#include "regex_escape.h"
#include "util/text/utf8.h"

#define RE2_DEPTH_MAX 250 /* PCRE2's limit for nested groups; Go's is 1000 */
/* Largest count of a repetition, and largest product of nested counts. */
#define RE2_REPEAT_MAX 1000

/* RE2's flags, with the letter of each. */
typedef struct re2_flags {
  bool fold_case;  /* i */
  bool multi_line; /* m */
  bool dot_all;    /* s */
  bool lazy;       /* U */
} re2_flags;

/* A group that is not closed yet. The first one stands for the whole
 * pattern. */
typedef struct re2_group {
  re2_flags flags;
  bool fold_written;     /* the value of `fold_case` that `out` has so far */
  bool has_atom;         /* the last item can be repeated by an operator */
  uint32_t atom_repeats; /* product of the nested counts in the last atom */
  uint32_t most_repeats;
} re2_group;

typedef struct re2_reader {
  sp_regex_text text;
  const char *start;
  /* Start of the repetition operator that was read last, or NULL if something
   * else was read after it. */
  const char *last_repeat;
  sp_buffer *out;
  size_t depth;
  re2_group groups[RE2_DEPTH_MAX + 1];
} re2_reader;

static re2_group *re2_top(re2_reader *reader) {
  return &reader->groups[reader->depth];
}

/* Begin an atom: a character, a class or a group, which an operator may repeat.
 * Flags that changed are written only here, so that they do not come between an
 * atom and its repetition operator. */
static void re2_atom(re2_reader *reader) {
  re2_group *top = re2_top(reader);

  if (top->fold_written != top->flags.fold_case)
    sp_buffer_text(reader->out, top->flags.fold_case ? "(?i)" : "(?-i)");
  top->fold_written = reader->text.fold_case = top->flags.fold_case;
  if (top->most_repeats < top->atom_repeats)
    top->most_repeats = top->atom_repeats;
  top->atom_repeats = 1;
  top->has_atom = true;
}

static spanprof_status re2_open(re2_reader *reader, re2_flags flags) {
  re2_group *top;

  re2_atom(reader);
  if (reader->depth == RE2_DEPTH_MAX)
    return sp_regex_refuse(&reader->text, "expression nests too deeply",
                           reader->start, reader->text.end);
  top = re2_top(reader);
  reader->groups[++reader->depth] =
      (re2_group){.flags = flags, .fold_written = top->fold_written};
  sp_buffer_text(reader->out, "(?:");
  return SPANPROF_OK;
}

static spanprof_status re2_close(re2_reader *reader) {
  const re2_group *closed = re2_top(reader);
  uint32_t repeats = (uint32_t)sp_max_u64(closed->most_repeats, 1);

  if (closed->atom_repeats > repeats)
    repeats = closed->atom_repeats;
  if (reader->depth == 0)
    return sp_regex_refuse(&reader->text, "unexpected )", reader->start,
                           reader->text.end);
  reader->depth--;
  re2_top(reader)->atom_repeats = repeats;
  reader->text.at++;
  sp_buffer_text(reader->out, ")");
  return SPANPROF_OK;
}

/* Translate "(?P<name>" or "(?<name>". `name` points after the "<". */
static spanprof_status re2_named_group(re2_reader *reader, const char *name) {
  const char *start = reader->text.at, *p;
  const char *end = memchr(name, '>', (size_t)(reader->text.end - name));

  if (!end)
    return sp_regex_refuse(&reader->text, "invalid named capture", start,
                           reader->text.end);
  for (p = name; p < end; p++)
    if (*p != '_' && !(*p >= '0' && *p <= '9') &&
        !((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z'))
      break;
  if (p != end || name == end)
    return sp_regex_refuse(&reader->text, "invalid named capture", start,
                           end + 1);
  reader->text.at = end + 1;
  return re2_open(reader, re2_top(reader)->flags);
}

static bool re2_flag(re2_flags *flags, char name, bool on) {
  switch (name) {
  case 'i':
    flags->fold_case = on;
    return true;
  case 'm':
    flags->multi_line = on;
    return true;
  case 's':
    flags->dot_all = on;
    return true;
  case 'U':
    flags->lazy = on;
    return true;
  }
  return false;
}

/* Translate flags such as "(?i)" or "(?i-s:". Other Perl syntax is refused. */
static spanprof_status re2_flag_group(re2_reader *reader) {
  re2_flags flags = re2_top(reader)->flags;
  const char *start = reader->text.at;
  bool on = true, dangling = false;

  for (reader->text.at += 2; reader->text.at < reader->text.end;) {
    const char c = *reader->text.at;

    (void)sp_regex_character(&reader->text);
    if (c == '-' && on) {
      on = false;
      dangling = true;
    } else if ((c == ':' || c == ')') && !dangling) {
      if (c == ':')
        return re2_open(reader, flags);
      re2_top(reader)->flags = flags;
      return SPANPROF_OK;
    } else if (re2_flag(&flags, c, on)) {
      dangling = false;
    } else {
      break;
    }
  }
  return sp_regex_refuse(&reader->text, "invalid or unsupported Perl syntax",
                         start, reader->text.at);
}

static spanprof_status re2_parenthesis(re2_reader *reader) {
  const char *at = reader->text.at;
  const size_t left = (size_t)(reader->text.end - at);

  if (left < 2 || at[1] != '?') {
    reader->text.at++;
    return re2_open(reader, re2_top(reader)->flags);
  }
  if (left > 4 && at[2] == 'P' && at[3] == '<')
    return re2_named_group(reader, at + 4);
  if (left > 3 && at[2] == '<')
    return re2_named_group(reader, at + 3);
  return re2_flag_group(reader);
}

/* Read a count such as "{2,5}". Returns false if the brace does not begin a
 * count; it then matches itself. *high is -1 if there is no upper bound. A
 * number that is too large becomes RE2_REPEAT_MAX + 1. */
static bool re2_counts(sp_regex_text *text, int *low, int *high) {
  const char *p = text->at + 1;
  int *number = low;

  *low = *high = -1;
  for (;; p++) {
    if (p < text->end && *p >= '0' && *p <= '9') {
      *number = *number < 0 ? 0 : *number;
      *number = *number * 10 + (*p - '0');
      if (*number > RE2_REPEAT_MAX)
        *number = RE2_REPEAT_MAX + 1;
    } else if (p < text->end && *p == ',' && number == low && *low >= 0) {
      number = high;
    } else if (p < text->end && *p == '}' && *low >= 0) {
      break;
    } else {
      return false;
    }
  }
  if (number == low)
    *high = *low;
  text->at = p + 1;
  return true;
}

/* Append the repetition operator from `start` to reader->text.at, which has
 * been read. */
static spanprof_status re2_repeat(re2_reader *reader, const char *start,
                                  int low, int high) {
  re2_group *top = re2_top(reader);
  const char *operator_end = reader->text.at;
  const int most = high < 0 ? low : high;
  bool lazy = top->flags.lazy;

  if (reader->text.at < reader->text.end && *reader->text.at == '?') {
    lazy = !lazy;
    reader->text.at++;
  }
  if (low > RE2_REPEAT_MAX || high > RE2_REPEAT_MAX ||
      (high >= 0 && low > high))
    return sp_regex_refuse(&reader->text, "invalid repeat count", start,
                           operator_end);
  if (reader->last_repeat)
    return sp_regex_refuse(&reader->text, "invalid nested repetition operator",
                           reader->last_repeat, reader->text.at);
  if (!top->has_atom)
    return sp_regex_refuse(&reader->text,
                           "missing argument to repetition operator", start,
                           reader->text.at);
  if (*start == '{' && most >= 2) {
    top->atom_repeats *= (uint32_t)most;
    if (top->atom_repeats > RE2_REPEAT_MAX)
      return sp_regex_refuse(&reader->text, "invalid repeat count", start,
                             reader->text.at);
  }
  sp_buffer_append(reader->out, start, (size_t)(operator_end - start));
  if (lazy)
    sp_buffer_text(reader->out, "?");
  reader->last_repeat = start;
  return SPANPROF_OK;
}

static void re2_quoted(re2_reader *reader) {
  for (reader->text.at += 2; reader->text.at < reader->text.end;) {
    if (reader->text.end - reader->text.at >= 2 && reader->text.at[0] == '\\' &&
        reader->text.at[1] == 'E') {
      reader->text.at += 2;
      return;
    }
    re2_atom(reader);
    sp_regex_literal(reader->out, sp_regex_character(&reader->text));
  }
}

static spanprof_status re2_backslash(re2_reader *reader) {
  const char c =
      reader->text.end - reader->text.at >= 2 ? reader->text.at[1] : '\0';
  uint32_t character;
  bool found;
  spanprof_status st;

  if (c == 'Q') {
    re2_quoted(reader);
    return SPANPROF_OK;
  }
  if (c == 'C')
    return sp_regex_refuse(&reader->text, "invalid escape sequence",
                           reader->text.at, reader->text.at + 2);
  re2_atom(reader);
  if (c == 'A' || c == 'b' || c == 'B' || c == 'z') {
    /* Put the assertion into a group, because PCRE2 cannot repeat an
     * assertion. */
    sp_buffer_format(reader->out, "(?:\\%c)", c);
    reader->text.at += 2;
    return SPANPROF_OK;
  }
  st = sp_regex_class_escape(&reader->text, reader->out, false, &found);
  if (st || found)
    return st;
  st = sp_regex_escape(&reader->text, &character);
  if (!st)
    sp_regex_literal(reader->out, character);
  return st;
}

/* Translate "^", "$" or ".". */
static void re2_simple(re2_reader *reader) {
  const re2_flags flags = re2_top(reader)->flags;
  const char c = *reader->text.at++;

  re2_atom(reader);
  if (c == '.')
    sp_buffer_text(reader->out, flags.dot_all ? "." : "\\N");
  else if (flags.multi_line)
    sp_buffer_format(reader->out, "(?m:%c)", c);
  else
    sp_buffer_text(reader->out, c == '^' ? "(?:\\A)" : "(?:\\z)");
}

static spanprof_status re2_operator(re2_reader *reader) {
  const char *start = reader->text.at;
  int low, high;

  if (*start != '{') {
    reader->text.at++;
    return re2_repeat(reader, start, *start == '+', *start == '?' ? 1 : -1);
  }
  if (re2_counts(&reader->text, &low, &high))
    return re2_repeat(reader, start, low, high);
  re2_atom(reader);
  sp_regex_literal(reader->out, sp_regex_character(&reader->text));
  reader->last_repeat = NULL;
  return SPANPROF_OK;
}

static spanprof_status re2_step(re2_reader *reader) {
  switch (*reader->text.at) {
  case '(':
    return re2_parenthesis(reader);
  case ')':
    return re2_close(reader);
  case '|':
    re2_top(reader)->has_atom = false;
    reader->text.at++;
    sp_buffer_text(reader->out, "|");
    return SPANPROF_OK;
  case '[':
    re2_atom(reader);
    return sp_regex_class(&reader->text, reader->out);
  case '\\':
    return re2_backslash(reader);
  case '^':
  case '$':
  case '.':
    re2_simple(reader);
    return SPANPROF_OK;
  }
  re2_atom(reader);
  sp_regex_literal(reader->out, sp_regex_character(&reader->text));
  return SPANPROF_OK;
}

spanprof_status sp_regex_from_re2(sp_buffer *out, const char *text,
                                  size_t bytes, sp_regex_fault *fault) {
  re2_reader *reader = sp_mem_zero(out->mem, sizeof *reader);
  spanprof_status st = SPANPROF_OK;

  if (!reader)
    return SPANPROF_ERR_NOMEM;
  reader->text =
      (sp_regex_text){.at = text, .end = text + bytes, .fault = fault};
  reader->start = text;
  reader->out = out;
  reader->groups[0].flags.dot_all = true;
  if (!sp_utf8_valid(text, bytes))
    st = sp_regex_refuse(&reader->text, "invalid UTF-8", text, text + bytes);
  while (!st && reader->text.at < reader->text.end) {
    if (strchr("*+?{", *reader->text.at) && *reader->text.at) {
      st = re2_operator(reader);
    } else {
      st = re2_step(reader);
      reader->last_repeat = NULL;
    }
  }
  if (!st && reader->depth > 0)
    st =
        sp_regex_refuse(&reader->text, "missing closing )", text, text + bytes);
  sp_mem_free(out->mem, reader);
  return st ? st : sp_buffer_status(out);
}
