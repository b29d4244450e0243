#include "json_tree.h"

#include <math.h>

#include "util/text/json_string.h"

#define JSON_EXACT_POWER 22 /* 10^22 is the largest exact power of ten */

/* A list or object whose end was not read yet. */
typedef struct document_open {
  size_t first; /* index of its first item in `values` */
  bool is_object;
} document_open;

typedef struct document_parsing {
  sp_arena *arena;
  const char *at;
  const char *end;
  sp_json_node *values; /* items of all open lists and objects */
  size_t value_count;
  size_t value_capacity;
  document_open *open;
  size_t open_count;
  size_t open_capacity;
} document_parsing;

static const sp_json_node document_missing;

static char document_peek(document_parsing *p) {
  while (p->at < p->end &&
         (*p->at == ' ' || *p->at == '\n' || *p->at == '\r' || *p->at == '\t'))
    p->at++;
  return p->at < p->end ? *p->at : '\0';
}

/* Append a value to the innermost open list or object. */
static spanprof_status document_push(document_parsing *p, sp_json_node value) {
  if (sp_mem_reserve(p->arena->mem, (void **)&p->values, &p->value_capacity,
                     p->value_count + 1, sizeof *p->values))
    return SPANPROF_ERR_NOMEM;
  p->values[p->value_count++] = value;
  return SPANPROF_OK;
}

/* Decode a string with escapes, whose bytes end at `end`. A half of a surrogate
 * pair becomes U+FFFD. */
static spanprof_status document_decode(document_parsing *p, const char *end,
                                       sp_json_node *out) {
  char *text = sp_arena_new(p->arena, (size_t)(end - p->at) + 1, 1);
  size_t used = 0, size;

  if (!text)
    return p->arena->st;
  while (p->at < end) {
    size = sp_json_read(&p->at, end, text + used);
    if (!size && end - p->at >= 6 && p->at[0] == '\\' && p->at[1] == 'u') {
      memcpy(text + used, "\xef\xbf\xbd", size = 3);
      p->at += 6;
    }
    if (!size)
      return SPANPROF_ERR_FORMAT;
    used += size;
  }
  out->text = text;
  out->count = (uint32_t)used;
  return SPANPROF_OK;
}

static spanprof_status document_text(document_parsing *p, sp_json_node *out) {
  const char *end = ++p->at;
  bool has_escape = false;
  spanprof_status st = SPANPROF_OK;

  while (end < p->end && *end != '"') {
    if ((unsigned char)*end < 0x20)
      return SPANPROF_ERR_FORMAT;
    has_escape |= *end == '\\';
    end += *end == '\\' ? 2 : 1;
  }
  if (end >= p->end || end - p->at >= UINT32_MAX)
    return SPANPROF_ERR_FORMAT;
  *out = (sp_json_node){
      .kind = SP_JSON_TEXT, .count = (uint32_t)(end - p->at), .text = p->at};
  if (has_escape)
    st = document_decode(p, end, out);
  p->at = end + 1;
  return st;
}

/* Read digits, and add them to *value. Further digits than fit *value only
 * count. Returns the number of digits. */
static int document_digits(document_parsing *p, uint64_t *value, int *dropped) {
  int count = 0;

  for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++, count++)
    if (*value < UINT64_MAX / 10 - 1)
      *value = *value * 10 + (uint64_t)(*p->at - '0');
    else
      ++*dropped;
  return count;
}

/* Read the exponent of a number, which is optional. */
static bool document_exponent(document_parsing *p, int *out) {
  bool minus = false;
  uint64_t value = 0;
  int dropped = 0;

  *out = 0;
  if (p->at == p->end || (*p->at != 'e' && *p->at != 'E'))
    return true;
  p->at++;
  if (p->at < p->end && (*p->at == '-' || *p->at == '+'))
    minus = *p->at++ == '-';
  if (!document_digits(p, &value, &dropped))
    return false;
  *out = value > 9999 ? 9999 : (int)value;
  *out = minus ? -*out : *out;
  return true;
}

static double document_scaled(uint64_t value, int power) {
  if (value == 0 || power == 0)
    return (double)value;
  if (power < 0 && power >= -JSON_EXACT_POWER)
    return (double)value / pow(10, -power);
  return (double)value * pow(10, power);
}

static spanprof_status document_number(document_parsing *p, sp_json_node *out) {
  const bool minus = *p->at == '-';
  uint64_t value = 0;
  int dropped = 0, places = 0, dropped_places = 0, exponent;

  p->at += minus;
  if (!document_digits(p, &value, &dropped))
    return SPANPROF_ERR_FORMAT;
  if (p->at < p->end && *p->at == '.') {
    p->at++;
    places = document_digits(p, &value, &dropped_places);
    if (!places)
      return SPANPROF_ERR_FORMAT;
  }
  if (!document_exponent(p, &exponent))
    return SPANPROF_ERR_FORMAT;
  *out = (sp_json_node){.kind = SP_JSON_NUMBER};
  out->number =
      document_scaled(value, exponent + dropped + dropped_places - places);
  if (minus)
    out->number = -out->number;
  return SPANPROF_OK;
}

static spanprof_status document_word(document_parsing *p, sp_json_node *out) {
  static const struct {
    const char *word;
    sp_json_kind kind;
    double number;
  } words[] = {{"null", SP_JSON_NULL, 0},
               {"true", SP_JSON_BOOLEAN, 1},
               {"false", SP_JSON_BOOLEAN, 0}};
  size_t i, size;

  for (i = 0; i < SP_COUNT_OF(words); i++) {
    size = strlen(words[i].word);
    if ((size_t)(p->end - p->at) < size || memcmp(p->at, words[i].word, size))
      continue;
    *out = (sp_json_node){.kind = words[i].kind, .number = words[i].number};
    p->at += size;
    return SPANPROF_OK;
  }
  return SPANPROF_ERR_FORMAT;
}

static spanprof_status document_scalar(document_parsing *p) {
  const char c = *p->at;
  sp_json_node value;
  spanprof_status st = c == '"' ? document_text(p, &value)
                       : c == '-' || (c >= '0' && c <= '9')
                           ? document_number(p, &value)
                           : document_word(p, &value);

  return st ? st : document_push(p, value);
}

/* Replace the items of the innermost open list or object by the value that
 * contains them. */
static spanprof_status document_close(document_parsing *p) {
  const document_open open = p->open[--p->open_count];
  const size_t count = p->value_count - open.first;
  sp_json_node *items = sp_arena_new(p->arena, count, sizeof *items);
  sp_json_node value = {.kind = open.is_object ? SP_JSON_OBJECT : SP_JSON_LIST};

  if (!items || count >= UINT32_MAX)
    return items ? SPANPROF_ERR_LIMIT : p->arena->st;
  if (count)
    memcpy(items, p->values + open.first, count * sizeof *items);
  value.items = items;
  value.count = (uint32_t)(open.is_object ? count / 2 : count);
  p->value_count = open.first;
  p->at++;
  return document_push(p, value);
}

static char document_closing(const document_parsing *p) {
  return p->open[p->open_count - 1].is_object ? '}' : ']';
}

/* Read the key of the next member, if an object is open. */
static spanprof_status document_key(document_parsing *p) {
  sp_json_node key;
  spanprof_status st;

  if (!p->open_count || !p->open[p->open_count - 1].is_object)
    return SPANPROF_OK;
  if (document_peek(p) != '"')
    return SPANPROF_ERR_FORMAT;
  st = document_text(p, &key);
  if (!st)
    st = document_push(p, key);
  if (!st && document_peek(p) != ':')
    st = SPANPROF_ERR_FORMAT;
  p->at++;
  return st;
}

/* Open a list or object. Sets *is_empty if it ends at once, with its end still
 * to be read. */
static spanprof_status document_begin(document_parsing *p, bool *is_empty) {
  if (sp_mem_reserve(p->arena->mem, (void **)&p->open, &p->open_capacity,
                     p->open_count + 1, sizeof *p->open))
    return SPANPROF_ERR_NOMEM;
  p->open[p->open_count++] =
      (document_open){.first = p->value_count, .is_object = *p->at == '{'};
  p->at++;
  *is_empty = document_peek(p) == document_closing(p);
  return SPANPROF_OK;
}

/* Read one value with all that it contains. Does not recurse, because a
 * document may have any depth. */
static spanprof_status document_value(document_parsing *p) {
  spanprof_status st;
  bool is_empty = false;
  char c;

  do {
    st = document_key(p);
    c = document_peek(p);
    if (!st && (c == '{' || c == '[')) {
      st = document_begin(p, &is_empty);
      if (!st && !is_empty)
        continue;
    } else if (!st) {
      st = p->at < p->end ? document_scalar(p) : SPANPROF_ERR_FORMAT;
    }
    while (!st && p->open_count && document_peek(p) == document_closing(p))
      st = document_close(p);
    if (!st && p->open_count && (p->at == p->end || *p->at++ != ','))
      st = SPANPROF_ERR_FORMAT;
  } while (!st && p->open_count);
  return st;
}

spanprof_status sp_json_parse(const sp_json_node **out, sp_arena *arena,
                              const char *text, size_t size) {
  document_parsing p = {.arena = arena, .at = text, .end = text + size};
  sp_json_node *root = sp_arena_new(arena, 1, sizeof *root);
  spanprof_status st = root ? document_value(&p) : arena->st;

  if (!st && (document_peek(&p), p.at < p.end))
    st = SPANPROF_ERR_FORMAT;
  if (!st)
    *root = p.values[0];
  sp_mem_free(arena->mem, p.values);
  sp_mem_free(arena->mem, p.open);
  *out = root;
  return st;
}

const sp_json_node *sp_json_member(const sp_json_node *object,
                                   const char *key) {
  size_t i;

  for (i = 0; object->kind == SP_JSON_OBJECT && i < object->count; i++)
    if (sp_view_is(sp_json_view(&object->items[i * 2]), key))
      return &object->items[i * 2 + 1];
  return &document_missing;
}

const sp_json_node *sp_json_item(const sp_json_node *list, size_t i) {
  return list->kind == SP_JSON_LIST && i < list->count ? &list->items[i]
                                                       : &document_missing;
}

size_t sp_json_count(const sp_json_node *list) {
  return list->kind == SP_JSON_LIST ? list->count : 0;
}

sp_view sp_json_view(const sp_json_node *text) {
  return text->kind == SP_JSON_TEXT ? sp_view_of(text->text, text->count)
                                    : sp_view_of("", 0);
}

double sp_json_number(const sp_json_node *number, double otherwise) {
  return number->kind == SP_JSON_NUMBER ? number->number : otherwise;
}

uint32_t sp_json_index(const sp_json_node *number) {
  const double value = sp_json_number(number, -1);

  return value >= 0 && value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}
