#include "multipart.h"

#include <strings.h>

#define MULTIPART_BOUNDARY_MAX 70 /* bytes; RFC 2046, 5.1.1 */
#define MULTIPART_PARTS_MAX    1000
#define MULTIPART_HEADER_MAX   ((size_t)64 << 10) /* all headers of one part */

/* Get the value of the parameter `key` of a header such as "a; key=value;
 * other="x"". *out has no quotes. */
static bool multipart_parameter(sp_view header, const char *key, sp_view *out) {
  const size_t size = strlen(key);
  size_t at = 0, end;

  while (at < header.size) {
    const char *semicolon = memchr(header.bytes + at, ';', header.size - at);
    sp_view remaining;

    if (!semicolon)
      return false;
    at = (size_t)(semicolon - header.bytes) + 1;
    remaining = sp_view_trim(sp_view_of(header.bytes + at, header.size - at));
    if (remaining.size <= size ||
        strncasecmp(remaining.bytes, key, size) != 0 ||
        remaining.bytes[size] != '=')
      continue;
    remaining =
        sp_view_of(remaining.bytes + size + 1, remaining.size - size - 1);
    if (remaining.size && remaining.bytes[0] == '"') {
      remaining = sp_view_of(remaining.bytes + 1, remaining.size - 1);
      for (end = 0; end < remaining.size && remaining.bytes[end] != '"'; end++)
        ;
    } else {
      for (end = 0; end < remaining.size && remaining.bytes[end] != ';'; end++)
        ;
    }
    *out = sp_view_of(remaining.bytes, end);
    return true;
  }
  return false;
}

/* Find the next delimiter, "--" and the boundary, from the offset `from` on.
 * Returns body.size if there is none. */
static size_t multipart_find(sp_view body, size_t from, sp_view delimiter) {
  const char *at = body.bytes + from;

  while (body.size - from >= delimiter.size) {
    at = memmem(body.bytes + from, body.size - from, delimiter.bytes,
                delimiter.size);
    if (!at)
      break;
    if (at == body.bytes || at[-1] == '\n')
      return (size_t)(at - body.bytes);
    from = (size_t)(at - body.bytes) + 1;
  }
  return body.size;
}

/* Read one header line of a part and advance *remaining. An empty line ends the
 * headers. */
static bool multipart_line(sp_view *remaining, sp_view *out) {
  const char *end =
      remaining->size ? memchr(remaining->bytes, '\n', remaining->size) : NULL;

  if (!end)
    return false;
  *out = sp_view_trim(
      sp_view_of(remaining->bytes, (size_t)(end - remaining->bytes)));
  remaining->size -= (size_t)(end + 1 - remaining->bytes);
  remaining->bytes = end + 1;
  return true;
}

/* Read a part between two delimiters. Returns false if its headers have no end.
 */
static bool multipart_part(sp_view part, sp_view *name, bool *is_file) {
  sp_view remaining = part, line, file;

  *name = sp_view_of("", 0);
  *is_file = false;
  while (multipart_line(&remaining, &line)) {
    if (part.size - remaining.size > MULTIPART_HEADER_MAX)
      return false;
    if (!line.size) {
      *name = *is_file ? *name : sp_view_of("", 0);
      return true;
    }
    if (line.size > strlen("content-disposition:") &&
        strncasecmp(line.bytes, "content-disposition:",
                    strlen("content-disposition:")) == 0) {
      multipart_parameter(line, "name", name);
      *is_file = multipart_parameter(line, "filename", &file) && file.size;
    }
  }
  return false;
}

/* Returns the content of a part: from the end of its headers to the line end
 * before the next delimiter. */
static sp_view multipart_content(sp_view part) {
  sp_view remaining = part, line;

  while (multipart_line(&remaining, &line) && line.size)
    ;
  if (remaining.size && remaining.bytes[remaining.size - 1] == '\n')
    remaining.size--;
  if (remaining.size && remaining.bytes[remaining.size - 1] == '\r')
    remaining.size--;
  return remaining;
}

static spanprof_status multipart_read(sp_view body, sp_view delimiter,
                                      sp_multipart_visit visit, void *data,
                                      sp_refusal *refusal) {
  size_t at = multipart_find(body, 0, delimiter), next, parts;
  sp_view part, name, line, remaining;
  bool is_file;

  for (parts = 0; at < body.size && parts <= MULTIPART_PARTS_MAX; parts++) {
    remaining = sp_view_of(body.bytes + at + delimiter.size,
                           body.size - at - delimiter.size);
    if (sp_view_starts(remaining, "--"))
      return SPANPROF_OK;
    if (!multipart_line(&remaining, &line) || line.size)
      break;
    next =
        multipart_find(body, (size_t)(remaining.bytes - body.bytes), delimiter);
    if (next == body.size)
      break;
    part = sp_view_of(remaining.bytes,
                      (size_t)(body.bytes + next - remaining.bytes));
    if (!multipart_part(part, &name, &is_file))
      break;
    if (is_file && !visit(data, name, multipart_content(part)))
      return SPANPROF_OK;
    at = next;
  }
  return sp_refuse(refusal, SP_REFUSAL_BROKEN,
                   "failed to parse pprof /ingest multipart form multipart: "
                   "NextPart: EOF");
}

spanprof_status sp_multipart_files(const char *type, sp_view body,
                                   sp_multipart_visit visit, void *data,
                                   sp_refusal *refusal) {
  char delimiter[2 + MULTIPART_BOUNDARY_MAX];
  sp_view boundary;

  if (!multipart_parameter(sp_view_text(type), "boundary", &boundary))
    boundary = sp_view_of("", 0);
  boundary = sp_view_trim(boundary);
  if (!boundary.size || boundary.size > MULTIPART_BOUNDARY_MAX)
    return sp_refuse(refusal, SP_REFUSAL_BROKEN,
                     "failed to parse pprof /ingest multipart form malformed "
                     "multipart content type header");
  memcpy(delimiter, "--", 2);
  memcpy(delimiter + 2, boundary.bytes, boundary.size);
  return multipart_read(body, sp_view_of(delimiter, boundary.size + 2), visit,
                        data, refusal);
}
