#include "regex_gate.h"

#include <string.h>

#include "regex_escape.h"
#include "util/text/utf8.h"

#define GATE_DEPTH_MAX  250  /* PCRE2's; Go's is 1000 */
#define GATE_REPEAT_MAX 1000 /* also of repeats in repeats, multiplied */

/* What RE2 calls flags. A dot's is kept by how the dot is written. */
typedef struct gate_flags {
  bool fold_case;  /* i */
  bool multi_line; /* m */
  bool dot_all;    /* s */
  bool lazy;       /* U */
} gate_flags;

/* One open parenthesis; the first is the whole pattern. */
typedef struct gate_group {
  gate_flags flags;
  bool fold_written;     /* the "i" that PCRE2 has been told */
  bool has_atom;         /* something that may be repeated stands before */
  uint32_t atom_repeats; /* of the last atom, those inside it multiplied */
  uint32_t most_repeats;
} gate_group;

typedef struct gate {
  sp_regex_text text;
  const char *start;
  const char *last_repeat; /* where the operator just read began, or NULL */
  sp_buffer *out;
  size_t depth;
  gate_group groups[GATE_DEPTH_MAX + 1];
} gate;

static gate_group *gate_top(gate *g) {
  return &g->groups[g->depth];
}

/* Before each atom: flags take effect for what follows, also where an operator
 * between them still belongs to the atom before. */
static void gate_atom(gate *g) {
  gate_group *top = gate_top(g);

  if (top->fold_written != top->flags.fold_case)
    sp_buffer_text(g->out, top->flags.fold_case ? "(?i)" : "(?-i)");
  top->fold_written = g->text.fold_case = top->flags.fold_case;
  if (top->most_repeats < top->atom_repeats)
    top->most_repeats = top->atom_repeats;
  top->atom_repeats = 1;
  top->has_atom = true;
}

static spanprof_status gate_open(gate *g, gate_flags flags) {
  gate_group *top;

  gate_atom(g);
  if (g->depth == GATE_DEPTH_MAX)
    return sp_regex_refuse(&g->text, "expression nests too deeply", g->start,
                           g->text.end);
  top = gate_top(g);
  g->groups[++g->depth] =
      (gate_group){.flags = flags, .fold_written = top->fold_written};
  sp_buffer_text(g->out, "(?:");
  return SPANPROF_OK;
}

static spanprof_status gate_close(gate *g) {
  const gate_group *closed = gate_top(g);
  uint32_t repeats = (uint32_t)sp_max_u64(closed->most_repeats, 1);

  if (closed->atom_repeats > repeats)
    repeats = closed->atom_repeats;
  if (g->depth == 0)
    return sp_regex_refuse(&g->text, "unexpected )", g->start, g->text.end);
  g->depth--;
  gate_top(g)->atom_repeats = repeats;
  g->text.at++;
  sp_buffer_text(g->out, ")");
  return SPANPROF_OK;
}

/* "(?P<name>" and "(?<name>"; `name` is behind the "<". */
static spanprof_status gate_named_group(gate *g, const char *name) {
  const char *start = g->text.at, *p;
  const char *end = memchr(name, '>', (size_t)(g->text.end - name));

  if (!end)
    return sp_regex_refuse(&g->text, "invalid named capture", start,
                           g->text.end);
  for (p = name; p < end; p++)
    if (*p != '_' && !(*p >= '0' && *p <= '9') &&
        !((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z'))
      break;
  if (p != end || name == end)
    return sp_regex_refuse(&g->text, "invalid named capture", start, end + 1);
  g->text.at = end + 1;
  return gate_open(g, gate_top(g)->flags);
}

static bool gate_flag(gate_flags *flags, char name, bool on) {
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

/* "(?i)", "(?i-s:" and the like; everything else of Perl's is refused. */
static spanprof_status gate_flag_group(gate *g) {
  gate_flags flags = gate_top(g)->flags;
  const char *start = g->text.at;
  bool on = true, dangling = false;

  for (g->text.at += 2; g->text.at < g->text.end;) {
    const char c = *g->text.at;

    (void)sp_regex_character(&g->text);
    if (c == '-' && on) {
      on = false;
      dangling = true;
    } else if ((c == ':' || c == ')') && !dangling) {
      if (c == ':')
        return gate_open(g, flags);
      gate_top(g)->flags = flags;
      return SPANPROF_OK;
    } else if (gate_flag(&flags, c, on)) {
      dangling = false;
    } else {
      break;
    }
  }
  return sp_regex_refuse(&g->text, "invalid or unsupported Perl syntax", start,
                         g->text.at);
}

static spanprof_status gate_parenthesis(gate *g) {
  const char *at = g->text.at;
  const size_t left = (size_t)(g->text.end - at);

  if (left < 2 || at[1] != '?') {
    g->text.at++;
    return gate_open(g, gate_top(g)->flags);
  }
  if (left > 4 && at[2] == 'P' && at[3] == '<')
    return gate_named_group(g, at + 4);
  if (left > 3 && at[2] == '<')
    return gate_named_group(g, at + 3);
  return gate_flag_group(g);
}

/* "{2,5}": false where it is no such thing, and the brace stands for itself.
 * *high is -1 where there is no end, *low where a number is too large. */
static bool gate_counts(sp_regex_text *text, int *low, int *high) {
  const char *p = text->at + 1;
  int *number = low;

  *low = *high = -1;
  for (;; p++) {
    if (p < text->end && *p >= '0' && *p <= '9') {
      *number = *number < 0 ? 0 : *number;
      *number = *number * 10 + (*p - '0');
      if (*number > GATE_REPEAT_MAX)
        *number = GATE_REPEAT_MAX + 1;
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

/* Everything that repeats; the operator starts at `start` and has been read. */
static spanprof_status gate_repeat(gate *g, const char *start, int low,
                                   int high) {
  gate_group *top = gate_top(g);
  const char *operator_end = g->text.at;
  const int most = high < 0 ? low : high;
  bool lazy = top->flags.lazy;

  if (g->text.at < g->text.end && *g->text.at == '?') {
    lazy = !lazy;
    g->text.at++;
  }
  if (low > GATE_REPEAT_MAX || high > GATE_REPEAT_MAX ||
      (high >= 0 && low > high))
    return sp_regex_refuse(&g->text, "invalid repeat count", start,
                           operator_end);
  if (g->last_repeat)
    return sp_regex_refuse(&g->text, "invalid nested repetition operator",
                           g->last_repeat, g->text.at);
  if (!top->has_atom)
    return sp_regex_refuse(&g->text, "missing argument to repetition operator",
                           start, g->text.at);
  if (*start == '{' && most >= 2) {
    top->atom_repeats *= (uint32_t)most;
    if (top->atom_repeats > GATE_REPEAT_MAX)
      return sp_regex_refuse(&g->text, "invalid repeat count", start,
                             g->text.at);
  }
  sp_buffer_append(g->out, start, (size_t)(operator_end - start));
  if (lazy)
    sp_buffer_text(g->out, "?");
  g->last_repeat = start;
  return SPANPROF_OK;
}

static void gate_quoted(gate *g) {
  for (g->text.at += 2; g->text.at < g->text.end;) {
    if (g->text.end - g->text.at >= 2 && g->text.at[0] == '\\' &&
        g->text.at[1] == 'E') {
      g->text.at += 2;
      return;
    }
    gate_atom(g);
    sp_regex_literal(g->out, sp_regex_character(&g->text));
  }
}

static spanprof_status gate_backslash(gate *g) {
  const char c = g->text.end - g->text.at >= 2 ? g->text.at[1] : '\0';
  uint32_t character;
  bool taken;
  spanprof_status st;

  if (c == 'Q') {
    gate_quoted(g);
    return SPANPROF_OK;
  }
  if (c == 'C')
    return sp_regex_refuse(&g->text, "invalid escape sequence", g->text.at,
                           g->text.at + 2);
  gate_atom(g);
  if (c == 'A' || c == 'b' || c == 'B' || c == 'z') {
    /* In a group, because PCRE2 does not repeat an assertion. */
    sp_buffer_format(g->out, "(?:\\%c)", c);
    g->text.at += 2;
    return SPANPROF_OK;
  }
  st = sp_regex_class_escape(&g->text, g->out, false, &taken);
  if (st || taken)
    return st;
  st = sp_regex_escape(&g->text, &character);
  if (!st)
    sp_regex_literal(g->out, character);
  return st;
}

/* "^", "$" and ".". */
static void gate_simple(gate *g) {
  const gate_flags flags = gate_top(g)->flags;
  const char c = *g->text.at++;

  gate_atom(g);
  if (c == '.')
    sp_buffer_text(g->out, flags.dot_all ? "." : "\\N");
  else if (flags.multi_line)
    sp_buffer_format(g->out, "(?m:%c)", c);
  else
    sp_buffer_text(g->out, c == '^' ? "(?:\\A)" : "(?:\\z)");
}

static spanprof_status gate_operator(gate *g) {
  const char *start = g->text.at;
  int low, high;

  if (*start != '{') {
    g->text.at++;
    return gate_repeat(g, start, *start == '+', *start == '?' ? 1 : -1);
  }
  if (gate_counts(&g->text, &low, &high))
    return gate_repeat(g, start, low, high);
  gate_atom(g);
  sp_regex_literal(g->out, sp_regex_character(&g->text));
  g->last_repeat = NULL;
  return SPANPROF_OK;
}

static spanprof_status gate_step(gate *g) {
  switch (*g->text.at) {
  case '(':
    return gate_parenthesis(g);
  case ')':
    return gate_close(g);
  case '|':
    gate_top(g)->has_atom = false;
    g->text.at++;
    sp_buffer_text(g->out, "|");
    return SPANPROF_OK;
  case '[':
    gate_atom(g);
    return sp_regex_class(&g->text, g->out);
  case '\\':
    return gate_backslash(g);
  case '^':
  case '$':
  case '.':
    gate_simple(g);
    return SPANPROF_OK;
  }
  gate_atom(g);
  sp_regex_literal(g->out, sp_regex_character(&g->text));
  return SPANPROF_OK;
}

spanprof_status sp_regex_gate(sp_buffer *out, const char *text, size_t bytes,
                              sp_regex_fault *fault) {
  gate *g = sp_mem_zero(out->mem, sizeof *g);
  spanprof_status st = SPANPROF_OK;

  if (!g)
    return SPANPROF_ERR_NOMEM;
  g->text = (sp_regex_text){.at = text, .end = text + bytes, .fault = fault};
  g->start = text;
  g->out = out;
  g->groups[0].flags.dot_all = true;
  if (!sp_utf8_valid(text, bytes))
    st = sp_regex_refuse(&g->text, "invalid UTF-8", text, text + bytes);
  while (!st && g->text.at < g->text.end) {
    if (strchr("*+?{", *g->text.at) && *g->text.at) {
      st = gate_operator(g);
    } else {
      st = gate_step(g);
      g->last_repeat = NULL;
    }
  }
  if (!st && g->depth > 0)
    st = sp_regex_refuse(&g->text, "missing closing )", text, text + bytes);
  sp_mem_free(out->mem, g);
  return st ? st : sp_buffer_status(out);
}
