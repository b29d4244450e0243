#include "runtime.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory/struct_copy.h"
#include "util/system/clock.h"
#include "util/system/status.h"

/* Maximum number of eval loop ranges that are added while the runtime is
 * registered. */
#define RUNTIME_ADDED_MAX 16

/* Maximum wait for threads that are inside a callback of a runtime that is
 * being unregistered. The wait is limited because a callback may wait for a
 * lock of the language that the unregistering thread holds. */
#define RUNTIME_LEAVE_NS SP_NS_PER_S

/* Process-wide, because the signal handler uses it. */
static struct {
  /* The handler reads these fields. */
  _Atomic(const spanprof_runtime *) current;
  _Atomic uint64_t inside;
  /* Written before `current` is set. */
  spanprof_runtime runtime;
  char name[SP_RUNTIME_TEXT_BYTES];
  char version[SP_RUNTIME_TEXT_BYTES];
  _Atomic uint32_t registrations;
  /* Ranges of the eval loop. The first `added_count` entries do not change
   * while the runtime is registered; further entries are added under `lock`. */
  spanprof_range added[RUNTIME_ADDED_MAX];
  _Atomic size_t added_count;
  /* Guards registration and `added`. */
  pthread_mutex_t lock;
} runtime_state SP_HANDLER_DATA = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The registered runtime's ranges, sorted by start, without overlaps. They are
 * written before `current` is set. The collector reads them, so they are not
 * part of the handler's data. */
static spanprof_range runtime_ranges[SPANPROF_RUNTIME_RANGES_MAX];
static char runtime_library_directory[PATH_MAX];

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

/* Copy ranges, sorted by start, and merge those that touch. Returns the number
 * of merged ranges. */
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

uint32_t sp_runtime_registrations(void) {
  return atomic_load(&runtime_state.registrations);
}

uint32_t sp_runtime_identity(char name[SP_RUNTIME_TEXT_BYTES],
                             char version[SP_RUNTIME_TEXT_BYTES]) {
  _Atomic uint32_t registrations;

  pthread_mutex_lock(&runtime_state.lock);
  memcpy(name, runtime_state.name, SP_RUNTIME_TEXT_BYTES);
  memcpy(version, runtime_state.version, SP_RUNTIME_TEXT_BYTES);
  registrations = runtime_state.registrations;
  pthread_mutex_unlock(&runtime_state.lock);
  return registrations;
}

/* Wait at most a second until no thread is inside a callback. Returns false on
 * timeout. */
static bool runtime_wait_idle(void) {
  uint64_t until_ns = sp_monotonic_ns() + RUNTIME_LEAVE_NS;

  while (atomic_load(&runtime_state.inside) > 0) {
    if (sp_monotonic_ns() >= until_ns)
      return false;
    sched_yield();
  }
  return true;
}

/* Copy the caller's structure. Fields that it does not have become zero.
 * Returns false if the structure is not valid. */
static bool runtime_copy(const spanprof_runtime *given, spanprof_runtime *out) {
  memset(out, 0, sizeof *out);
  return given &&
         sp_struct_copy(out, sizeof *out, given,
                        SP_STRUCT_UP_TO(spanprof_runtime, name)) &&
         out->name && (!out->walk || out->resolve) &&
         (!out->native_function || out->native_functions_version) &&
         out->eval_range_count <= SPANPROF_RUNTIME_RANGES_MAX &&
         (!out->library_directory ||
          strlen(out->library_directory) < sizeof runtime_library_directory);
}

spanprof_status spanprof_runtime_register(const spanprof_runtime *runtime) {
  spanprof_status st = SPANPROF_OK;
  spanprof_runtime copy;

  if (!runtime_copy(runtime, &copy))
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "spanprof_runtime needs a valid struct_size, a name, "
                   "resolve if walk is set, native_functions_version if "
                   "native_function is set, at most %d eval_ranges, and a "
                   "library_directory of less than %d bytes",
                   SPANPROF_RUNTIME_RANGES_MAX, PATH_MAX);
  runtime = &copy;
  if (!atomic_load(&runtime_state.current) && !runtime_wait_idle())
    return sp_fail(SPANPROF_ERR_STATE,
                   "a callback of the previously registered runtime has not "
                   "returned; try again");
  pthread_mutex_lock(&runtime_state.lock);
  if (atomic_load(&runtime_state.current)) {
    st = sp_fail(SPANPROF_ERR_STATE, "runtime \"%s\" is registered already",
                 runtime_state.runtime.name);
    goto unlock;
  }
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
  if (runtime->library_directory)
    runtime_state.runtime.library_directory =
        strcpy(runtime_library_directory, runtime->library_directory);
  atomic_store(&runtime_state.current, &runtime_state.runtime);
unlock:
  pthread_mutex_unlock(&runtime_state.lock);
  return st;
}

/* Add a range. The caller holds `runtime_state.lock`. */
static spanprof_status eval_add(const spanprof_range *range) {
  size_t count = atomic_load(&runtime_state.added_count), i;

  if (!atomic_load(&runtime_state.current))
    return sp_fail(SPANPROF_ERR_STATE, "no runtime is registered");
  for (i = 0; i < count; i++)
    if (memcmp(&runtime_state.added[i], range, sizeof *range) == 0)
      return SPANPROF_OK;
  if (count == RUNTIME_ADDED_MAX)
    return sp_fail(SPANPROF_ERR_LIMIT,
                   "at most %d ranges can be added to the eval loop",
                   RUNTIME_ADDED_MAX);
  runtime_state.added[count] = *range;
  atomic_store_explicit(&runtime_state.added_count, count + 1,
                        memory_order_release);
  return SPANPROF_OK;
}

spanprof_status spanprof_runtime_eval_add(const spanprof_range *range) {
  spanprof_status st;

  if (!range || range->start >= range->end)
    return sp_fail(SPANPROF_ERR_ARGUMENT, "the range of code is NULL or empty");
  pthread_mutex_lock(&runtime_state.lock);
  st = eval_add(range);
  pthread_mutex_unlock(&runtime_state.lock);
  return st;
}

void spanprof_runtime_unregister(void) {
  atomic_store(&runtime_state.current, NULL);
  runtime_wait_idle();
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
