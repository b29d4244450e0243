#include "runtime_names.h"

#include <pthread.h>
#include <string.h>

#include "sampler/handler/runtime.h"
#include "util/memory/hash_index.h"
#include "util/system/counters.h"

/* Frames whose names are remembered; at the cap all are forgotten and asked for
 * again. */
#define NAMES_MAX (1u << 18)

/* So many are never too many: some 400 KB of paths of usual length. */
#define NAMES_AGE_MIN 4096

/* A name goes that none of so many windows needed. */
#define NAMES_WINDOWS_KEPT 2

/* The offset of an entry for the code itself, whose text the entries of its
 * offsets share. */
#define NAMES_OFFSET_NONE UINT32_MAX

typedef struct runtime_name_text {
  int64_t start_line;
  uint32_t function_bytes;
  uint32_t file_bytes;
  char bytes[]; /* function, NUL, file, NUL */
} runtime_name_text;

/* A language that does not settle offsets into lines has a dozen of a function.
 */
typedef struct runtime_name {
  uint64_t code;
  runtime_name_text *text; /* NULL: waiting */
  uint32_t offset;
  int32_t line;
  uint32_t seen; /* window */
  bool failed;
  bool owner; /* of text */
} runtime_name;

/* Process-wide, as the runtime is. */
static struct {
  pthread_mutex_t lock;
  /* Guarded by lock. */
  const sp_mem *mem;
  uint32_t registrations; /* those are names of the runtime registered then */
  runtime_name *entries;
  size_t capacity;
  size_t count;
  sp_index index;
  size_t waiting;
  size_t next_waiting; /* where the search for a waiting entry goes on */
  size_t age_at;       /* so many entries are looked through for old ones */
  uint32_t window;
  char *shown; /* what sp_runtime_name() returned last */
  size_t shown_capacity;
} runtime_names = {.lock = PTHREAD_MUTEX_INITIALIZER,
                   .mem = &sp_mem_paged,
                   .age_at = NAMES_AGE_MIN};

static void entries_forget(void) {
  size_t i;

  for (i = 0; i < runtime_names.count; i++)
    if (runtime_names.entries[i].owner)
      sp_mem_free(runtime_names.mem, runtime_names.entries[i].text);
  sp_mem_free(runtime_names.mem, runtime_names.entries);
  sp_index_dispose(&runtime_names.index, runtime_names.mem);
  runtime_names.entries = NULL;
  runtime_names.capacity = 0;
  runtime_names.count = 0;
  runtime_names.waiting = 0;
  runtime_names.age_at = NAMES_AGE_MIN;
}

/* Codes of one runtime are others of the next. */
static void names_lock(void) {
  uint32_t registrations;

  pthread_mutex_lock(&runtime_names.lock);
  registrations = sp_runtime_registrations();
  if (runtime_names.registrations != registrations)
    entries_forget();
  runtime_names.registrations = registrations;
}

static runtime_name *entry_find(uint64_t code, uint32_t offset) {
  const uint64_t hash = sp_hash_mix(code, offset);
  uint32_t at, number;

  for (number = sp_index_first(&runtime_names.index, hash, &at);
       number != SP_INDEX_NONE;
       number = sp_index_next(&runtime_names.index, hash, &at)) {
    runtime_name *entry = &runtime_names.entries[number];

    if (entry->code == code && entry->offset == offset)
      return entry;
  }
  return NULL;
}

/* After entries_reserve(). */
static runtime_name *entry_add(uint64_t code, uint32_t offset) {
  runtime_name *entry = &runtime_names.entries[runtime_names.count];

  *entry = (runtime_name){
      .code = code, .offset = offset, .seen = runtime_names.window};
  sp_index_add(&runtime_names.index, sp_hash_mix(code, offset),
               (uint32_t)runtime_names.count++);
  return entry;
}

static bool entry_waits(const runtime_name *entry) {
  return !entry->text && !entry->failed;
}

static runtime_name_text *text_new(const spanprof_name *name) {
  const size_t function_bytes = name->function_bytes;
  const size_t file_bytes = name->file ? name->file_bytes : 0;
  runtime_name_text *text = sp_mem_zero(
      runtime_names.mem, sizeof *text + function_bytes + file_bytes + 2);

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

static size_t text_bytes(const runtime_name_text *text) {
  return (size_t)text->function_bytes + text->file_bytes + 2;
}

static bool text_equal(const runtime_name_text *a, const runtime_name_text *b) {
  return a->start_line == b->start_line &&
         a->function_bytes == b->function_bytes &&
         a->file_bytes == b->file_bytes &&
         memcmp(a->bytes, b->bytes, text_bytes(a)) == 0;
}

/* Have the entry show `text`, or the same one that its code has already. */
static void entry_show(runtime_name *entry, runtime_name_text *text) {
  runtime_name *code = entry_find(entry->code, NAMES_OFFSET_NONE);

  if (!code) {
    code = entry_add(entry->code, NAMES_OFFSET_NONE);
    code->text = text;
    code->owner = true;
    entry->text = text;
  } else if (code->text && text_equal(code->text, text)) {
    sp_mem_free(runtime_names.mem, text);
    entry->text = code->text;
  } else {
    entry->text = text;
    entry->owner = true;
  }
}

/* Call `resolve`, which may take its time, without the lock, and keep what it
 * says. */
static void entry_resolve(const runtime_name *waiting) {
  const spanprof_runtime *runtime = sp_runtime_enter();
  const spanprof_frame frame = {.code = waiting->code,
                                .offset = waiting->offset};
  spanprof_name name = {.struct_size = sizeof name};
  runtime_name_text *text = NULL;
  runtime_name *entry;

  pthread_mutex_unlock(&runtime_names.lock);
  if (runtime && !runtime->resolve(runtime->data, &frame, &name) &&
      name.function)
    text = text_new(&name);
  names_lock();
  sp_runtime_leave();
  entry = entry_find(frame.code, frame.offset);
  /* It may have been forgotten, or answered. */
  if (!entry || !entry_waits(entry)) {
    sp_mem_free(runtime_names.mem, text);
    return;
  }
  runtime_names.waiting--;
  if (!text) {
    entry->failed = true;
    sp_count(&sp_counts.frames_unnamed, 1);
    return;
  }
  entry->line =
      name.line > 0 && name.line <= INT32_MAX ? (int32_t)name.line : 0;
  entry_show(entry, text);
}

/* Does the runtime answer on any thread? */
static bool answers_at_once(void) {
  const spanprof_runtime *runtime = sp_runtime_enter();
  bool at_once = runtime && !runtime->want_names;

  sp_runtime_leave();
  return at_once;
}

/* Room for a frame, and for the codes of all that wait. */
static spanprof_status entries_reserve(void) {
  size_t more = runtime_names.waiting + 2;
  spanprof_status st = sp_index_reserve_more(&runtime_names.index,
                                             runtime_names.mem, (uint32_t)more);

  if (st)
    return st;
  return sp_mem_reserve(runtime_names.mem, (void **)&runtime_names.entries,
                        &runtime_names.capacity, runtime_names.count + more,
                        sizeof *runtime_names.entries);
}

void sp_runtime_note(const spanprof_frame *frame) {
  runtime_name *entry;

  names_lock();
  if (runtime_names.count >= NAMES_MAX)
    entries_forget();
  entry = entry_find(frame->code, frame->offset);
  if (entry)
    entry->seen = runtime_names.window;
  if (entry || entries_reserve())
    goto unlock;
  entry = entry_add(frame->code, frame->offset);
  runtime_names.waiting++;
  if (answers_at_once())
    entry_resolve(entry);
unlock:
  pthread_mutex_unlock(&runtime_names.lock);
}

spanprof_status sp_runtime_name(const sp_frame *frame, sp_frame_name *out) {
  spanprof_status st = SPANPROF_ERR_STATE;
  runtime_name *entry;

  memset(out, 0, sizeof *out);
  names_lock();
  entry = entry_find(frame->code, (uint32_t)frame->position);
  if (!entry)
    goto unlock;
  if (!entry_waits(entry))
    st = SPANPROF_OK;
  if (entry->text &&
      !sp_mem_reserve(runtime_names.mem, (void **)&runtime_names.shown,
                      &runtime_names.shown_capacity, text_bytes(entry->text),
                      1)) {
    const runtime_name_text *text = entry->text;

    /* A copy: another thread may forget the entry. */
    memcpy(runtime_names.shown, text->bytes, text_bytes(text));
    out->function = runtime_names.shown;
    out->function_bytes = text->function_bytes;
    out->file = runtime_names.shown + text->function_bytes + 1;
    out->file_bytes = text->file_bytes;
    out->line = entry->line;
    out->start_line = text->start_line;
  }
unlock:
  pthread_mutex_unlock(&runtime_names.lock);
  return st;
}

static bool entry_fresh(const runtime_name *entry) {
  return entry_waits(entry) ||
         runtime_names.window - entry->seen <= NAMES_WINDOWS_KEPT;
}

/* The text that a fresh entry shows stays with it. */
static void owners_keep(void) {
  size_t i;

  for (i = 0; i < runtime_names.count; i++) {
    const runtime_name *entry = &runtime_names.entries[i];
    runtime_name *owner;

    if (!entry_fresh(entry))
      continue;
    owner = entry_find(entry->code, NAMES_OFFSET_NONE);
    if (owner && !entry_fresh(owner))
      owner->seen = entry->seen;
  }
}

static void entries_age(void) {
  size_t kept = 0, i;

  owners_keep();
  sp_index_clear(&runtime_names.index);
  for (i = 0; i < runtime_names.count; i++) {
    const runtime_name entry = runtime_names.entries[i];

    if (!entry_fresh(&entry)) {
      if (entry.owner)
        sp_mem_free(runtime_names.mem, entry.text);
      continue;
    }
    runtime_names.entries[kept] = entry;
    sp_index_add(&runtime_names.index, sp_hash_mix(entry.code, entry.offset),
                 (uint32_t)kept++);
  }
  runtime_names.count = kept;
  runtime_names.age_at = sp_max_u64(NAMES_AGE_MIN, 2 * kept);
}

void sp_runtime_names_age(void) {
  names_lock();
  runtime_names.window++;
  if (runtime_names.count >= runtime_names.age_at)
    entries_age();
  pthread_mutex_unlock(&runtime_names.lock);
}

size_t sp_runtime_request(void) {
  const spanprof_runtime *runtime = sp_runtime_enter();
  size_t waiting;

  names_lock();
  waiting = runtime_names.waiting;
  pthread_mutex_unlock(&runtime_names.lock);
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
  names_lock();
  while (max > 0 && runtime_names.waiting > 0 && looked < runtime_names.count) {
    const runtime_name *entry =
        &runtime_names
             .entries[runtime_names.next_waiting % runtime_names.count];

    runtime_names.next_waiting++;
    looked++;
    if (entry_waits(entry)) {
      entry_resolve(entry);
      max--;
    }
  }
  waiting = runtime_names.waiting;
  pthread_mutex_unlock(&runtime_names.lock);
leave:
  sp_runtime_leave();
  return waiting;
}

void sp_runtime_names_before_fork(void) {
  pthread_mutex_lock(&runtime_names.lock);
}

void sp_runtime_names_after_fork(bool child) {
  if (child)
    pthread_mutex_init(&runtime_names.lock, NULL);
  else
    pthread_mutex_unlock(&runtime_names.lock);
}

void sp_runtime_names_reset(const sp_mem *mem) {
  entries_forget();
  sp_mem_free(runtime_names.mem, runtime_names.shown);
  runtime_names.shown = NULL;
  runtime_names.shown_capacity = 0;
  runtime_names.mem = mem ? mem : &sp_mem_paged;
}
