/* Format: profiler.firefox.com's processed profiles. Newer versions have the
 * tables of all threads in "shared". */
#include <math.h>

#include "foreign_json.h"
#include "profile/tables/module_name.h"
#include "util/system/status.h"

/* The tables of one thread. */
typedef struct firefox_thread {
  sp_foreign *foreign;
  const sp_json_node *root;
  const sp_json_node *thread;
  const sp_json_node *texts;
  const sp_json_node *frame_of;  /* the frame of each stack */
  const sp_json_node *prefix_of; /* the caller of each stack */
  const sp_json_node *func_of;   /* the function of each frame */
  uint32_t *nodes;     /* the node of each stack, plus 1; 0: unknown */
  uint32_t *functions; /* the number of each function, plus 1; 0: unknown */
  size_t function_count;
  uint32_t number; /* of the thread */
} firefox_thread;

static bool firefox_is(const sp_json_node *root) {
  return sp_json_member(root, "meta")->kind == SP_JSON_OBJECT &&
         sp_json_member(root, "threads")->kind == SP_JSON_LIST;
}

/* A table of a thread, or the one that all threads share. */
static const sp_json_node *firefox_table(const firefox_thread *t,
                                         const char *name) {
  const sp_json_node *own = sp_json_member(t->thread, name);

  return own->kind != SP_JSON_NULL
             ? own
             : sp_json_member(sp_json_member(t->root, "shared"), name);
}

static const sp_json_node *
firefox_column(const firefox_thread *t, const char *table, const char *column) {
  return sp_json_member(firefox_table(t, table), column);
}

/* The text whose number is in row `i` of a column. */
static sp_view firefox_text(const firefox_thread *t, const sp_json_node *column,
                            uint32_t i) {
  const uint32_t number = sp_json_index(sp_json_item(column, i));

  return sp_json_view(sp_json_item(t->texts, number));
}

/* Returns whether a name is the address of code without a symbol. */
static bool firefox_is_address(sp_view name) {
  size_t i;

  for (i = 2; i < name.size; i++)
    if (!strchr("0123456789abcdef", name.bytes[i]) || !name.bytes[i])
      return false;
  return name.size > 2 && sp_view_starts(name, "0x");
}

static spanprof_status firefox_add_function(const firefox_thread *t,
                                            uint32_t func, uint32_t *function) {
  const uint32_t source = sp_json_index(
      sp_json_item(firefox_column(t, "funcTable", "source"), func));
  const uint32_t resource = sp_json_index(
      sp_json_item(firefox_column(t, "funcTable", "resource"), func));
  const uint32_t line = sp_json_index(
      sp_json_item(firefox_column(t, "funcTable", "lineNumber"), func));
  const sp_view module =
      firefox_text(t, firefox_column(t, "resourceTable", "name"), resource);
  sp_view name = firefox_text(t, firefox_column(t, "funcTable", "name"), func);
  sp_view file =
      source != UINT32_MAX
          ? firefox_text(t, firefox_column(t, "sources", "filename"), source)
          : firefox_text(t, firefox_column(t, "funcTable", "fileName"), func);
  char unnamed[SP_MODULE_NAME_BYTES];

  if (file.size == 0)
    file = module;
  if (name.size == 0)
    name = sp_view_text("(anonymous)");
  if (firefox_is_address(name)) {
    name =
        sp_view_of(unnamed, sp_module_name(module.bytes, module.size, unnamed));
    file.size = 0;
  }
  return sp_foreign_function(t->foreign, name, file, line % UINT32_MAX,
                             function);
}

/* Add the call of a stack's innermost frame to the stack *node. */
static spanprof_status firefox_call(const firefox_thread *t, uint32_t stack,
                                    uint32_t *node) {
  const uint32_t frame = sp_json_index(sp_json_item(t->frame_of, stack));
  const uint32_t func = sp_json_index(sp_json_item(t->func_of, frame));
  uint32_t function;
  spanprof_status st;

  if (func >= t->function_count)
    return sp_foreign_malformed("number of a function");
  if (!t->functions[func]) {
    st = firefox_add_function(t, func, &function);
    if (st)
      return st;
    t->functions[func] = function + 1;
  }
  return sp_foreign_call(t->foreign, node, t->functions[func] - 1);
}

/* Set *node to a stack. The callers whose node is not known yet are found
 * first. */
static spanprof_status firefox_stack(const firefox_thread *t, uint32_t stack,
                                     uint32_t *node) {
  uint32_t path[SP_FOREIGN_DEPTH_MAX], depth = 0;
  spanprof_status st = SPANPROF_OK;

  while (stack != UINT32_MAX && stack < t->frame_of->count &&
         !t->nodes[stack]) {
    if (depth == SP_FOREIGN_DEPTH_MAX)
      return sp_foreign_too_deep();
    path[depth++] = stack;
    stack = sp_json_index(sp_json_item(t->prefix_of, stack));
  }
  if (stack != UINT32_MAX && stack >= t->frame_of->count)
    return sp_foreign_malformed("number of a stack");
  *node = stack == UINT32_MAX ? 0 : t->nodes[stack] - 1;
  while (!st && depth > 0) {
    st = firefox_call(t, path[--depth], node);
    t->nodes[path[depth]] = *node + 1;
  }
  return st;
}

/* Add a column of values, or the value 1 for each sample if `values` is NULL.
 * Samples without a stack are of an idle thread. */
static spanprof_status firefox_values(const firefox_thread *t,
                                      const sp_json_node *stacks,
                                      const sp_json_node *values, double scale,
                                      const char *type, const char *unit) {
  uint32_t number, node;
  spanprof_status st =
      sp_foreign_type(t->foreign, sp_view_text(type), unit, &number);
  size_t i;

  for (i = 0; !st && i < stacks->count; i++) {
    const uint32_t stack = sp_json_index(sp_json_item(stacks, i));
    const double value =
        values ? sp_json_number(sp_json_item(values, i), 0) * scale : 1;

    if (stack == UINT32_MAX || !(value > 0))
      continue;
    st = firefox_stack(t, stack, &node);
    if (!st)
      st = sp_foreign_add(t->foreign, node, number, t->number, value, 1);
  }
  return st;
}

/* Returns whether a column has any value. */
static bool firefox_any(const sp_json_node *column) {
  size_t i;

  for (i = 0; i < sp_json_count(column); i++)
    if (sp_json_number(&column->items[i], 0) > 0)
      return true;
  return false;
}

static spanprof_status firefox_samples(const firefox_thread *t,
                                       const sp_json_node *samples) {
  const sp_json_node *stacks = sp_json_member(samples, "stack");
  const sp_json_node *weights = sp_json_member(samples, "weight");
  const sp_json_node *cpu = sp_json_member(samples, "threadCPUDelta");
  const sp_view kind = sp_json_view(sp_json_member(samples, "weightType"));
  const double cpu_ns = sp_foreign_unit_ns(sp_json_view(sp_json_member(
      sp_json_member(sp_json_member(t->root, "meta"), "sampleUnits"),
      "threadCPUDelta")));
  const bool weighed = weights->kind == SP_JSON_LIST;
  spanprof_status st;

  if (weighed && sp_view_is(kind, "bytes"))
    st = firefox_values(t, stacks, weights, 1, "bytes", "bytes");
  else if (weighed && sp_view_is(kind, "tracing-ms"))
    st = firefox_values(t, stacks, weights, 1e6, "time", "nanoseconds");
  else
    st = firefox_values(t, stacks, weighed ? weights : NULL, 1, "samples",
                        "count");
  if (!st && cpu_ns > 0 && firefox_any(cpu))
    st = firefox_values(t, stacks, cpu, cpu_ns, "cpu", "nanoseconds");
  return st;
}

static spanprof_status firefox_name(firefox_thread *t) {
  const sp_view process =
      sp_json_view(sp_json_member(t->thread, "processName"));
  const sp_view name = sp_json_view(sp_json_member(t->thread, "name"));
  spanprof_status st;
  sp_buffer whole;

  sp_buffer_init(&whole, t->foreign->mem);
  sp_buffer_append(&whole, process.bytes, process.size);
  if (process.size && name.size)
    sp_buffer_text(&whole, ", ");
  sp_buffer_append(&whole, name.bytes, name.size);
  if (whole.size == 0)
    sp_buffer_text(&whole, "thread");
  st = sp_buffer_status(&whole);
  if (!st)
    st = sp_foreign_thread(t->foreign, sp_view_of(whole.data, whole.size),
                           &t->number);
  sp_buffer_dispose(&whole);
  return st;
}

/* Read a thread. One without samples, for example of markers, is skipped. */
static spanprof_status firefox_thread_read(firefox_thread *t) {
  const sp_json_node *samples = sp_json_member(t->thread, "samples");

  if (samples->kind != SP_JSON_OBJECT)
    return SPANPROF_OK;
  if (sp_json_member(samples, "stack")->kind != SP_JSON_LIST)
    return sp_fail(SPANPROF_ERR_FORMAT,
                   "is an unprocessed Firefox profile: open it in "
                   "profiler.firefox.com and save it again");
  t->texts = firefox_table(t, "stringArray");
  t->frame_of = firefox_column(t, "stackTable", "frame");
  t->prefix_of = firefox_column(t, "stackTable", "prefix");
  t->func_of = firefox_column(t, "frameTable", "func");
  t->function_count = sp_json_count(firefox_column(t, "funcTable", "name"));
  if (t->frame_of->kind != SP_JSON_LIST)
    return sp_foreign_malformed("table of stacks");
  t->nodes =
      sp_arena_new(t->foreign->arena, t->frame_of->count, sizeof *t->nodes);
  t->functions =
      sp_arena_new(t->foreign->arena, t->function_count, sizeof *t->functions);
  if (!t->nodes || !t->functions)
    return t->foreign->arena->st;
  return firefox_name(t) ? SPANPROF_ERR_NOMEM : firefox_samples(t, samples);
}

static spanprof_status firefox_read(sp_foreign *foreign,
                                    const sp_json_node *root) {
  const sp_json_node *threads = sp_json_member(root, "threads");
  const double start = sp_json_number(
      sp_json_member(sp_json_member(root, "meta"), "startTime"), 0);
  spanprof_status st = SPANPROF_OK;
  size_t i;

  for (i = 0; !st && i < threads->count; i++) {
    firefox_thread t = {
        .foreign = foreign, .root = root, .thread = sp_json_item(threads, i)};

    st = firefox_thread_read(&t);
  }
  foreign->is_joint = true;
  for (i = 0; i < foreign->type_count; i++)
    if (strcmp(foreign->types[i].type, "cpu") == 0)
      foreign->profile->default_type = (uint32_t)i;
  if (start > 0 && start < 9e12)
    foreign->profile->time_ns = (int64_t)(start * 1e6);
  return st;
}

const sp_foreign_format sp_foreign_firefox = {"Firefox", firefox_is,
                                              firefox_read};
