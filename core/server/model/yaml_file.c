#include "yaml_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "util/system/status.h"

/* Memory limit. The values, items and texts of the largest accepted file need
 * less. */
#define FILE_ARENA_MAX ((size_t)32 << 20)

typedef struct file_anchor {
  const struct file_anchor *next;
  const char *name;
  const sp_yaml *value;
} file_anchor;

/* A list or map whose end has not been read. */
typedef struct file_open {
  sp_yaml *value;
  sp_yaml_item *last;
  sp_yaml_item *item; /* in a map: the item that has a name but no value yet */
  const sp_yaml *merged;
  uint32_t values;
  uint32_t keys;
} file_open;

typedef struct file_reader {
  sp_yaml_file *file;
  const file_anchor *anchors; /* the newest anchor first */
  file_open open[SP_YAML_DEPTH_MAX];
  size_t depth;
  uint32_t line;
} file_reader;

static spanprof_status file_refuse(const file_reader *reader,
                                   const char *sentence) {
  return sp_fail(SPANPROF_ERR_ARGUMENT, "%s %.200s, line %u: %.200s",
                 reader->file->option, reader->file->path, reader->line,
                 sentence);
}

static spanprof_status file_nomem(void) {
  return sp_fail(SPANPROF_ERR_NOMEM, "no memory to read a YAML file");
}

static const char *file_text(file_reader *reader, const void *text,
                             size_t size) {
  char *copy = sp_arena_new(&reader->file->arena, size + 1, 1);

  return copy ? memcpy(copy, text, size) : NULL;
}

/* Returns whether YAML 1.2 resolves a text to null. */
static bool file_is_null(const char *text) {
  return !*text || strcmp(text, "~") == 0 || strcmp(text, "null") == 0 ||
         strcmp(text, "Null") == 0 || strcmp(text, "NULL") == 0;
}

static spanprof_status file_new(file_reader *reader, sp_yaml_kind kind,
                                const yaml_char_t *anchor, sp_yaml **out) {
  sp_arena *arena = &reader->file->arena;
  sp_yaml *value = sp_arena_new(arena, 1, sizeof *value);
  file_anchor *kept;
  const char *name;

  *out = value;
  if (!value)
    return file_nomem();
  value->file = reader->file;
  value->kind = kind;
  value->line = reader->line;
  if (!anchor)
    return SPANPROF_OK;
  kept = sp_arena_new(arena, 1, sizeof *kept);
  name = file_text(reader, anchor, strlen((const char *)anchor));
  if (!kept || !name)
    return file_nomem();
  *kept = (file_anchor){reader->anchors, name, value};
  reader->anchors = kept;
  return SPANPROF_OK;
}

static spanprof_status file_append(file_reader *reader, file_open *open,
                                   sp_yaml_item *item) {
  open->values += item->value->values;
  if (open->values > SP_YAML_VALUES_MAX)
    return file_refuse(
        reader,
        "the file has too many values, including those that aliases repeat");
  if (open->last)
    open->last->next = item;
  else
    open->value->first = item;
  open->last = item;
  return SPANPROF_OK;
}

/* Add a complete value to the enclosing list or map. */
static spanprof_status file_add(file_reader *reader, const sp_yaml *value) {
  file_open *open = reader->depth ? &reader->open[reader->depth - 1] : NULL;
  sp_yaml_item *item;

  if (!open) {
    reader->file->root = value;
    return SPANPROF_OK;
  }
  item = open->item;
  if (!item) {
    item = sp_arena_new(&reader->file->arena, 1, sizeof *item);
    if (!item)
      return file_nomem();
  }
  open->item = NULL;
  item->value = value;
  if (item->name && strcmp(item->name, "<<") == 0) {
    open->merged = value;
    return SPANPROF_OK;
  }
  return file_append(reader, open, item);
}

static spanprof_status file_key(file_reader *reader, file_open *open,
                                const char *text, size_t size) {
  sp_yaml_item *item = sp_arena_new(&reader->file->arena, 1, sizeof *item);
  const sp_yaml_item *other;
  char sentence[256];

  if (item)
    item->name = file_text(reader, text, size);
  if (!item || !item->name)
    return file_nomem();
  for (other = open->value->first; other; other = other->next) {
    if (strcmp(other->name, item->name) != 0)
      continue;
    snprintf(sentence, sizeof sentence,
             "the key %.100s occurs twice, first in line %u", item->name,
             other->line);
    return file_refuse(reader, sentence);
  }
  if (++open->keys > SP_YAML_KEYS_MAX)
    return file_refuse(reader, "a map has too many keys");
  item->line = reader->line;
  open->item = item;
  return SPANPROF_OK;
}

static spanprof_status file_scalar(file_reader *reader,
                                   const yaml_event_t *event) {
  file_open *open = reader->depth ? &reader->open[reader->depth - 1] : NULL;
  const char *text = (const char *)event->data.scalar.value;
  const size_t size = event->data.scalar.length;
  const bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
  spanprof_status st;
  sp_yaml *value;

  if (strlen(text) != size)
    return file_refuse(reader, "a text contains a NUL byte");
  if (event->data.scalar.tag)
    return file_refuse(reader,
                       "YAML tags (`!name`) are not supported: remove the tag, "
                       "or put a text that begins with `!` in quotes");
  if (open && open->value->kind == SP_YAML_MAP && !open->item)
    return file_key(reader, open, text, size);
  st = file_new(reader,
                plain && file_is_null(text) ? SP_YAML_NULL : SP_YAML_TEXT,
                event->data.scalar.anchor, &value);
  if (st)
    return st;
  value->text = file_text(reader, text, size);
  value->plain = plain;
  value->values = 1;
  return value->text ? file_add(reader, value) : file_nomem();
}

static spanprof_status file_alias(file_reader *reader,
                                  const yaml_event_t *event) {
  const file_open *open =
      reader->depth ? &reader->open[reader->depth - 1] : NULL;
  const char *name = (const char *)event->data.alias.anchor;
  const file_anchor *anchor = reader->anchors;
  char sentence[256];

  if (open && open->value->kind == SP_YAML_MAP && !open->item)
    return file_refuse(reader, "a key must be a text, not an alias");
  while (anchor && strcmp(anchor->name, name) != 0)
    anchor = anchor->next;
  if (anchor && anchor->value->values)
    return file_add(reader, anchor->value);
  snprintf(sentence, sizeof sentence,
           anchor
               ? "the alias *%.100s is inside the value that it refers to"
               : "an alias refers to &%.100s, which does not occur before it",
           name);
  return file_refuse(reader, sentence);
}

static spanprof_status file_begin(file_reader *reader, sp_yaml_kind kind,
                                  const yaml_char_t *anchor,
                                  const yaml_char_t *tag) {
  const file_open *open =
      reader->depth ? &reader->open[reader->depth - 1] : NULL;
  spanprof_status st;
  sp_yaml *value;

  if (tag)
    return file_refuse(reader,
                       "YAML tags (`!name`) are not supported: remove the tag");
  if (open && open->value->kind == SP_YAML_MAP && !open->item)
    return file_refuse(reader, "a key must be a text, not a list or map");
  if (reader->depth == SP_YAML_DEPTH_MAX)
    return file_refuse(reader, "lists and maps are nested too deeply");
  st = file_new(reader, kind, anchor, &value);
  if (!st)
    reader->open[reader->depth++] = (file_open){.value = value, .values = 1};
  return st;
}

/* Add the keys of a map that "<<" merges, except keys that the enclosing map
 * already has. */
static spanprof_status file_merge(file_reader *reader, file_open *open,
                                  const sp_yaml *from) {
  const sp_yaml_item *item;
  spanprof_status st = SPANPROF_OK;

  if (from->kind != SP_YAML_MAP)
    return file_refuse(reader,
                       "<< needs an alias of a map, or a list of such aliases");
  for (item = from->first; !st && item; item = item->next) {
    sp_yaml_item *copy;

    if (sp_yaml_get(open->value, item->name))
      continue;
    if (++open->keys > SP_YAML_KEYS_MAX)
      return file_refuse(reader, "a map has too many keys");
    copy = sp_arena_new(&reader->file->arena, 1, sizeof *copy);
    if (!copy)
      return file_nomem();
    *copy = *item;
    copy->next = NULL;
    st = file_append(reader, open, copy);
  }
  return st;
}

static spanprof_status file_end(file_reader *reader) {
  file_open *open = &reader->open[reader->depth - 1];
  const sp_yaml *merged = open->merged;
  const sp_yaml_item *item =
      merged && merged->kind == SP_YAML_LIST ? merged->first : NULL;
  spanprof_status st = SPANPROF_OK;

  if (merged && merged->kind != SP_YAML_LIST)
    st = file_merge(reader, open, merged);
  for (; !st && item; item = item->next)
    st = file_merge(reader, open, item->value);
  open->value->values = open->values;
  reader->depth--;
  return st ? st : file_add(reader, open->value);
}

static spanprof_status file_event(file_reader *reader,
                                  const yaml_event_t *event) {
  reader->line = (uint32_t)event->start_mark.line + 1;
  switch (event->type) {
  case YAML_DOCUMENT_START_EVENT:
    return reader->file->root
               ? file_refuse(reader, "the file has more than one YAML "
                                     "document; only one is supported")
               : SPANPROF_OK;
  case YAML_SCALAR_EVENT:
    return file_scalar(reader, event);
  case YAML_ALIAS_EVENT:
    return file_alias(reader, event);
  case YAML_SEQUENCE_START_EVENT:
    return file_begin(reader, SP_YAML_LIST, event->data.sequence_start.anchor,
                      event->data.sequence_start.tag);
  case YAML_MAPPING_START_EVENT:
    return file_begin(reader, SP_YAML_MAP, event->data.mapping_start.anchor,
                      event->data.mapping_start.tag);
  case YAML_SEQUENCE_END_EVENT:
  case YAML_MAPPING_END_EVENT:
    return file_end(reader);
  default:
    return SPANPROF_OK;
  }
}

static spanprof_status file_events(file_reader *reader, yaml_parser_t *parser) {
  spanprof_status st = SPANPROF_OK;
  yaml_event_t event;
  bool ended = false;
  char sentence[256];

  while (!st && !ended) {
    if (!yaml_parser_parse(parser, &event)) {
      if (parser->error == YAML_MEMORY_ERROR)
        return file_nomem();
      reader->line = (uint32_t)parser->problem_mark.line + 1;
      snprintf(sentence, sizeof sentence, "the file is not valid YAML: %s",
               parser->problem);
      return file_refuse(reader, sentence);
    }
    ended = event.type == YAML_STREAM_END_EVENT;
    st = file_event(reader, &event);
    yaml_event_delete(&event);
  }
  reader->line = 1;
  return st || reader->file->root ? st
                                  : file_refuse(reader, "the file is empty");
}

void sp_yaml_file_init(sp_yaml_file *file, const char *option, const char *path,
                       sp_log *log, const sp_mem *mem) {
  *file = (sp_yaml_file){.option = option, .path = path, .log = log};
  sp_arena_init(&file->arena, mem, FILE_ARENA_MAX);
}

void sp_yaml_file_dispose(sp_yaml_file *file) {
  sp_arena_dispose(&file->arena);
}

spanprof_status sp_yaml_file_read(sp_yaml_file *file, const void *bytes,
                                  size_t size) {
  file_reader reader = {.file = file};
  yaml_parser_t parser;
  spanprof_status st;

  if (!yaml_parser_initialize(&parser))
    return file_nomem();
  yaml_parser_set_input_string(&parser, bytes, size);
  st = file_events(&reader, &parser);
  yaml_parser_delete(&parser);
  return st;
}

spanprof_status sp_yaml_file_load(sp_yaml_file *file) {
  FILE *from = fopen(file->path, "re");
  spanprof_status st;
  char *bytes;
  size_t size;
  int error;

  if (!from)
    return sp_fail_errno(SPANPROF_ERR_IO, errno, "%s %.200s", file->option,
                         file->path);
  bytes = sp_mem_new(file->arena.mem, SP_YAML_BYTES_MAX + 1);
  if (!bytes) {
    fclose(from);
    return file_nomem();
  }
  size = fread(bytes, 1, SP_YAML_BYTES_MAX + 1, from);
  error = ferror(from) ? errno : 0;
  fclose(from);
  if (error)
    st = sp_fail_errno(SPANPROF_ERR_IO, error, "%s %.200s", file->option,
                       file->path);
  else if (size > SP_YAML_BYTES_MAX)
    st = sp_fail(SPANPROF_ERR_ARGUMENT, "%s %.200s is larger than 1 MiB",
                 file->option, file->path);
  else
    st = sp_yaml_file_read(file, bytes, size);
  sp_mem_free(file->arena.mem, bytes);
  return st;
}
