#include "pprof_reply.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pprof_nodes.h"
#include "profile/tables/pprof_limits.h"
#include "server/model/query_time.h"
#include "server/query/selector/matcher_list.h"
#include "server/query/selector/text_set.h"

#define PPROF_MEMORY_MAX ((size_t)64 << 20) /* memory limit for all texts */

#define PPROF_ANCESTORS_MAX      32
#define PPROF_ANCESTOR_BYTES_MAX 1024 /* longer names are cut */

typedef struct pprof_writing {
  sp_reply *reply;
  const sp_pprof_reply *profile;
  sp_pprof_nodes nodes;
  int64_t *path; /* the locations of one stack */
  sp_arena arena;
  sp_text_set texts;
  /* Number of values in each sample that is written separately: 2, the value
   * and the number of samples, or 1 if the value is the number of samples. */
  size_t value_count;
} pprof_writing;

static int64_t pprof_text(pprof_writing *writing, const char *text) {
  uint32_t number = 0;

  /* The status of this failure stays in the arena. The response fails, too. */
  if (sp_text_set_add(&writing->texts, text, &number))
    writing->reply->out->failed = true;
  return number;
}

/* Returns the id of the location that stands for nodes that were cut. It
 * follows the ids of all others. */
static int64_t pprof_other_location(const pprof_writing *writing) {
  return (int64_t)writing->nodes.location_count + 1;
}

/* Append the locations of the stack that ends at `node`, innermost first, to
 * writing->path, which already has `depth` locations. Returns the new number of
 * locations. */
static size_t pprof_path(pprof_writing *writing, size_t node, size_t depth) {
  const sp_tree_node *nodes = writing->profile->stacks->nodes;

  for (; node != 0; node = nodes[node].parent)
    writing->path[depth++] = writing->nodes.locations[nodes[node].location];
  return depth;
}

static void pprof_sample(pprof_writing *writing, size_t node, bool other,
                         int64_t value) {
  size_t depth = 0;

  if (value == 0)
    return;
  if (other)
    writing->path[depth++] = pprof_other_location(writing);
  depth = pprof_path(writing, node, depth);
  sp_reply_item(writing->reply, 2);
  sp_reply_ints(writing->reply, 1, "locationId", writing->path, depth);
  sp_reply_ints(writing->reply, 2, "value", &value, 1);
  sp_reply_close(writing->reply);
}

static void pprof_label(pprof_writing *writing, const char *name,
                        const char *value) {
  sp_reply_item(writing->reply, 3);
  sp_reply_int(writing->reply, 1, "key", pprof_text(writing, name));
  sp_reply_int(writing->reply, 2, "str", pprof_text(writing, value));
  sp_reply_close(writing->reply);
}

/* Write the ancestors of a span as labels, like those of spanprof's uploads. */
static void pprof_ancestors(pprof_writing *writing,
                            const sp_span_parent *span) {
  char name[sizeof SP_PPROF_ANCESTOR + PPROF_ANCESTOR_BYTES_MAX];
  size_t i;

  for (i = 0; span && span->parent_id && i < PPROF_ANCESTORS_MAX; i++) {
    const int64_t id = (int64_t)span->parent_id;

    span = sp_span_parents_find(writing->profile->parents, span->parent_id);
    snprintf(name, sizeof name, SP_PPROF_ANCESTOR "%.*s",
             PPROF_ANCESTOR_BYTES_MAX, span && span->name ? span->name : "");
    sp_reply_item(writing->reply, 3);
    sp_reply_int(writing->reply, 1, "key", pprof_text(writing, name));
    sp_reply_int(writing->reply, 3, "num", id);
    sp_reply_close(writing->reply);
  }
}

static void pprof_labels(pprof_writing *writing, const sp_tree_sample *sample) {
  const sp_text_pairs *set =
      &writing->profile->stacks->label_sets[sample->label_set];
  const sp_span_parent *span =
      sample->span_id
          ? sp_span_parents_find(writing->profile->parents, sample->span_id)
          : NULL;
  char id[33];
  size_t i;

  sp_reply_list(writing->reply, "label");
  for (i = 0; i < set->count; i++)
    pprof_label(writing, set->pairs[i].name, set->pairs[i].value);
  if (span && span->name && !sp_text_pairs_find(set, "span_name"))
    pprof_label(writing, "span_name", span->name);
  if (sample->span_id) {
    snprintf(id, sizeof id, "%016" PRIx64, sample->span_id);
    pprof_label(writing, "profile_id", id);
  }
  if (sample->trace_hi || sample->trace_lo) {
    snprintf(id, sizeof id, "%016" PRIx64 "%016" PRIx64, sample->trace_hi,
             sample->trace_lo);
    pprof_label(writing, "trace_id", id);
  }
  pprof_ancestors(writing, span);
  sp_reply_list_end(writing->reply);
}

static void pprof_labelled_samples(pprof_writing *writing) {
  const sp_stack_tree *stacks = writing->profile->stacks;
  size_t i, depth;

  sp_reply_list(writing->reply, "sample");
  for (i = 0; i < stacks->sample_count && !sp_cancel_step(stacks->cancel);
       i++) {
    const sp_tree_sample *sample = &stacks->samples[i];
    const int64_t values[] = {sample->value, sample->count};

    depth = pprof_path(writing, sample->node, 0);
    sp_reply_item(writing->reply, 2);
    sp_reply_ints(writing->reply, 1, "locationId", writing->path, depth);
    sp_reply_ints(writing->reply, 2, "value", values, writing->value_count);
    pprof_labels(writing, sample);
    sp_reply_close(writing->reply);
  }
  sp_reply_list_end(writing->reply);
}

static void pprof_samples(pprof_writing *writing) {
  const sp_stack_tree *stacks = writing->profile->stacks;
  size_t i;

  sp_reply_list(writing->reply, "sample");
  for (i = 0; i < stacks->node_count && !sp_cancel_step(stacks->cancel); i++) {
    const sp_pprof_node *node = &writing->nodes.nodes[i];

    if (i > 0 && !node->is_cut && !node->unnamed)
      pprof_sample(writing, i, false, stacks->nodes[i].self);
    pprof_sample(writing, i, true, node->other);
  }
  sp_reply_list_end(writing->reply);
}

static void pprof_value_type(pprof_writing *writing, const char *type,
                             const char *unit) {
  sp_reply_int(writing->reply, 1, "type", pprof_text(writing, type));
  sp_reply_int(writing->reply, 2, "unit", pprof_text(writing, unit));
}

static void pprof_location(sp_reply *reply, int64_t id,
                           const sp_tree_location *location,
                           const uint32_t *functions) {
  uint32_t i;

  sp_reply_item(reply, 4);
  sp_reply_int(reply, 1, "id", id);
  sp_reply_int(reply, 2, "mappingId", 1);
  sp_reply_int(reply, 3, "address", (int64_t)location->address);
  if (location->line_count > 0)
    sp_reply_list(reply, "line");
  for (i = 0; i < location->line_count; i++) {
    sp_reply_item(reply, 4);
    sp_reply_int(reply, 1, "functionId",
                 functions[location->lines[i].function]);
    sp_reply_int(reply, 2, "line", location->lines[i].line);
    sp_reply_close(reply);
  }
  if (location->line_count > 0)
    sp_reply_list_end(reply);
  sp_reply_close(reply);
}

static void pprof_locations(pprof_writing *writing) {
  const sp_stack_tree *stacks = writing->profile->stacks;
  const sp_pprof_nodes *nodes = &writing->nodes;
  const uint32_t other_function = nodes->function_count + 1;
  const sp_tree_line line = {.function = 0};
  const sp_tree_location other = {.lines = &line, .line_count = 1};
  size_t i;

  sp_reply_list(writing->reply, "mapping");
  sp_reply_item(writing->reply, 3);
  sp_reply_int(writing->reply, 1, "id", 1);
  sp_reply_bool(writing->reply, 7, "hasFunctions", true);
  sp_reply_close(writing->reply);
  sp_reply_list_end(writing->reply);
  sp_reply_list(writing->reply, "location");
  for (i = 0; i < stacks->location_count; i++)
    if (nodes->locations[i])
      pprof_location(writing->reply, nodes->locations[i], &stacks->locations[i],
                     nodes->functions);
  if (nodes->has_other)
    pprof_location(writing->reply, pprof_other_location(writing), &other,
                   &other_function);
  sp_reply_list_end(writing->reply);
}

static void pprof_function(pprof_writing *writing, int64_t id,
                           const sp_tree_function *function) {
  const int64_t name = pprof_text(writing, function->name);

  sp_reply_item(writing->reply, 5);
  sp_reply_int(writing->reply, 1, "id", id);
  sp_reply_int(writing->reply, 2, "name", name);
  sp_reply_int(writing->reply, 3, "systemName", name);
  sp_reply_int(writing->reply, 4, "filename",
               pprof_text(writing, function->file));
  sp_reply_int(writing->reply, 5, "startLine", function->start_line);
  sp_reply_close(writing->reply);
}

static void pprof_functions(pprof_writing *writing) {
  static const sp_tree_function other = {.name = "other", .file = ""};
  const sp_stack_tree *stacks = writing->profile->stacks;
  const sp_pprof_nodes *nodes = &writing->nodes;
  size_t i;

  sp_reply_list(writing->reply, "function");
  for (i = 0; i < stacks->function_count; i++)
    if (nodes->functions[i])
      pprof_function(writing, nodes->functions[i], &stacks->functions[i]);
  if (nodes->has_other)
    pprof_function(writing, (int64_t)nodes->function_count + 1, &other);
  sp_reply_list_end(writing->reply);
}

/* Split "name:type:unit:period_type:period_unit". */
static spanprof_status pprof_parts(pprof_writing *writing,
                                   const char *parts[5]) {
  char *at = sp_arena_text(&writing->arena, writing->profile->profile_type,
                           strlen(writing->profile->profile_type));
  size_t i;

  if (!at)
    return writing->arena.st;
  for (i = 0; i < 5; i++) {
    parts[i] = at;
    at += strcspn(at, ":");
    if (*at)
      *at++ = '\0';
  }
  return SPANPROF_OK;
}

/* Returns the period that Pyroscope writes to merged profiles of a metric. */
static int64_t pprof_period(const char *metric) {
  if (strcmp(metric, "process_cpu") == 0)
    return 1000000000;
  return strcmp(metric, "memory") == 0 ? 524288 : 1;
}

/* Write the number of merged profiles as a comment, because readers of the
 * result cannot count these profiles. */
static void pprof_comment(pprof_writing *writing) {
  const uint64_t count = writing->profile->stacks->profile_count;
  char text[64];
  int64_t number;

  snprintf(text, sizeof text, "merged: %" PRIu64 " profile%s", count,
           count == 1 ? "" : "s");
  number = pprof_text(writing, text);
  sp_reply_ints(writing->reply, 13, "comment", &number, 1);
}

static spanprof_status pprof_put(pprof_writing *writing) {
  sp_reply *reply = writing->reply;
  const char *parts[5];
  int64_t type;
  spanprof_status st = pprof_parts(writing, parts);

  if (st)
    return st;
  pprof_text(writing, "");
  type = pprof_text(writing, parts[1]);
  sp_reply_list(reply, "sampleType");
  sp_reply_item(reply, 1);
  pprof_value_type(writing, parts[1], parts[2]);
  sp_reply_close(reply);
  writing->value_count = 1;
  if (writing->profile->parents && strcmp(parts[1], "samples") != 0) {
    sp_reply_item(reply, 1);
    pprof_value_type(writing, "samples", "count");
    sp_reply_close(reply);
    writing->value_count = 2;
  }
  sp_reply_list_end(reply);
  if (writing->profile->parents)
    pprof_labelled_samples(writing);
  else
    pprof_samples(writing);
  pprof_locations(writing);
  pprof_functions(writing);
  sp_reply_open(reply, 11, "periodType");
  pprof_value_type(writing, parts[3], parts[4]);
  sp_reply_close(reply);
  if (writing->profile->parents)
    pprof_comment(writing);
  sp_reply_texts(reply, 6, "stringTable", writing->texts.texts,
                 writing->texts.count);
  if (writing->profile->parents) {
    sp_reply_int(reply, 9, "timeNanos", writing->profile->stacks->begin_ns);
    sp_reply_int(reply, 10, "durationNanos",
                 writing->profile->stacks->end_ns -
                     writing->profile->stacks->begin_ns);
  } else {
    sp_reply_int(reply, 9, "timeNanos", sp_query_ns(writing->profile->time_ms));
  }
  sp_reply_int(reply, 12, "period", pprof_period(parts[0]));
  sp_reply_int(reply, 14, "defaultSampleType", type);
  return sp_buffer_status(reply->out);
}

spanprof_status sp_pprof_reply_put(sp_reply *reply, const sp_mem *mem,
                                   const sp_pprof_reply *profile) {
  const size_t count = profile->stacks->node_count;
  pprof_writing writing = {.reply = reply, .profile = profile};
  spanprof_status st = SPANPROF_ERR_NOMEM;

  sp_arena_init(&writing.arena, mem, PPROF_MEMORY_MAX);
  sp_text_set_init(&writing.texts, &writing.arena);
  writing.path = sp_mem_new(mem, (count + 1) * sizeof *writing.path);
  if (writing.path)
    st = sp_pprof_nodes_weigh(&writing.nodes, mem, profile);
  if (!st &&
      (writing.nodes.nodes[0].total != 0 || profile->stacks->sample_count))
    st = pprof_put(&writing);
  sp_pprof_nodes_dispose(&writing.nodes, mem);
  sp_mem_free(mem, writing.path);
  sp_text_set_dispose(&writing.texts);
  sp_arena_dispose(&writing.arena);
  return st;
}
