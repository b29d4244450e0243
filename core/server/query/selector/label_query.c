#include "label_query.h"

#include <stdio.h>
#include <string.h>

#include "classic_query.h"
#include "label_lexer.h"
#include "util/text/utf8.h"

/* Longer names are not repeated in a hint. */
#define QUERY_HINT_NAME_BYTES ((size_t)100)

typedef struct label_query {
  sp_label_lexer lexer;
  sp_matcher_list *list;
  sp_query_fault *fault;
} label_query;

/* Get the line and column of `at`, both from 1. Columns are bytes, as in
 * Prometheus. */
static void query_place(label_query *query, const char *at, unsigned *line,
                        unsigned *column) {
  const char *p = query->lexer.text, *start = p;

  *line = 1;
  for (; p < at; p++) {
    if (*p != '\n')
      continue;
    ++*line;
    start = p + 1;
  }
  *column = (unsigned)(at - start) + 1;
  query->fault->column = (uint32_t)(at - query->lexer.text) + 1;
}

static spanprof_status query_refuse_at(label_query *query, const char *at,
                                       const char *what) {
  unsigned line, column;

  query_place(query, at, &line, &column);
  return sp_query_refuse(query->fault, SP_CODE_INVALID,
                         "%u:%u: parse error: %s", line, column, what);
}

/* If the current word is an invalid character in the label name at `at`, such
 * as the dash in {a-b="x"}, add the hint that quotes allow it. */
static spanprof_status query_name_hint(label_query *query, const char *at) {
  const size_t bytes = strcspn(at, " \t\r\n=!~,{}\"'`");
  const char *fault = query->lexer.start;
  sp_buffer quoted;
  spanprof_status st;

  if (query->lexer.word != SP_WORD_FAULT || fault < at || fault >= at + bytes)
    return SPANPROF_OK;
  sp_buffer_init(&quoted, query->list->mem);
  sp_label_quote(&quoted, at, bytes);
  st = sp_buffer_status(&quoted);
  if (!st && quoted.size < QUERY_HINT_NAME_BYTES)
    snprintf(query->fault->hint, sizeof query->fault->hint,
             "put the name of the label in quotes, as in {%.*s=\"VALUE\"}",
             (int)quoted.size, quoted.data);
  sp_buffer_dispose(&quoted);
  return st;
}

/* Refuse the query, because the current word is not allowed here. Returns
 * SPANPROF_ERR_ARGUMENT. */
static spanprof_status query_unexpected(label_query *query, const char *context,
                                        const char *expected) {
  const sp_label_lexer *lexer = &query->lexer;
  sp_buffer text;
  spanprof_status st;

  if (lexer->word == SP_WORD_FAULT)
    return query_refuse_at(query, lexer->start, lexer->fault);
  if (lexer->word == SP_WORD_END && lexer->start == lexer->text)
    return sp_query_refuse(query->fault, SP_CODE_INVALID,
                           "unknown position: parse error: unexpected end of "
                           "input");
  sp_buffer_init(&text, query->list->mem);
  sp_buffer_text(&text, "unexpected ");
  sp_label_lexer_describe(lexer, &text);
  if (context)
    sp_buffer_format(&text, " in %s, expected %s", context, expected);
  st = sp_buffer_status(&text);
  if (!st)
    st = query_refuse_at(query, lexer->start, text.data);
  sp_buffer_dispose(&text);
  return st;
}

/* Get the text of the current word, which is a string. The text is copied to
 * the arena. */
static spanprof_status query_string(label_query *query, const char **out) {
  const sp_label_lexer *lexer = &query->lexer;
  sp_buffer text;
  spanprof_status st = SPANPROF_OK;

  *out = NULL;
  sp_buffer_init(&text, query->list->mem);
  if (!sp_label_unquote(&text, lexer->start, lexer->bytes))
    st = query_refuse_at(query, lexer->start, "invalid escape in a string");
  else if (!sp_utf8_valid(text.size ? text.data : "", text.size))
    st = query_refuse_at(query, lexer->start, "a string is not valid UTF-8");
  if (!st)
    st = sp_buffer_status(&text);
  if (!st) {
    *out = sp_arena_text(query->list->arena, text.size ? text.data : "",
                         text.size);
    st = *out ? SPANPROF_OK : query->list->arena->st;
  }
  sp_buffer_dispose(&text);
  return st;
}

static bool query_operator(sp_label_word word, sp_match_kind *kind) {
  switch (word) {
  case SP_WORD_EQUAL:
    *kind = SP_MATCH_EQUAL;
    return true;
  case SP_WORD_UNEQUAL:
    *kind = SP_MATCH_UNEQUAL;
    return true;
  case SP_WORD_REGEX:
    *kind = SP_MATCH_REGEX;
    return true;
  case SP_WORD_NO_REGEX:
    *kind = SP_MATCH_NO_REGEX;
    return true;
  default:
    return false;
  }
}

static spanprof_status query_add(label_query *query, const char *at,
                                 sp_match_kind kind, const char *name,
                                 const char *value) {
  sp_query_fault refused = {0};
  spanprof_status st =
      sp_matcher_list_add(query->list, kind, name, value, &refused);

  if (st == SPANPROF_ERR_ARGUMENT)
    return query_refuse_at(query, at, refused.message);
  return st;
}

/* Parse a matcher that begins at the current word: `name="value"`, or the name
 * of a metric in quotes. Afterwards, the current word is the one after the
 * matcher. */
static spanprof_status query_matcher(label_query *query) {
  sp_label_lexer *lexer = &query->lexer;
  const char *at = lexer->start, *name, *value;
  const bool quoted = lexer->word == SP_WORD_STRING;
  sp_match_kind kind = SP_MATCH_EQUAL;
  spanprof_status st = SPANPROF_OK;

  if (quoted) {
    st = query_string(query, &name);
  } else {
    name = sp_arena_text(query->list->arena, lexer->start, lexer->bytes);
    st = name ? SPANPROF_OK : query->list->arena->st;
  }
  if (st)
    return st;
  sp_label_lexer_next(lexer);
  if (quoted && (lexer->word == SP_WORD_COMMA || lexer->word == SP_WORD_CLOSE))
    return query_add(query, at, SP_MATCH_EQUAL, "__name__", name);
  if (!query_operator(lexer->word, &kind))
    return query_name_hint(query, at)
               ? SPANPROF_ERR_NOMEM
               : query_unexpected(query, "label matching",
                                  "label matching operator");
  sp_label_lexer_next(lexer);
  if (lexer->word != SP_WORD_STRING)
    return query_unexpected(query, "label matching", "string");
  st = query_string(query, &value);
  if (!st)
    st = query_add(query, at, kind, name, value);
  if (!st)
    sp_label_lexer_next(lexer);
  return st;
}

/* Parse the matchers in braces; the current word is the opening brace. */
static spanprof_status query_matchers(label_query *query) {
  sp_label_lexer *lexer = &query->lexer;
  spanprof_status st;

  sp_label_lexer_next(lexer);
  while (lexer->word != SP_WORD_CLOSE) {
    if (lexer->word != SP_WORD_NAME && lexer->word != SP_WORD_STRING)
      return query_name_hint(query, lexer->start)
                 ? SPANPROF_ERR_NOMEM
                 : query_unexpected(query, "label matching",
                                    "identifier or \"}\"");
    st = query_matcher(query);
    if (st)
      return st;
    if (lexer->word == SP_WORD_COMMA)
      sp_label_lexer_next(lexer);
    else if (lexer->word != SP_WORD_CLOSE)
      return query_unexpected(query, "label matching", "\",\" or \"}\"");
  }
  sp_label_lexer_next(lexer);
  return SPANPROF_OK;
}

/* Parse the text before the braces: the name of a metric or of an application,
 * or nothing. */
static spanprof_status query_front(label_query *query, const char **type) {
  sp_label_lexer *lexer = &query->lexer;
  const char *at = lexer->text + strspn(lexer->text, " \t\r\n");
  const size_t bytes = sp_classic_name_bytes(at);
  const char *name;
  spanprof_status st;

  if (bytes > 0) {
    lexer->at = at + bytes;
    st = sp_classic_match(query->list, at, bytes, type, query->fault);
    sp_label_lexer_next(lexer);
    return st;
  }
  sp_label_lexer_next(lexer);
  if (lexer->word == SP_WORD_OPEN)
    return SPANPROF_OK;
  if (lexer->word != SP_WORD_NAME && lexer->word != SP_WORD_METRIC_NAME)
    return query_unexpected(query, NULL, NULL);
  name = sp_arena_text(query->list->arena, lexer->start, lexer->bytes);
  if (!name)
    return query->list->arena->st;
  st = query_add(query, at, SP_MATCH_EQUAL, "__name__", name);
  sp_label_lexer_next(lexer);
  return st;
}

spanprof_status sp_label_query_parse(sp_matcher_list *list, const char *text,
                                     const char **type, sp_query_fault *fault) {
  label_query query = {
      .lexer = sp_label_lexer_of(text), .list = list, .fault = fault};
  spanprof_status st;

  if (type)
    *type = NULL;
  if (strnlen(text, SP_LABEL_QUERY_BYTES_MAX + 1) > SP_LABEL_QUERY_BYTES_MAX)
    return sp_query_refuse(fault, SP_CODE_INVALID,
                           "a label selector has at most %zu bytes",
                           SP_LABEL_QUERY_BYTES_MAX);
  if (!sp_utf8_valid(text, strlen(text)))
    return sp_query_refuse(fault, SP_CODE_INVALID,
                           "a label selector is not valid UTF-8");
  st = query_front(&query, type);
  if (!st && query.lexer.word == SP_WORD_OPEN)
    st = query_matchers(&query);
  if (!st && query.lexer.word != SP_WORD_END)
    st = query_unexpected(&query, NULL, NULL);
  return st;
}
