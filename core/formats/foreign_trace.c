/* Format: Trace Event JSON. Chrome's Performance panel writes the CPU profile
 * of each thread in parts: an event "Profile" and then events "ProfileChunk".
 * Old versions write one event "CpuProfile". */
#include <math.h>
#include <stdlib.h>

#include "foreign_json.h"
#include "foreign_v8.h"
#include "util/system/status.h"

#define TRACE_PROFILES_MAX 1000

enum { TRACE_NODES, TRACE_SAMPLES, TRACE_DELTAS, TRACE_LISTS };

/* The CPU profile of one thread. */
typedef struct trace_profile {
  double process; /* process and id identify the profile */
  const sp_json_node *id;
  double thread;
  double start_us;
  double end_us;
  sp_json_node lists[TRACE_LISTS];
  sp_json_node *items[TRACE_LISTS]; /* of the lists, while they are made */
} trace_profile;

typedef struct trace_reading {
  sp_foreign *foreign;
  const sp_json_node *all;     /* all events */
  const sp_json_node **events; /* events of profiles, by time */
  size_t event_count;
  const sp_json_node **names; /* events that name processes and threads */
  size_t name_count;
  trace_profile *profiles;
  size_t profile_count;
} trace_reading;

static const sp_json_node *trace_events(const sp_json_node *root) {
  return root->kind == SP_JSON_LIST ? root
                                    : sp_json_member(root, "traceEvents");
}

static bool trace_is(const sp_json_node *root) {
  const sp_json_node *events = trace_events(root);

  return events->kind == SP_JSON_LIST &&
         (root->kind == SP_JSON_OBJECT ||
          sp_json_member(sp_json_item(events, 0), "ph")->kind == SP_JSON_TEXT);
}

static sp_view trace_text(const sp_json_node *event, const char *key) {
  return sp_json_view(sp_json_member(event, key));
}

static double trace_number(const sp_json_node *event, const char *key) {
  return sp_json_number(sp_json_member(event, key), 0);
}

static const sp_json_node *trace_data(const sp_json_node *event) {
  return sp_json_member(sp_json_member(event, "args"), "data");
}

static bool trace_is_name(sp_view name) {
  return sp_view_is(name, "process_name") || sp_view_is(name, "thread_name");
}

static bool trace_is_profile(sp_view name) {
  return sp_view_is(name, "Profile") || sp_view_is(name, "ProfileChunk") ||
         sp_view_is(name, "CpuProfile");
}

/* Order events by time. Events of the same time keep their order. */
static int trace_order(const void *a, const void *b) {
  const sp_json_node *one = *(const sp_json_node *const *)a;
  const sp_json_node *other = *(const sp_json_node *const *)b;
  const double one_us = trace_number(one, "ts");
  const double other_us = trace_number(other, "ts");

  return one_us != other_us ? (one_us > other_us) - (one_us < other_us)
                            : (one > other) - (one < other);
}

/* Find all events that are used. Does so in one pass, because a trace has
 * millions of other events. */
static spanprof_status trace_pick(trace_reading *reading) {
  const size_t all = reading->all->count;
  sp_arena *arena = reading->foreign->arena;
  size_t i;

  reading->events = sp_arena_new(arena, all, sizeof *reading->events);
  reading->names = sp_arena_new(arena, all, sizeof *reading->names);
  if (!reading->events || !reading->names)
    return arena->st;
  for (i = 0; i < all; i++) {
    const sp_json_node *event = &reading->all->items[i];
    const sp_view name = trace_text(event, "name");

    if (trace_is_profile(name))
      reading->events[reading->event_count++] = event;
    else if (trace_is_name(name))
      reading->names[reading->name_count++] = event;
  }
  if (reading->event_count)
    qsort(reading->events, reading->event_count, sizeof *reading->events,
          trace_order);
  reading->profiles =
      sp_arena_new(arena, sp_min_u64(reading->event_count, TRACE_PROFILES_MAX),
                   sizeof *reading->profiles);
  return reading->profiles ? SPANPROF_OK : arena->st;
}

static bool trace_same(const sp_json_node *a, const sp_json_node *b) {
  return a->kind == b->kind &&
         (a->kind == SP_JSON_TEXT
              ? sp_view_equal(sp_json_view(a), sp_json_view(b))
              : sp_json_number(a, 0) == sp_json_number(b, 0));
}

/* Find or add the profile of an event. Returns NULL if there are too many. */
static trace_profile *trace_find(trace_reading *reading,
                                 const sp_json_node *event) {
  const double process = trace_number(event, "pid");
  const sp_json_node *id = sp_json_member(event, "id");
  size_t i;

  for (i = 0; i < reading->profile_count; i++)
    if (reading->profiles[i].process == process &&
        trace_same(reading->profiles[i].id, id))
      return &reading->profiles[i];
  if (i == TRACE_PROFILES_MAX)
    return NULL;
  reading->profiles[i] = (trace_profile){
      .process = process, .id = id, .thread = trace_number(event, "tid")};
  reading->profile_count++;
  return &reading->profiles[i];
}

/* Get the lists of an event. In new versions, `timeDeltas` is a member of
 * `data` and not of `cpuProfile`. */
static void trace_lists(const sp_json_node *event,
                        const sp_json_node *lists[TRACE_LISTS]) {
  const sp_json_node *data = trace_data(event);
  const sp_json_node *profile = sp_json_member(data, "cpuProfile");
  const sp_json_node *deltas = sp_json_member(data, "timeDeltas");

  lists[TRACE_NODES] = sp_json_member(profile, "nodes");
  lists[TRACE_SAMPLES] = sp_json_member(profile, "samples");
  lists[TRACE_DELTAS] = deltas->kind == SP_JSON_LIST
                            ? deltas
                            : sp_json_member(profile, "timeDeltas");
}

/* Set *time_us if the event has this time. */
static void trace_time(const sp_json_node *data, const char *key,
                       double *time_us) {
  *time_us = sp_json_number(sp_json_member(data, key), *time_us);
}

/* Find the profile of an event, and count the items of its lists. */
static spanprof_status trace_count(trace_reading *reading,
                                   const sp_json_node *event) {
  const sp_json_node *data = trace_data(event), *lists[TRACE_LISTS];
  const sp_json_node *whole = sp_json_member(data, "cpuProfile");
  trace_profile *profile = trace_find(reading, event);
  size_t i;

  if (!profile)
    return sp_fail(SPANPROF_ERR_FORMAT, "has more than %d CPU profiles",
                   TRACE_PROFILES_MAX);
  /* Other events contain the id of the thread that takes the samples. */
  if (sp_view_is(trace_text(event, "name"), "Profile"))
    profile->thread = trace_number(event, "tid");
  trace_time(data, "startTime", &profile->start_us);
  trace_time(whole, "startTime", &profile->start_us);
  trace_time(data, "endTime", &profile->end_us);
  trace_time(whole, "endTime", &profile->end_us);
  trace_lists(event, lists);
  for (i = 0; i < TRACE_LISTS; i++) {
    const size_t count = sp_json_count(lists[i]);

    if (count > UINT32_MAX - 1 - profile->lists[i].count)
      return sp_fail(SPANPROF_ERR_LIMIT, "is too large");
    profile->lists[i].count += (uint32_t)count;
  }
  return SPANPROF_OK;
}

/* Allocate the lists of a profile, and empty them. */
static spanprof_status trace_make(const trace_reading *reading,
                                  trace_profile *profile) {
  size_t i;

  for (i = 0; i < TRACE_LISTS; i++) {
    sp_json_node *list = &profile->lists[i];

    list->kind = SP_JSON_LIST;
    profile->items[i] = sp_arena_new(reading->foreign->arena, list->count,
                                     sizeof *profile->items[i]);
    if (!profile->items[i])
      return reading->foreign->arena->st;
    list->items = profile->items[i];
    list->count = 0;
  }
  return SPANPROF_OK;
}

/* Append the lists of an event to those of its profile. */
static void trace_append(trace_reading *reading, const sp_json_node *event) {
  const sp_json_node *lists[TRACE_LISTS];
  trace_profile *profile = trace_find(reading, event);
  size_t i, count;

  trace_lists(event, lists);
  for (i = 0; i < TRACE_LISTS; i++) {
    count = sp_json_count(lists[i]);
    if (count)
      memcpy(profile->items[i] + profile->lists[i].count, lists[i]->items,
             count * sizeof *lists[i]->items);
    profile->lists[i].count += (uint32_t)count;
  }
}

/* Returns the name of a process or thread, or `otherwise` if no event has this
 * name. `kind` is "process_name" or "thread_name". If `thread` is NaN, threads
 * are not compared. */
static sp_view trace_name(const trace_reading *reading, const char *kind,
                          double process, double thread,
                          const char *otherwise) {
  sp_view found = sp_view_text(otherwise), name;
  size_t i;

  for (i = 0; i < reading->name_count; i++) {
    const sp_json_node *event = reading->names[i];

    name = trace_text(sp_json_member(event, "args"), "name");
    if (name.size && sp_view_is(trace_text(event, "name"), kind) &&
        trace_number(event, "pid") == process &&
        (isnan(thread) || trace_number(event, "tid") == thread))
      found = name;
  }
  return found;
}

/* Add the thread of a profile, for example "Renderer 12, CrRendererMain 14". */
static spanprof_status trace_thread(const trace_reading *reading,
                                    const trace_profile *profile,
                                    uint32_t *thread) {
  const sp_view names[] = {
      trace_name(reading, "process_name", profile->process, NAN, "process"),
      trace_name(reading, "thread_name", profile->process, profile->thread,
                 "thread")};
  sp_buffer text;
  spanprof_status st;

  sp_buffer_init(&text, reading->foreign->mem);
  sp_buffer_append(&text, names[0].bytes, names[0].size);
  sp_buffer_format(&text, " %.0f, ", profile->process);
  sp_buffer_append(&text, names[1].bytes, names[1].size);
  sp_buffer_format(&text, " %.0f", profile->thread);
  st = sp_buffer_status(&text);
  if (!st)
    st = sp_foreign_thread(reading->foreign, sp_view_of(text.data, text.size),
                           thread);
  sp_buffer_dispose(&text);
  return st;
}

static spanprof_status trace_add(const trace_reading *reading,
                                 const trace_profile *profile) {
  sp_v8_profile v8 = {.nodes = &profile->lists[TRACE_NODES],
                      .samples = &profile->lists[TRACE_SAMPLES],
                      .deltas = &profile->lists[TRACE_DELTAS],
                      .duration_us = profile->end_us - profile->start_us};
  spanprof_status st;

  if (!v8.samples->count)
    return SPANPROF_OK;
  st = trace_thread(reading, profile, &v8.thread);
  return st ? st : sp_foreign_v8_add(reading->foreign, &v8);
}

static spanprof_status trace_read(sp_foreign *foreign,
                                  const sp_json_node *root) {
  trace_reading reading = {.foreign = foreign, .all = trace_events(root)};
  spanprof_status st = trace_pick(&reading);
  size_t i;

  if (!st && !reading.event_count)
    return sp_fail(SPANPROF_ERR_FORMAT,
                   "is an event trace without CPU profiles: record it in "
                   "Chrome's Performance panel");
  for (i = 0; !st && i < reading.event_count; i++)
    st = trace_count(&reading, reading.events[i]);
  for (i = 0; !st && i < reading.profile_count; i++)
    st = trace_make(&reading, &reading.profiles[i]);
  for (i = 0; !st && i < reading.event_count; i++)
    trace_append(&reading, reading.events[i]);
  for (i = 0; !st && i < reading.profile_count; i++)
    st = trace_add(&reading, &reading.profiles[i]);
  return st;
}

const sp_foreign_format sp_foreign_trace = {"Chrome trace", trace_is,
                                            trace_read};
