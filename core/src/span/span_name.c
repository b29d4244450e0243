#include "span_name.h"

#include <pthread.h>

#include "util/memory/hash_index.h"
#include "util/system/counters.h"
#include "util/text/clean.h"
#include "util/text/utf8.h"

#define NAME_LOCKS    8u
#define NAME_USED_MAX 500u /* the default of the option span_names_max */
#define NAME_OTHER    "[other]"
#define NAME_UNNAMED  "[unnamed]"

typedef struct name_used {
  char *text;
  uint32_t bytes;
} name_used;

/* Process-wide, because spans are process-wide. */
static pthread_mutex_t name_locks[NAME_LOCKS] = {[0 ... NAME_LOCKS - 1] =
                                                     PTHREAD_MUTEX_INITIALIZER};
static const sp_mem *name_mem = &sp_mem_default;

/* The names that samples have used. Their number is limited per process,
 * because each name is a series on the server. */
static struct {
  pthread_mutex_t lock;
  /* Guarded by `names_used.lock`. */
  name_used *names;
  size_t capacity;
  sp_index index;
  uint32_t count;
  uint32_t max;
} names_used = {.lock = PTHREAD_MUTEX_INITIALIZER, .max = NAME_USED_MAX};

static pthread_mutex_t *name_lock_of(spanprof_span number) {
  return &name_locks[(uint32_t)number % NAME_LOCKS];
}

static const char *name_text(const sp_span *span) {
  return span->name_bytes > SP_SPAN_NAME_INLINE ? span->name.elsewhere
                                                : span->name.here;
}

static void name_drop(sp_span *span) {
  if (span->name_bytes > SP_SPAN_NAME_INLINE)
    sp_mem_free(name_mem, span->name.elsewhere);
  span->name_bytes = 0;
}

/* Store `size` (> 0) clean bytes. Returns true if the name was truncated
 * because there was no memory. */
static bool name_store(sp_span *span, const char *name, size_t size) {
  char *copy = NULL;
  bool cut = false;

  if (size > SP_SPAN_NAME_INLINE)
    copy = sp_mem_new(name_mem, size);
  name_drop(span);
  if (copy) {
    memcpy(copy, name, size);
    span->name.elsewhere = copy;
  } else if (size <= SP_SPAN_NAME_INLINE) {
    memcpy(span->name.here, name, size);
  } else {
    size =
        sp_utf8_clean(name, size, span->name.here, SP_SPAN_NAME_INLINE, &cut);
  }
  span->name_bytes = (uint16_t)size;
  return cut;
}

static __attribute__((noinline)) void
name_store_cleaned(sp_span *span, const char *name, size_t bytes) {
  char clean[SP_CLEAN_TEXT_MAX];
  bool changed;
  size_t size = sp_clean_text(name, bytes, clean, &changed);

  if (size > 0)
    name_store(span, clean, size);
  else
    name_store(span, NAME_UNNAMED, sizeof NAME_UNNAMED - 1);
}

/* Clean and store a name. The caller holds the span's name lock, or the span is
 * not visible yet. */
static void name_keep(sp_span *span, const char *name, size_t bytes) {
  bool cleaned = bytes == 0 || !sp_clean_text_is(name, bytes);

  if (cleaned)
    name_store_cleaned(span, name, bytes);
  else
    cleaned = name_store(span, name, bytes);
  if (cleaned)
    sp_count(&sp_counts.span_names_cleaned, 1);
}

/* May a sample use the name? The caller holds `names_used.lock`. */
static bool names_admit(const char *text, size_t bytes) {
  const uint64_t hash = sp_hash_bytes(text, bytes);
  name_used *name;
  uint32_t at, number;

  for (number = sp_index_first(&names_used.index, hash, &at);
       number != SP_INDEX_NONE;
       number = sp_index_next(&names_used.index, hash, &at))
    if (names_used.names[number].bytes == bytes &&
        memcmp(names_used.names[number].text, text, bytes) == 0)
      return true;
  if (names_used.count >= names_used.max ||
      sp_index_reserve(&names_used.index, name_mem) ||
      sp_mem_reserve(name_mem, (void **)&names_used.names, &names_used.capacity,
                     names_used.count + 1, sizeof *names_used.names))
    return false;
  name = &names_used.names[names_used.count];
  name->bytes = (uint32_t)bytes;
  name->text = sp_mem_text(name_mem, text, bytes);
  if (!name->text)
    return false;
  sp_index_add(&names_used.index, hash, (uint32_t)names_used.count++);
  return true;
}

/* Copy the span's name. The caller holds the span's name lock. */
static void name_write(const sp_span *span, char *buffer, size_t size,
                       size_t *bytes) {
  bool cut;

  *bytes = sp_utf8_clean(name_text(span), span->name_bytes, buffer, size, &cut);
}

void sp_span_name_init(sp_span *span, const char *name, size_t bytes) {
  span->name_bytes = 0;
  span->name_capped = 0;
  name_keep(span, name, bytes);
}

void sp_span_name_set(spanprof_span number, const char *name, size_t bytes) {
  pthread_mutex_t *lock = name_lock_of(number);
  sp_span *span;

  pthread_mutex_lock(lock);
  span = sp_span_get(number);
  if (span && !(atomic_load_explicit(&span->state, memory_order_relaxed) &
                SP_SPAN_ENDED))
    name_keep(span, name, bytes);
  pthread_mutex_unlock(lock);
}

bool sp_span_name_copy(spanprof_span number, char *buffer, size_t size,
                       size_t *bytes) {
  pthread_mutex_t *lock = name_lock_of(number);
  const sp_span *span;

  *bytes = 0;
  pthread_mutex_lock(lock);
  span = sp_span_get(number);
  if (span)
    name_write(span, buffer, size, bytes);
  pthread_mutex_unlock(lock);
  return span != NULL;
}

bool sp_span_name_use(spanprof_span number, char *buffer, size_t size,
                      size_t *bytes) {
  pthread_mutex_t *lock = name_lock_of(number);
  sp_span *span;

  *bytes = 0;
  pthread_mutex_lock(lock);
  span = sp_span_get(number);
  if (span) {
    bool admitted;

    pthread_mutex_lock(&names_used.lock);
    admitted = names_admit(name_text(span), span->name_bytes);
    pthread_mutex_unlock(&names_used.lock);
    if (admitted) {
      name_write(span, buffer, size, bytes);
    } else {
      *bytes = sp_min_u64(sizeof NAME_OTHER - 1, size);
      memcpy(buffer, NAME_OTHER, *bytes);
      if (!span->name_capped)
        sp_count(&sp_counts.span_names_capped, 1);
      span->name_capped = 1;
    }
  }
  pthread_mutex_unlock(lock);
  return span != NULL;
}

void sp_span_name_free(sp_span *span, spanprof_span number) {
  pthread_mutex_t *lock = name_lock_of(number);

  pthread_mutex_lock(lock);
  sp_span_pool_retire(span);
  name_drop(span);
  pthread_mutex_unlock(lock);
}

void sp_span_names_max_set(uint32_t max) {
  pthread_mutex_lock(&names_used.lock);
  names_used.max = max;
  pthread_mutex_unlock(&names_used.lock);
}

void sp_span_name_lock(void) {
  size_t i;

  for (i = 0; i < NAME_LOCKS; i++)
    pthread_mutex_lock(&name_locks[i]);
  pthread_mutex_lock(&names_used.lock);
}

void sp_span_name_unlock(void) {
  size_t i;

  pthread_mutex_unlock(&names_used.lock);
  for (i = 0; i < NAME_LOCKS; i++)
    pthread_mutex_unlock(&name_locks[i]);
}

void sp_span_name_reset(const sp_mem *mem) {
  size_t i;

  for (i = 0; i < names_used.count; i++)
    sp_mem_free(name_mem, names_used.names[i].text);
  sp_mem_free(name_mem, names_used.names);
  sp_index_dispose(&names_used.index, name_mem);
  names_used.names = NULL;
  names_used.capacity = 0;
  names_used.count = 0;
  names_used.max = NAME_USED_MAX;
  name_mem = mem ? mem : &sp_mem_default;
}
