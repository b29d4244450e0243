#include "foreign_file.h"

#include "foreign_folded.h"
#include "foreign_json.h"
#include "foreign_perf.h"
#include "util/system/status.h"
#include "util/text/text_lines.h"
#include "util/text/utf8.h"

#define FOREIGN_JSON_BYTES_MAX ((size_t)1 << 30)
#define FOREIGN_LINES_MAX      200 /* lines examined to recognise a format */

static const sp_foreign_format *const foreign_json_formats[] = {
    &sp_foreign_speedscope, &sp_foreign_cpuprofile, &sp_foreign_heapprofile,
    &sp_foreign_firefox,    &sp_foreign_stackprof,  &sp_foreign_flamebearer,
    &sp_foreign_trace};

#define FOREIGN_CONVERT                                                    \
  "is a profile of gperftools, jemalloc or an old Go: convert it with go " \
  "tool pprof -proto"

/* Recognise an unsupported kind of file by its beginning. Returns how to
 * convert such a file, or NULL if the kind is not known. */
static const char *foreign_other_kind(sp_view file) {
  static const struct {
    const char *begins;
    size_t size;
    const char *hint;
  } kinds[] = {
      {"\xff\xfe", 2, "is text in UTF-16: save it as UTF-8"},
      {"\xfe\xff", 2, "is text in UTF-16: save it as UTF-8"},
      {"PERFILE", 7, "is perf.data: use the output of perf script"},
      {"\x04\x08", 2,
       "is Ruby's Marshal format, which stackprof writes: convert it with "
       "stackprof --json"},
      {"<!doctype html", 14, "is a web page: open it in a browser"},
      {"<!DOCTYPE html", 14, "is a web page: open it in a browser"},
      {"<svg", 4, "is a picture: export the graph as pprof instead"},
      {"heap profile:", 13, FOREIGN_CONVERT},
      {"heap_v2/", 8, FOREIGN_CONVERT},
      {"goroutine profile:", 18, FOREIGN_CONVERT},
      {"--- ", 4, FOREIGN_CONVERT},
      /* A CPU profile of gperftools begins with the words 0 and 3. */
      {"\0\0\0\0\0\0\0\0", 8, FOREIGN_CONVERT},
      {"\0\0\0\0\3\0\0\0", 8, FOREIGN_CONVERT},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(kinds); i++)
    if (file.size >= kinds[i].size &&
        memcmp(file.bytes, kinds[i].begins, kinds[i].size) == 0)
      return kinds[i].hint;
  return NULL;
}

/* Read a document, if it has one of the formats. */
static spanprof_status foreign_document(sp_foreign *foreign,
                                        const sp_json_node *root) {
  size_t i;

  for (i = 0; i < SP_COUNT_OF(foreign_json_formats); i++)
    if (foreign_json_formats[i]->is(root))
      return foreign_json_formats[i]->read(foreign, root);
  return sp_fail(SPANPROF_ERR_FORMAT,
                 "is JSON, but neither speedscope, .cpuprofile, .heapprofile, "
                 "a Firefox profile, a Chrome trace, stackprof nor "
                 "flamebearer");
}

/* Read JSON. Sets *is_json to false if the text is not JSON. */
static spanprof_status foreign_json(sp_foreign *foreign, sp_view text,
                                    bool *is_json) {
  const sp_json_node *root;
  spanprof_status st;
  sp_arena arena;

  sp_arena_init(&arena, foreign->mem, FOREIGN_JSON_BYTES_MAX);
  st = sp_json_parse(&root, &arena, text.bytes, text.size);
  *is_json = st != SPANPROF_ERR_FORMAT;
  if (st == SPANPROF_ERR_LIMIT)
    st = sp_fail(st, "is too large");
  else if (*is_json && !st)
    st = foreign_document(foreign, root);
  else if (!*is_json)
    st = SPANPROF_OK;
  sp_arena_dispose(&arena);
  return st;
}

/* Returns whether a text has the lines of Callgrind's format: its header ends
 * with the names of the events, and functions follow. Such a file is refused,
 * because it contains only costs of functions and of calls, and no stacks. */
static bool foreign_is_callgrind(sp_view text) {
  const char *at = text.bytes, *end = at + text.size;
  bool has_events = false;
  sp_text_line line;
  size_t i;

  for (i = 0; i < FOREIGN_LINES_MAX && sp_text_next_line(&at, end, &line);
       i++) {
    const sp_view bytes = sp_view_of(line.at, line.size);

    has_events |= sp_view_starts(bytes, "events:");
    if (has_events && sp_view_starts(bytes, "fn="))
      return true;
  }
  return false;
}

/* Read a text. Each format is recognised by its own features, because folded
 * stacks may begin like JSON. Sets *is_known to whether the format is known. */
static spanprof_status foreign_text(sp_foreign *foreign, const char *name,
                                    sp_view text, sp_foreign_file *out,
                                    bool *is_known) {
  const sp_view start = sp_view_trim(text);
  const bool is_like_json =
      start.size && (*start.bytes == '{' || *start.bytes == '[');
  spanprof_status st = SPANPROF_OK;

  *is_known = false;
  if (is_like_json)
    st = foreign_json(foreign, text, is_known);
  if (*is_known)
    return st;
  *is_known = true;
  if (foreign_is_callgrind(text))
    return sp_fail(SPANPROF_ERR_FORMAT,
                   "is a profile of Callgrind, which has no stacks: open it in "
                   "KCachegrind");
  if (sp_foreign_perf_is(text))
    return sp_foreign_perf_read(foreign, text);
  out->is_folded = sp_foreign_folded_is(name, text);
  if (out->is_folded)
    return sp_foreign_folded_read(foreign, text);
  if (is_like_json)
    return sp_fail(SPANPROF_ERR_FORMAT,
                   "begins like JSON, but is not valid JSON");
  *is_known = false;
  return SPANPROF_OK;
}

static bool foreign_is_text(sp_view file) {
  return !memchr(file.bytes, '\0', file.size) &&
         sp_utf8_valid(file.bytes, file.size);
}

/* Read a text. Sets *is_known to whether the format is known. */
static spanprof_status foreign_read(sp_foreign_file *out, const sp_mem *mem,
                                    const char *name, sp_view text,
                                    bool *is_known) {
  sp_foreign foreign;
  spanprof_status st = sp_foreign_init(&foreign, mem);

  if (!st)
    st = foreign_text(&foreign, name, text, out, is_known);
  if (!st && *is_known && foreign.type_count == 0)
    st = sp_fail(SPANPROF_ERR_FORMAT, "has no samples");
  if (!st && *is_known) {
    out->is_other = true;
    out->type_count = foreign.type_count;
    st = sp_foreign_finish(&foreign, &out->profile);
  }
  if (st == SPANPROF_ERR_LIMIT && foreign.arena && foreign.arena->st == st)
    sp_fail(st, "needs more than %zu MiB of memory", SP_PPROF_MEMORY_MAX >> 20);
  sp_foreign_dispose(&foreign);
  return st;
}

static spanprof_status foreign_pprof(sp_foreign_file *out, const sp_mem *mem,
                                     sp_view file, bool is_text) {
  spanprof_status st = sp_pprof_read(&out->profile, mem, file.bytes, file.size);

  if (!st)
    out->type_count = out->profile->type_count;
  if (st == SPANPROF_ERR_FORMAT && is_text)
    return sp_fail(st, "is text of another kind: neither folded stacks, the "
                       "output of perf script nor JSON");
  return st;
}

spanprof_status sp_foreign_file_read(sp_foreign_file *out, const sp_mem *mem,
                                     const char *name, const void *bytes,
                                     size_t size) {
  const sp_view file = sp_view_of(size ? bytes : "", size);
  const char *other = foreign_other_kind(file);
  const bool is_text = foreign_is_text(file);
  bool is_known = false;
  spanprof_status st = SPANPROF_OK;

  *out = (sp_foreign_file){.profile = NULL};
  if (sp_view_trim(file).size == 0)
    return sp_fail(SPANPROF_ERR_FORMAT, "is empty");
  if (other)
    return sp_fail(SPANPROF_ERR_FORMAT, "%s", other);
  if (is_text)
    st = foreign_read(out, mem, name, file, &is_known);
  return st || is_known ? st : foreign_pprof(out, mem, file, is_text);
}
