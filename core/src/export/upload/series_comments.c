#include "series_comments.h"

#include <string.h>

#include "gzip_store.h"
#include "profile/pprof/pprof_fields.h"
#include "profile/pprof/wire.h"

#define COMMENTS_BEGIN "label "

static void comments_put(sp_buffer *out, const char *name, const char *value,
                         uint32_t text) {
  sp_wire_put_tag(out, SP_PPROF_FIELD_TEXT, SP_WIRE_BYTES);
  sp_varint_append(out,
                   strlen(COMMENTS_BEGIN) + strlen(name) + 1 + strlen(value));
  sp_buffer_format(out, COMMENTS_BEGIN "%s=%s", name, value);
  sp_wire_put_tag(out, SP_PPROF_FIELD_COMMENT, SP_WIRE_NUMBER);
  sp_varint_append(out, text);
}

void sp_series_comments_write(const sp_series *series, uint32_t text_count,
                              sp_buffer *out) {
  const char *name = NULL, *value = NULL;
  sp_buffer fields;

  sp_buffer_init(&fields, out->mem);
  while (sp_series_next(series, &name, &value))
    comments_put(&fields, name, value, text_count++);
  if (!fields.failed && fields.size)
    sp_gzip_store(out, fields.data, fields.size);
  out->failed |= fields.failed;
  sp_buffer_dispose(&fields);
}

/* If a comment is "label NAME=VALUE", append "NAME NUL VALUE NUL" to `text`. */
static void comment_append(const char *comment, sp_buffer *text, bool *named) {
  const char *name = comment + strlen(COMMENTS_BEGIN);
  const char *equals;

  if (strncmp(comment, COMMENTS_BEGIN, strlen(COMMENTS_BEGIN)) != 0)
    return;
  equals = strchr(name, '=');
  if (!equals || equals == name)
    return;
  sp_buffer_append(text, name, (size_t)(equals - name));
  sp_buffer_append(text, "", 1);
  sp_buffer_append(text, equals + 1, strlen(equals + 1) + 1);
  *named = *named || strncmp(name, "service_name=", 13) == 0;
}

spanprof_status sp_series_comments_read(const char *const *comments,
                                        size_t count, const sp_mem *mem,
                                        sp_series *out) {
  bool named = false;
  spanprof_status st;
  sp_buffer text;
  size_t i;

  memset(out, 0, sizeof *out);
  sp_buffer_init(&text, mem);
  for (i = 0; i < count; i++)
    comment_append(comments[i], &text, &named);
  st = text.failed ? SPANPROF_ERR_NOMEM
       : named     ? sp_series_read(out, mem, text.data, text.size)
                   : SPANPROF_ERR_FORMAT;
  sp_buffer_dispose(&text);
  return st;
}
