#include "runtime.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../util/clock.h"
#include "../util/counters.h"
#include "../util/hash.h"
#include "../util/status.h"

/* Of the eval loop's ranges, those that come while it is registered. */
#define RUNTIME_ADDED_MAX 16

/* Frames whose names are remembered; at the cap all are forgotten and asked for
 * again. */
#define RUNTIME_NAMES_MAX (1u << 18)

/* How long those are waited for who are in a callback of a runtime that goes:
 * one may wait for a lock of the language that the waiting thread holds. */
#define RUNTIME_LEAVE_NS SP_NS_PER_S

/* The offset of an entry for the code itself, whose text the entries of its
 * offsets share. */
#define RUNTIME_OFFSET_NONE UINT32_MAX

typedef struct runtime_text {
  int64_t start_line;
  uint32_t function_bytes;
  uint32_t file_bytes;
  char bytes[]; /* function, NUL, file, NUL */
} runtime_text;

/* A language that does not settle offsets into lines has a dozen of a function.
 */
typedef struct runtime_entry {
  uint64_t code;
  runtime_text *text; /* NULL: waiting */
  uint32_t offset;
  int32_t line;
  bool used;
  bool failed;
  bool owner; /* of text */
} runtime_entry;

/* Process-wide, because the signal handler asks for it. */
static struct {
  /* Read in the handler. */
  _Atomic(const spanprof_runtime *) current;
  _Atomic uint64_t inside;
  /* Written before current is set. */
  spanprof_runtime runtime;
  char name[SP_RUNTIME_TEXT_BYTES];
  char version[SP_RUNTIME_TEXT_BYTES];
  uint32_t registrations;
  /* Of the eval loop. Those counted are never changed while registered; more
   * are added under lock. */
  spanprof_range added[RUNTIME_ADDED_MAX];
  _Atomic size_t added_count;
  /* Guarded by lock. */
  pthread_mutex_t lock;
  runtime_entry *entries;
  size_t capacity; /* 0 or a power of two */
  size_t count;
  size_t waiting;
  size_t next_waiting; /* where the search for a waiting entry goes on */
  char *shown;         /* what sp_runtime_name() returned last */
  size_t shown_capacity;
} runtime_state SP_HANDLER_DATA = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Written before current is set, by start, without overlaps; read by the
 * collector. Apart from the handler's data. */
static spanprof_range runtime_ranges[SPANPROF_RUNTIME_RANGES_MAX],
    runtime_call_ranges[SPANPROF_RUNTIME_RANGES_MAX];

const spanprof_runtime *sp_runtime_enter(void) {
  atomic_fetch_add_explicit(&runtime_state.inside, 1, memory_order_seq_cst);
  return atomic_load_explicit(&runtime_state.current, memory_order_seq_cst);
}

void sp_runtime_leave(void) {
  atomic_fetch_sub_explicit(&runtime_state.inside, 1, memory_order_release);
}

static int range_compare(const void *a, const void *b) {
  const spanprof_range *one = a, *other = b;

  return (one->start > other->start) - (one->start < other->start);
}

/* Copy ranges, by start, those that touch as one; returns how many. */
static size_t ranges_copy(spanprof_range *out, const spanprof_range *ranges,
                          size_t count) {
  size_t kept = 0, i;

  if (count == 0)
    return 0;
  memcpy(out, ranges, count * sizeof *ranges);
  qsort(out, count, sizeof *out, range_compare);
  for (i = 1; i < count; i++) {
    if (out[i].start <= out[kept].end)
      out[kept].end = sp_max_u64(out[kept].end, out[i].end);
    else
      out[++kept] = out[i];
  }
  return kept + 1;
}

static bool ranges_have(const spanprof_range *ranges, size_t count,
                        uint64_t pc) {
  size_t low = 0, high = count;

  while (low < high) {
    size_t middle = low + (high - low) / 2;

    if (pc >= ranges[middle].end)
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && pc >= ranges[low].start;
}

bool sp_runtime_evaluates(const spanprof_runtime *runtime, uint64_t pc) {
  size_t added = atomic_load_explicit(&runtime_state.added_count,
                                      memory_order_acquire),
         i;

  for (i = 0; i < added; i++)
    if (pc >= runtime_state.added[i].start && pc < runtime_state.added[i].end)
      return true;
  return ranges_have(runtime->eval_ranges, runtime->eval_range_count, pc);
}

bool sp_runtime_calls(const spanprof_runtime *runtime, uint64_t pc) {
  return ranges_have(runtime->call_ranges, runtime->call_range_count, pc);
}

static void entries_forget(void) {
  size_t i;

  for (i = 0; i < runtime_state.capacity; i++)
    if (runtime_state.entries[i].owner)
      sp_mem_free(&sp_mem_default, runtime_state.entries[i].text);
  sp_mem_free(&sp_mem_default, runtime_state.entries);
  runtime_state.entries = NULL;
  runtime_state.capacity = 0;
  runtime_state.count = 0;
  runtime_state.waiting = 0;
}

static runtime_entry *entry_slot(runtime_entry *entries, size_t capacity,
                                 uint64_t code, uint32_t offset) {
  size_t at = sp_hash_mix(code, offset) & (capacity - 1);

  while (entries[at].used &&
         (entries[at].code != code || entries[at].offset != offset))
    at = (at + 1) & (capacity - 1);
  return &entries[at];
}

/* The frame's entry, unless it was answered or forgotten. */
static runtime_entry *entry_waiting(const spanprof_frame *frame) {
  runtime_entry *entry;

  if (runtime_state.capacity == 0)
    return NULL;
  entry = entry_slot(runtime_state.entries, runtime_state.capacity, frame->code,
                     frame->offset);
  return entry->used && !entry->text && !entry->failed ? entry : NULL;
}

static bool entries_grow(void) {
  size_t capacity = runtime_state.capacity ? runtime_state.capacity * 2 : 256;
  runtime_entry *entries;
  size_t i;

  entries = sp_mem_zero(&sp_mem_default, capacity * sizeof *entries);
  if (!entries)
    return false;
  for (i = 0; i < runtime_state.capacity; i++) {
    runtime_entry *entry = &runtime_state.entries[i];

    if (entry->used)
      *entry_slot(entries, capacity, entry->code, entry->offset) = *entry;
  }
  sp_mem_free(&sp_mem_default, runtime_state.entries);
  runtime_state.entries = entries;
  runtime_state.capacity = capacity;
  return true;
}

static runtime_text *text_new(const spanprof_name *name) {
  const size_t function_bytes = name->function_bytes;
  const size_t file_bytes = name->file ? name->file_bytes : 0;
  runtime_text *text = sp_mem_zero(
      &sp_mem_default, sizeof *text + function_bytes + file_bytes + 2);

  if (!text)
    return NULL;
  text->start_line = name->start_line;
  text->function_bytes = (uint32_t)function_bytes;
  text->file_bytes = (uint32_t)file_bytes;
  memcpy(text->bytes, name->function, function_bytes);
  if (file_bytes)
    memcpy(text->bytes + function_bytes + 1, name->file, file_bytes);
  return text;
}

static size_t text_bytes(const runtime_text *text) {
  return (size_t)text->function_bytes + text->file_bytes + 2;
}

static bool text_equal(const runtime_text *a, const runtime_text *b) {
  return a->start_line == b->start_line &&
         a->function_bytes == b->function_bytes &&
         a->file_bytes == b->file_bytes &&
         memcmp(a->bytes, b->bytes, text_bytes(a)) == 0;
}

/* Have the entry show `text`, or the same one that its code has already. */
static void entry_show(runtime_entry *entry, runtime_text *text) {
  runtime_entry *code =
      entry_slot(runtime_state.entries, runtime_state.capacity, entry->code,
                 RUNTIME_OFFSET_NONE);

  if (!code->used) {
    *code = (runtime_entry){.code = entry->code,
                            .offset = RUNTIME_OFFSET_NONE,
                            .text = text,
                            .used = true,
                            .owner = true};
    runtime_state.count++;
    entry->text = text;
  } else if (code->text && text_equal(code->text, text)) {
    sp_mem_free(&sp_mem_default, text);
    entry->text = code->text;
  } else {
    entry->text = text;
    entry->owner = true;
  }
}

/* Call `resolve`, which may take its time, without the lock, and keep what it
 * says. */
static void entry_resolve(const runtime_entry *waiting) {
  const spanprof_runtime *runtime = sp_runtime_enter();
  const spanprof_frame frame = {.code = waiting->code,
                                .offset = waiting->offset};
  spanprof_name name = {.struct_size = sizeof name};
  runtime_text *text = NULL;
  runtime_entry *entry;

  pthread_mutex_unlock(&runtime_state.lock);
  if (runtime && !runtime->resolve(runtime->data, &frame, &name) &&
      name.function)
    text = text_new(&name);
  pthread_mutex_lock(&runtime_state.lock);
  sp_runtime_leave();
  entry = entry_waiting(&frame);
  if (!entry) {
    sp_mem_free(&sp_mem_default, text);
    return;
  }
  runtime_state.waiting--;
  if (!text) {
    entry->failed = true;
    sp_count(&sp_counts.frames_unnamed, 1);
    return;
  }
  entry->line =
      name.line > 0 && name.line <= INT32_MAX ? (int32_t)name.line : 0;
  entry_show(entry, text);
}

/* Room for a frame, and for the codes of all that wait; three quarters are used
 * at most. */
static bool entries_reserve(void) {
  size_t needed = runtime_state.count + runtime_state.waiting + 2;

  while (needed * 4 > runtime_state.capacity * 3)
    if (!entries_grow())
      return false;
  return true;
}

void sp_runtime_note(const spanprof_frame *frame) {
  runtime_entry *entry;

  pthread_mutex_lock(&runtime_state.lock);
  if (runtime_state.count >= RUNTIME_NAMES_MAX)
    entries_forget();
  if (!entries_reserve())
    goto unlock;
  entry = entry_slot(runtime_state.entries, runtime_state.capacity, frame->code,
                     frame->offset);
  if (!entry->used) {
    *entry = (runtime_entry){
        .code = frame->code, .offset = frame->offset, .used = true};
    runtime_state.count++;
    runtime_state.waiting++;
    if (atomic_load(&runtime_state.current) &&
        !runtime_state.runtime.want_names)
      entry_resolve(entry);
  }
unlock:
  pthread_mutex_unlock(&runtime_state.lock);
}

spanprof_status sp_runtime_name(const sp_frame *frame, sp_frame_name *out) {
  spanprof_status st = SPANPROF_ERR_STATE;
  runtime_entry *entry;

  memset(out, 0, sizeof *out);
  pthread_mutex_lock(&runtime_state.lock);
  if (runtime_state.capacity == 0)
    goto unlock;
  entry = entry_slot(runtime_state.entries, runtime_state.capacity, frame->code,
                     (uint32_t)frame->position);
  if (entry->used && (entry->text || entry->failed))
    st = SPANPROF_OK;
  if (entry->used && entry->text &&
      !sp_mem_reserve(&sp_mem_default, (void **)&runtime_state.shown,
                      &runtime_state.shown_capacity, text_bytes(entry->text),
                      1)) {
    const runtime_text *text = entry->text;

    /* A copy: another thread may forget the entry. */
    memcpy(runtime_state.shown, text->bytes, text_bytes(text));
    out->function = runtime_state.shown;
    out->function_bytes = text->function_bytes;
    out->file = runtime_state.shown + text->function_bytes + 1;
    out->file_bytes = text->file_bytes;
    out->line = entry->line;
    out->start_line = text->start_line;
  }
unlock:
  pthread_mutex_unlock(&runtime_state.lock);
  return st;
}

size_t sp_runtime_request(void) {
  const spanprof_runtime *runtime = sp_runtime_enter();
  size_t waiting;

  pthread_mutex_lock(&runtime_state.lock);
  waiting = runtime_state.waiting;
  pthread_mutex_unlock(&runtime_state.lock);
  if (runtime && waiting > 0 && runtime->want_names)
    runtime->want_names(runtime->data);
  sp_runtime_leave();
  return runtime ? waiting : 0;
}

size_t spanprof_runtime_resolve(size_t max) {
  const spanprof_runtime *runtime = sp_runtime_enter();
  size_t waiting = 0, looked = 0;

  if (!runtime)
    goto leave;
  pthread_mutex_lock(&runtime_state.lock);
  while (max > 0 && runtime_state.waiting > 0 &&
         looked < runtime_state.capacity) {
    runtime_entry *entry = &runtime_state.entries[runtime_state.next_waiting &
                                                  (runtime_state.capacity - 1)];

    runtime_state.next_waiting++;
    looked++;
    if (entry->used && !entry->text && !entry->failed) {
      entry_resolve(entry);
      max--;
    }
  }
  waiting = runtime_state.waiting;
  pthread_mutex_unlock(&runtime_state.lock);
leave:
  sp_runtime_leave();
  return waiting;
}

uint32_t sp_runtime_identity(char name[SP_RUNTIME_TEXT_BYTES],
                             char version[SP_RUNTIME_TEXT_BYTES]) {
  uint32_t registrations;

  pthread_mutex_lock(&runtime_state.lock);
  memcpy(name, runtime_state.name, SP_RUNTIME_TEXT_BYTES);
  memcpy(version, runtime_state.version, SP_RUNTIME_TEXT_BYTES);
  registrations = runtime_state.registrations;
  pthread_mutex_unlock(&runtime_state.lock);
  return registrations;
}

/* Has everybody left the callbacks, within a second? */
static bool runtime_left(void) {
  uint64_t until_ns = sp_monotonic_ns() + RUNTIME_LEAVE_NS;

  while (atomic_load(&runtime_state.inside) > 0) {
    if (sp_monotonic_ns() >= until_ns)
      return false;
    sched_yield();
  }
  return true;
}

spanprof_status spanprof_runtime_register(const spanprof_runtime *runtime) {
  spanprof_status st = SPANPROF_OK;

  if (!runtime || runtime->struct_size < sizeof *runtime || !runtime->name ||
      (runtime->walk && !runtime->resolve) ||
      runtime->eval_range_count > SPANPROF_RUNTIME_RANGES_MAX ||
      runtime->call_range_count > SPANPROF_RUNTIME_RANGES_MAX)
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "a runtime needs its struct_size, a name, a resolve with "
                   "its walk, and at most %d ranges of each kind",
                   SPANPROF_RUNTIME_RANGES_MAX);
  if (!atomic_load(&runtime_state.current) && !runtime_left())
    return sp_fail(SPANPROF_ERR_STATE,
                   "a callback of the runtime that was registered before has "
                   "not returned");
  pthread_mutex_lock(&runtime_state.lock);
  if (atomic_load(&runtime_state.current)) {
    st = sp_fail(SPANPROF_ERR_STATE, "runtime \"%s\" is registered already",
                 runtime_state.runtime.name);
    goto unlock;
  }
  entries_forget();
  atomic_store(&runtime_state.added_count, 0);
  snprintf(runtime_state.name, sizeof runtime_state.name, "%s", runtime->name);
  snprintf(runtime_state.version, sizeof runtime_state.version, "%s",
           runtime->version ? runtime->version : "");
  runtime_state.registrations++;
  runtime_state.runtime = *runtime;
  runtime_state.runtime.name = runtime_state.name;
  runtime_state.runtime.version = runtime_state.version;
  runtime_state.runtime.eval_ranges = runtime_ranges;
  runtime_state.runtime.eval_range_count = ranges_copy(
      runtime_ranges, runtime->eval_ranges, runtime->eval_range_count);
  runtime_state.runtime.call_ranges = runtime_call_ranges;
  runtime_state.runtime.call_range_count = ranges_copy(
      runtime_call_ranges, runtime->call_ranges, runtime->call_range_count);
  atomic_store(&runtime_state.current, &runtime_state.runtime);
unlock:
  pthread_mutex_unlock(&runtime_state.lock);
  return st;
}

/* With the lock. */
static spanprof_status eval_add(const spanprof_range *range) {
  size_t count = atomic_load(&runtime_state.added_count), i;

  if (!atomic_load(&runtime_state.current))
    return sp_fail(SPANPROF_ERR_STATE, "no runtime is registered");
  for (i = 0; i < count; i++)
    if (memcmp(&runtime_state.added[i], range, sizeof *range) == 0)
      return SPANPROF_OK;
  if (count == RUNTIME_ADDED_MAX)
    return sp_fail(SPANPROF_ERR_LIMIT,
                   "%d ranges were added to the eval loop's already",
                   RUNTIME_ADDED_MAX);
  runtime_state.added[count] = *range;
  atomic_store_explicit(&runtime_state.added_count, count + 1,
                        memory_order_release);
  return SPANPROF_OK;
}

spanprof_status spanprof_runtime_eval_add(const spanprof_range *range) {
  spanprof_status st;

  if (!range || range->start >= range->end)
    return sp_fail(SPANPROF_ERR_ARGUMENT, "a range of code is empty");
  pthread_mutex_lock(&runtime_state.lock);
  st = eval_add(range);
  pthread_mutex_unlock(&runtime_state.lock);
  return st;
}

void spanprof_runtime_unregister(void) {
  atomic_store(&runtime_state.current, NULL);
  runtime_left();
  /* Entries stay: the collector may still name frames it has seen. */
}

void sp_runtime_before_fork(void) {
  pthread_mutex_lock(&runtime_state.lock);
}

void sp_runtime_after_fork(bool child) {
  if (!child) {
    pthread_mutex_unlock(&runtime_state.lock);
    return;
  }
  pthread_mutex_init(&runtime_state.lock, NULL);
  atomic_store(&runtime_state.inside, 0);
}
