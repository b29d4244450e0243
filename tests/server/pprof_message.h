/* Writes valid and invalid pprof messages, which have one sample type. */
#ifndef PPROF_MESSAGE_H
#define PPROF_MESSAGE_H

#include "message.h"
#include "server/receive/profile/raw_profile.h"

#define PPROF_MEMORY_MAX ((size_t)64 << 20)

/* Indices of texts in the string table of these profiles. */
enum {
  PPROF_EMPTY,
  PPROF_CPU,
  PPROF_NANOSECONDS,
  PPROF_MAIN,
  PPROF_LEAF,
  PPROF_KEY,
  PPROF_TEXT,
  PPROF_TEXT_COUNT
};

static inline message pprof_value_type(uint64_t type, uint64_t unit) {
  message m = message_new();

  message_number(&m, 1, type);
  message_number(&m, 2, unit);
  return m;
}

static inline message pprof_location(uint64_t id, uint64_t function) {
  message m = message_new(), line = message_new();

  message_number(&line, 1, function);
  message_number(&line, 2, 7);
  message_number(&m, 1, id);
  message_inner(&m, 4, line);
  return m;
}

static inline message pprof_function(uint64_t id, uint64_t name) {
  message m = message_new();

  message_number(&m, 1, id);
  message_number(&m, 2, name);
  return m;
}

/* Return a sample with the stack main;leaf, and with one label if `key` is not
 * 0. `key` and `text` are indices of texts. */
static inline message pprof_sample(int64_t value, uint64_t key, uint64_t text) {
  message m = message_new(), label = message_new();

  message_number(&m, 1, 2);
  message_number(&m, 1, 1);
  message_number(&m, 2, (uint64_t)value);
  if (key) {
    message_number(&label, 1, key);
    message_number(&label, 2, text);
    message_inner(&m, 3, label);
  } else {
    message_free(&label);
  }
  return m;
}

/* Return a profile without samples. Location 1 and function 1 are `main`,
 * location 2 and function 2 are `leaf`. */
static inline message pprof_head(const char *key, const char *text) {
  static const char *const texts[] = {"", "cpu", "nanoseconds", "main", "leaf"};
  message m = message_new();
  size_t i;

  message_inner(&m, 1, pprof_value_type(PPROF_CPU, PPROF_NANOSECONDS));
  message_inner(&m, 4, pprof_location(1, 1));
  message_inner(&m, 4, pprof_location(2, 2));
  message_inner(&m, 5, pprof_function(1, PPROF_MAIN));
  message_inner(&m, 5, pprof_function(2, PPROF_LEAF));
  for (i = 0; i < SP_COUNT_OF(texts); i++)
    message_text(&m, 6, texts[i]);
  message_text(&m, 6, key);
  message_text(&m, 6, text);
  message_inner(&m, 11, pprof_value_type(PPROF_CPU, PPROF_NANOSECONDS));
  message_number(&m, 12, 10000000);
  return m;
}

/* A profile that a test reads, with its memory and the reason if it is
 * refused. */
typedef struct pprof_case {
  sp_arena arena;
  sp_refusal refusal;
  sp_raw_profile raw;
} pprof_case;

static inline void pprof_case_init(pprof_case *c, const sp_mem *mem) {
  memset(c, 0, sizeof *c);
  sp_arena_init(&c->arena, mem, PPROF_MEMORY_MAX);
  sp_refusal_init(&c->refusal, mem);
}

static inline void pprof_case_dispose(pprof_case *c) {
  sp_refusal_dispose(&c->refusal);
  sp_arena_dispose(&c->arena);
}

#endif
