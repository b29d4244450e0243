#include "url_template.h"

#include <string.h>

#include "util/system/status.h"
#include "util/text/ascii.h"
#include "util/text/utf8.h"

/* All placeholders: the enumerator and the name in the template. */
#define TEMPLATE_FIELDS(X)    \
  X(APP, "app")               \
  X(SERVER, "server")         \
  X(QUERY, "query")           \
  X(PROFILE_ID, "profile_id") \
  X(TRACE_ID, "trace_id")     \
  X(SPAN_NAME, "span_name")   \
  X(FROM, "from")             \
  X(UNTIL, "until")           \
  X(FROM_MS, "from_ms")       \
  X(UNTIL_MS, "until_ms")

typedef enum template_field {
  TEMPLATE_LITERAL,
#define TEMPLATE_ENUM(name, text) TEMPLATE_##name,
  TEMPLATE_FIELDS(TEMPLATE_ENUM)
#undef TEMPLATE_ENUM
} template_field;

static const char *const template_names[] = {NULL,
#define TEMPLATE_NAME(name, text) text,
                                             TEMPLATE_FIELDS(TEMPLATE_NAME)
#undef TEMPLATE_NAME
};

typedef struct template_part {
  template_field field;
  size_t at; /* start of a literal in `text` */
  size_t bytes;
} template_part;

struct sp_url_template {
  const sp_mem *mem;
  char *text;
  template_part *parts;
  size_t count;
  size_t capacity;
};

static spanprof_status template_add(sp_url_template *url_template,
                                    template_field field, size_t at,
                                    size_t bytes) {
  spanprof_status st = SPANPROF_OK;

  if (field == TEMPLATE_LITERAL && bytes == 0)
    return SPANPROF_OK;
  st = sp_mem_reserve(url_template->mem, (void **)&url_template->parts,
                      &url_template->capacity, url_template->count + 1,
                      sizeof *url_template->parts);
  if (st)
    return sp_fail(st, "no memory for url_template");
  url_template->parts[url_template->count++] =
      (template_part){.field = field, .at = at, .bytes = bytes};
  return SPANPROF_OK;
}

/* Find a placeholder. Returns TEMPLATE_LITERAL if the name is unknown. */
static template_field template_field_of(const char *name, size_t bytes) {
  size_t i;

  for (i = 1; i < SP_COUNT_OF(template_names); i++)
    if (strlen(template_names[i]) == bytes &&
        memcmp(template_names[i], name, bytes) == 0)
      return (template_field)i;
  return TEMPLATE_LITERAL;
}

static spanprof_status template_parse(sp_url_template *url_template) {
  const char *text = url_template->text;
  size_t literal = 0, i = 0;
  spanprof_status st = SPANPROF_OK;

  while (!st && text[i]) {
    size_t bytes = strcspn(text + i, "{");
    template_field field;

    i += bytes;
    if (!text[i])
      break;
    if (text[i + 1] == '{') {
      /* The literal includes the first of two braces; the second is skipped. */
      st = template_add(url_template, TEMPLATE_LITERAL, literal,
                        i + 1 - literal);
      i += 2;
      literal = i;
      continue;
    }
    bytes = strcspn(text + i, "}");
    if (!text[i + bytes])
      return sp_fail(SPANPROF_ERR_ARGUMENT,
                     "url_template has a { without a }; write {{ for a brace");
    field = template_field_of(text + i + 1, bytes - 1);
    if (field == TEMPLATE_LITERAL)
      return sp_fail(SPANPROF_ERR_ARGUMENT,
                     "url_template has the unknown placeholder %.*s",
                     (int)(bytes + 1 < 64 ? bytes + 1 : 64), text + i);
    st = template_add(url_template, TEMPLATE_LITERAL, literal, i - literal);
    if (!st)
      st = template_add(url_template, field, 0, 0);
    i += bytes + 1;
    literal = i;
  }
  if (!st)
    st = template_add(url_template, TEMPLATE_LITERAL, literal,
                      strlen(text + literal));
  return st;
}

static spanprof_status template_check(const char *text) {
  if (!*text)
    return sp_fail(SPANPROF_ERR_ARGUMENT, "url_template is empty");
  if (!sp_utf8_valid(text, strlen(text)))
    return sp_fail(SPANPROF_ERR_ARGUMENT, "url_template is not UTF-8");
  if (sp_ascii_find_control(text, strlen(text)) < strlen(text))
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "url_template has a control character");
  return SPANPROF_OK;
}

/* Characters that never need encoding (RFC 3986, 2.3). */
static bool template_plain(char c) {
  return sp_ascii_word(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

static void template_encode(sp_buffer *out, const char *text, size_t bytes) {
  sp_buffer_encode(out, text, bytes, template_plain, NULL);
}

static void template_encode_query(sp_buffer *out, const sp_url_place *place,
                                  const sp_url_span *span) {
  sp_buffer query;

  sp_buffer_init(&query, out->mem);
  sp_profile_url_query(&query, place->application_name, span->profile_id);
  template_encode(out, query.data, query.size);
  out->failed |= query.failed;
  sp_buffer_dispose(&query);
}

static bool template_needs(const sp_url_template *url_template,
                           template_field field) {
  size_t i;

  for (i = 0; i < url_template->count; i++)
    if (url_template->parts[i].field == field)
      return true;
  return false;
}

spanprof_status sp_url_template_new(const char *text, const sp_mem *mem,
                                    sp_url_template **out) {
  sp_url_template *url_template = NULL;
  spanprof_status st = template_check(text);

  *out = NULL;
  if (st)
    return st;
  url_template = sp_mem_zero(mem, sizeof *url_template);
  if (!url_template)
    return sp_fail(SPANPROF_ERR_NOMEM, "no memory for url_template");
  url_template->mem = mem;
  url_template->text = sp_mem_text(mem, text, strlen(text));
  st = url_template->text
           ? template_parse(url_template)
           : sp_fail(SPANPROF_ERR_NOMEM, "no memory for url_template");
  if (st) {
    sp_url_template_free(url_template);
    return st;
  }
  *out = url_template;
  return SPANPROF_OK;
}

void sp_url_template_free(sp_url_template *url_template) {
  if (!url_template)
    return;
  sp_mem_free(url_template->mem, url_template->parts);
  sp_mem_free(url_template->mem, url_template->text);
  sp_mem_free(url_template->mem, url_template);
}

void sp_url_template_write(const sp_url_template *url_template,
                           const sp_url_place *place, const sp_url_span *span,
                           int64_t now_s, sp_buffer *out) {
  size_t i;

  if ((!place->application_name &&
       (template_needs(url_template, TEMPLATE_APP) ||
        template_needs(url_template, TEMPLATE_QUERY))) ||
      (!place->server_address && template_needs(url_template, TEMPLATE_SERVER)))
    return;
  for (i = 0; i < url_template->count; i++) {
    const template_part *part = &url_template->parts[i];

    switch (part->field) {
    case TEMPLATE_LITERAL:
      sp_buffer_append(out, url_template->text + part->at, part->bytes);
      break;
    case TEMPLATE_APP:
      template_encode(out, place->application_name,
                      sp_profile_url_app_bytes(place->application_name));
      break;
    case TEMPLATE_SERVER:
      if (i == 0)
        sp_buffer_text(out, place->server_address);
      else
        template_encode(out, place->server_address,
                        strlen(place->server_address));
      break;
    case TEMPLATE_QUERY:
      template_encode_query(out, place, span);
      break;
    case TEMPLATE_PROFILE_ID:
      sp_buffer_text(out, span->profile_id);
      break;
    case TEMPLATE_TRACE_ID:
      sp_buffer_text(out, span->trace_id);
      break;
    case TEMPLATE_SPAN_NAME:
      template_encode(out, span->name, span->name_bytes);
      break;
    case TEMPLATE_FROM:
      sp_buffer_number(out, now_s);
      break;
    case TEMPLATE_UNTIL:
      sp_buffer_number(out, now_s + SP_URL_WINDOW_S);
      break;
    case TEMPLATE_FROM_MS:
      sp_buffer_number(out, now_s * 1000);
      break;
    case TEMPLATE_UNTIL_MS:
      sp_buffer_number(out, (now_s + SP_URL_WINDOW_S) * 1000);
      break;
    }
  }
}
