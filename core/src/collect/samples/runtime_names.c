#include "runtime_names.h"

#include <pthread.h>
#include <string.h>

#include "sampler/handler/runtime.h"

typedef struct runtime_name {
  sp_frame frame;
  sp_frame_name name; /* set by name_copy(); points into `text` */
  char *text;         /* copy of function and file; NULL: no name */
} runtime_name;

/* The queue. Process-wide, because the runtime is. Guarded by `lock`. */
static struct {
  pthread_mutex_t lock;
  const sp_mem *mem;
  uint32_t registrations; /* number of the runtime's registration */
  runtime_name *entries;  /* the first `named` were resolved, the others wait */
  size_t capacity;
  size_t count;
  size_t named;
} name_queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .mem = &sp_mem_paged};

static void names_clear(void) {
  size_t i;

  for (i = 0; i < name_queue.named; i++)
    sp_mem_free(name_queue.mem, name_queue.entries[i].text);
  sp_mem_free(name_queue.mem, name_queue.entries);
  name_queue.entries = NULL;
  name_queue.capacity = name_queue.count = name_queue.named = 0;
}

/* Acquire the lock. Empties the queue if another runtime was registered,
 * because in another runtime, a frame with the same code is another
 * function. */
static void names_lock(void) {
  uint32_t registrations;

  pthread_mutex_lock(&name_queue.lock);
  registrations = sp_runtime_registrations();
  if (name_queue.registrations != registrations)
    names_clear();
  name_queue.registrations = registrations;
}

static void names_unlock(void) {
  pthread_mutex_unlock(&name_queue.lock);
}

/* Store a copy of the name. If out of memory, the frame has no name. */
static void name_copy(runtime_name *entry, const spanprof_name *name) {
  const size_t function_bytes = name->function_bytes;
  const size_t file_bytes = name->file ? name->file_bytes : 0;
  char *text = sp_mem_new(name_queue.mem, function_bytes + file_bytes + 1);

  if (!text)
    return;
  memcpy(text, name->function, function_bytes);
  if (file_bytes)
    memcpy(text + function_bytes, name->file, file_bytes);
  entry->text = text;
  entry->name = (sp_frame_name){
      .function = text,
      .function_bytes = function_bytes,
      .file = text + function_bytes,
      .file_bytes = file_bytes,
      .line = name->line > 0 && name->line <= INT32_MAX ? name->line : 0,
      .start_line = name->start_line};
}

/* Resolve the first waiting frame. The caller holds the lock, which is released
 * during the runtime's `resolve`. The name is dropped if another thread has
 * resolved the frame or emptied the queue during that time. */
static void name_resolve(const spanprof_runtime *runtime) {
  const sp_frame frame = name_queue.entries[name_queue.named].frame;
  const spanprof_frame request = {.code = frame.code,
                                  .offset = (uint32_t)frame.position};
  spanprof_name name = {.struct_size = sizeof name};
  bool known;

  names_unlock();
  known = !runtime->resolve(runtime->data, &request, &name) && name.function;
  names_lock();
  if (name_queue.named == name_queue.count ||
      !sp_frame_equal(&name_queue.entries[name_queue.named].frame, &frame))
    return;
  if (known)
    name_copy(&name_queue.entries[name_queue.named], &name);
  name_queue.named++;
}

static size_t names_resolve(const spanprof_runtime *runtime, size_t max) {
  size_t waiting;

  names_lock();
  while (max-- > 0 && name_queue.named < name_queue.count)
    name_resolve(runtime);
  waiting = name_queue.count - name_queue.named;
  names_unlock();
  return waiting;
}

spanprof_status sp_runtime_names_add(const sp_frame *frame) {
  spanprof_status st;

  names_lock();
  st = sp_mem_reserve(name_queue.mem, (void **)&name_queue.entries,
                      &name_queue.capacity, name_queue.count + 1,
                      sizeof *name_queue.entries);
  if (!st)
    name_queue.entries[name_queue.count++] = (runtime_name){.frame = *frame};
  names_unlock();
  return st;
}

size_t sp_runtime_names_deliver(sp_runtime_named_fn *fn, void *data) {
  const spanprof_runtime *runtime = sp_runtime_enter();
  size_t waiting, i;

  if (runtime && !runtime->want_names)
    names_resolve(runtime, SIZE_MAX);
  names_lock();
  for (i = 0; i < name_queue.named; i++) {
    fn(data, &name_queue.entries[i].frame, &name_queue.entries[i].name);
    sp_mem_free(name_queue.mem, name_queue.entries[i].text);
  }
  waiting = name_queue.count - name_queue.named;
  if (waiting > 0)
    memmove(name_queue.entries, name_queue.entries + name_queue.named,
            waiting * sizeof *name_queue.entries);
  name_queue.count = waiting;
  name_queue.named = 0;
  names_unlock();
  sp_runtime_leave();
  return runtime ? waiting : 0;
}

void sp_runtime_names_request(void) {
  const spanprof_runtime *runtime = sp_runtime_enter();

  if (runtime && runtime->want_names && names_resolve(runtime, 0) > 0)
    runtime->want_names(runtime->data);
  sp_runtime_leave();
}

size_t spanprof_runtime_resolve(size_t max) {
  const spanprof_runtime *runtime = sp_runtime_enter();
  size_t waiting = runtime ? names_resolve(runtime, max) : 0;

  sp_runtime_leave();
  return waiting;
}

void sp_runtime_names_clear(void) {
  names_lock();
  names_clear();
  names_unlock();
}

void sp_runtime_names_before_fork(void) {
  pthread_mutex_lock(&name_queue.lock);
}

void sp_runtime_names_after_fork(bool child) {
  if (child)
    pthread_mutex_init(&name_queue.lock, NULL);
  else
    pthread_mutex_unlock(&name_queue.lock);
}

void sp_runtime_names_reset(const sp_mem *mem) {
  names_clear();
  name_queue.mem = mem ? mem : &sp_mem_paged;
}
