/* /api/v1/lines: the values of one function by source line. */
#include <string.h>

#include "api_call.h"
#include "server/model/query_time.h"
#include "server/model/source_file.h"
#include "server/query/series/render_query.h"
#include "server/query/tree/line_table.h"
#include "server/query/tree/stack_query.h"
#include "util/text/utf8.h"

/* Number of lines of the file that are written before and after those of the
 * function. After LINES_MAX lines, further lines of the function are omitted.
 */
#define LINES_BEFORE 3
#define LINES_AFTER  5
#define LINES_MAX    2000

/* A file cannot have more lines than bytes. */
#define LINES_LAST ((int64_t)SP_SOURCE_BYTES_MAX)

/* Longer lines are cut. */
#define LINES_TEXT_MAX 1000

static void lines_put_rows(sp_json *json, const sp_line_table *table) {
  size_t i;

  sp_json_member_open(json, "lines", '{');
  sp_json_member_open(json, "line", '[');
  for (i = 0; i < table->count; i++)
    sp_json_int(json, table->rows[i].line);
  sp_json_close(json, ']');
  sp_json_member_open(json, "self", '[');
  for (i = 0; i < table->count; i++)
    sp_json_int(json, table->rows[i].self);
  sp_json_close(json, ']');
  sp_json_member_open(json, "total", '[');
  for (i = 0; i < table->count; i++)
    sp_json_int(json, table->rows[i].total);
  sp_json_close(json, ']');
  sp_json_close(json, '}');
}

/* Write a line of a file, which may have any bytes. */
static void lines_put_text(sp_json *json, const char *text, size_t size) {
  char line[LINES_TEXT_MAX];
  bool changed;

  if (size > 0 && text[size - 1] == '\r')
    size--;
  if (size > sizeof line) {
    size = sizeof line;
    while (size > 0 && (text[size] & 0xc0) == 0x80)
      size--;
  }
  if (!sp_utf8_valid(text, size)) {
    size = sp_utf8_clean(text, size, line, sizeof line, &changed);
    text = line;
  }
  sp_json_text_bytes(json, text, size);
}

/* Write the lines of the file from `first` to `last`, as far as they exist. */
static void lines_put_texts(sp_json *json, const sp_buffer *text, int64_t first,
                            int64_t last) {
  const char *at = text->data, *end = at + text->size;
  int64_t line;

  sp_json_member_open(json, "lines", '[');
  for (line = 1; at < end && line <= last; line++) {
    const char *next = memchr(at, '\n', (size_t)(end - at));
    const char *until = next ? next : end;

    if (line >= first)
      lines_put_text(json, at, (size_t)(until - at));
    at = until + (next != NULL);
  }
  sp_json_close(json, ']');
}

/* Get the first and the last line of the file to write. Returns false if no
 * line of the function is known. */
static bool lines_range(const sp_line_table *table, int64_t *first,
                        int64_t *last) {
  size_t i = 0;

  while (i < table->count && table->rows[i].line <= 0)
    i++;
  if (i == table->count || table->rows[i].line > LINES_LAST)
    return false;
  *first = table->rows[i].line;
  if (table->start_line > 0 && table->start_line < *first)
    *first = table->start_line;
  *first = *first > LINES_BEFORE ? *first - LINES_BEFORE : 1;
  *last = table->rows[table->count - 1].line;
  if (*last > *first + LINES_MAX)
    *last = *first + LINES_MAX;
  *last += LINES_AFTER;
  return true;
}

/* Write the text around the lines of the function, or null if there is no
 * readable file. */
static spanprof_status lines_put_source(sp_api *api, const sp_line_table *table,
                                        const char *file) {
  const sp_serve_options *options = api->query.serve->options;
  sp_json *json = &api->json;
  sp_source_file source = {0};
  int64_t first = 1, last = 0;
  spanprof_status st = SPANPROF_OK;

  if (lines_range(table, &first, &last))
    st = sp_source_file_find(&source, api->query.mem, options->sources,
                             options->source_count, file);
  sp_json_key(json, "source");
  if (st || !source.path) {
    sp_json_null(json);
  } else {
    sp_json_open(json, '{');
    sp_json_member_text(json, "file", source.path);
    sp_json_member_int(json, "modifiedMs",
                       source.modified_ns / (int64_t)SP_NS_PER_MS);
    sp_json_key(json, "isNewer");
    sp_json_bool(json,
                 source.modified_ns > sp_query_ns(api->plan.selector.from_ms));
    sp_json_member_int(json, "firstLine", first);
    lines_put_texts(json, &source.text, first, last);
    sp_json_close(json, '}');
  }
  sp_source_file_dispose(&source);
  return st;
}

static spanprof_status lines_put(sp_api *api, const sp_line_table *table,
                                 uint64_t merged, const char *file) {
  const sp_serve_options *options = api->query.serve->options;
  sp_json *json = &api->json;
  const char *type, *unit;
  spanprof_status st = sp_render_type(&api->plan, &type, &unit);

  if (st)
    return st;
  sp_json_open(json, '{');
  sp_json_member_text(json, "type", type);
  sp_json_member_text(json, "unit", unit);
  sp_json_member_int(json, "all", table->all);
  sp_json_member_int(json, "self", table->self);
  sp_json_member_int(json, "total", table->total);
  sp_json_member_int(json, "startLine", table->start_line);
  if (merged > 0)
    sp_json_member_int(json, "merged", (int64_t)merged);
  lines_put_rows(json, table);
  if (options && options->source_count > 0 && file)
    st = lines_put_source(api, table, file);
  sp_json_close(json, '}');
  return st;
}

spanprof_status sp_api_lines(sp_api *api) {
  const char *name = sp_api_parameter(api, "function");
  const char *file = sp_http_query(api->query.http, "file");
  sp_stack_tree *stacks = NULL;
  sp_line_table table = {0};
  spanprof_status st = sp_api_plan(api);

  if (!st && !name)
    st = sp_query_invalid(&api->query, "function is missing");
  if (!st)
    st = sp_api_plan_trace_spans(&api->plan);
  if (!st)
    st = sp_stack_query_read(&api->plan, NULL, &stacks);
  if (!st)
    st = sp_line_table_make(&table, api->query.mem, stacks, name, file);
  if (!st)
    st = lines_put(api, &table, stacks->folded_count, file);
  api->response->gzip = !st && sp_http_accepts_gzip(api->query.http);
  sp_line_table_dispose(&table);
  sp_stack_tree_free(stacks);
  return st;
}
