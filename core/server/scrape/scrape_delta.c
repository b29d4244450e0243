#include "scrape_delta.h"

/* The types of Go's runtime/pprof whose values count from the start of the
 * program. The values of all other types cover a period or are a state. */
static const char *const delta_types[] = {"alloc_objects", "alloc_space",
                                          "contentions", "delay"};

typedef struct delta_work {
  sp_received *profile;
  size_t columns[SP_SCRAPE_COUNTED_MAX];
  size_t column_count;
  uint64_t types;
  uint64_t *locations; /* hashes of the locations */
  uint64_t *stacks;
  uint64_t *sets;
} delta_work;

void sp_scrape_delta_init(sp_scrape_delta *delta, const sp_mem *mem) {
  *delta = (sp_scrape_delta){.mem = mem};
}

void sp_scrape_delta_dispose(sp_scrape_delta *delta) {
  sp_mem_free(delta->mem, delta->known.counts);
  sp_mem_free(delta->mem, delta->next.counts);
  sp_scrape_delta_init(delta, delta->mem);
}

static uint64_t delta_text(const sp_received *profile, uint32_t text) {
  return sp_hash_bytes(profile->texts[text].bytes, profile->texts[text].size);
}

static spanprof_status delta_columns(delta_work *work) {
  const sp_received *profile = work->profile;
  size_t i, k;

  work->types = SP_HASH_SEED;
  for (i = 0; i < profile->type_count; i++) {
    const char *name = sp_received_text_of(profile, profile->types[i].type);

    for (k = 0; k < SP_COUNT_OF(delta_types); k++)
      if (strcmp(name, delta_types[k]) == 0)
        break;
    if (k == SP_COUNT_OF(delta_types))
      continue;
    if (work->column_count == SP_SCRAPE_COUNTED_MAX)
      return SPANPROF_ERR_LIMIT;
    work->columns[work->column_count++] = i;
    work->types = sp_hash_mix(work->types + i,
                              delta_text(profile, profile->types[i].type));
    work->types =
        sp_hash_mix(work->types, delta_text(profile, profile->types[i].unit));
  }
  return SPANPROF_OK;
}

static uint64_t delta_location(const sp_received *profile, size_t number) {
  const sp_received_location *location = &profile->locations[number];
  uint64_t hash = sp_hash_mix(SP_HASH_SEED, location->address);
  uint32_t i;

  for (i = 0; i < location->line_count; i++) {
    const sp_received_line *line = &profile->lines[location->first_line + i];
    const sp_received_function *function = &profile->functions[line->function];

    hash = sp_hash_mix(hash, delta_text(profile, function->name));
    hash = sp_hash_mix(hash, delta_text(profile, function->file));
    hash = sp_hash_mix(hash, (uint64_t)function->start_line);
    hash = sp_hash_mix(hash, (uint64_t)line->line);
  }
  return hash;
}

static uint64_t delta_set(const sp_received *profile, size_t number) {
  const sp_received_labels *set = &profile->label_sets[number];
  uint64_t hash = SP_HASH_SEED;
  uint32_t i;

  for (i = 0; i < set->count; i++) {
    const sp_received_pair *pair = &profile->pairs[set->first + i];

    hash = sp_hash_mix(hash, delta_text(profile, pair->name));
    hash = sp_hash_mix(hash, delta_text(profile, pair->value));
  }
  return hash;
}

static void delta_hash_all(delta_work *work) {
  const sp_received *profile = work->profile;
  size_t i;
  uint32_t k;

  for (i = 0; i < profile->location_count; i++)
    work->locations[i] = delta_location(profile, i);
  for (i = 0; i < profile->stack_count; i++) {
    const sp_received_stack *stack = &profile->stacks[i];
    uint64_t hash = SP_HASH_SEED;

    for (k = 0; k < stack->count; k++)
      hash = sp_hash_mix(
          hash, work->locations[profile->stack_frames[stack->first + k]]);
    work->stacks[i] = hash;
  }
  for (i = 0; i < profile->label_set_count; i++)
    work->sets[i] = delta_set(profile, i);
}

static spanprof_status delta_hashes(delta_work *work) {
  sp_arena *arena = &work->profile->arena;

  work->locations = sp_arena_new(arena, work->profile->location_count + 1,
                                 sizeof *work->locations);
  work->stacks =
      sp_arena_new(arena, work->profile->stack_count + 1, sizeof *work->stacks);
  work->sets = sp_arena_new(arena, work->profile->label_set_count + 1,
                            sizeof *work->sets);
  if (!work->locations || !work->stacks || !work->sets)
    return arena->st;
  delta_hash_all(work);
  return SPANPROF_OK;
}

static void delta_key(const delta_work *work, const sp_received_sample *sample,
                      uint64_t key[2]) {
  uint64_t hash = sp_hash_mix(work->sets[sample->labels], sample->span_id);

  hash = sp_hash_mix(hash, sample->trace_hi);
  key[0] = work->stacks[sample->stack];
  key[1] = sp_hash_mix(hash, sample->trace_lo);
}

static size_t delta_find(const sp_scrape_counts *counts, const sp_index *index,
                         const uint64_t key[2]) {
  const uint64_t hash = sp_hash_mix(key[0], key[1]);
  uint32_t at, number;

  for (number = sp_index_first(index, hash, &at); number != SP_INDEX_NONE;
       number = sp_index_next(index, hash, &at))
    if (memcmp(counts->counts[number].key, key,
               sizeof counts->counts[number].key) == 0)
      return number;
  return SP_INDEX_NONE;
}

/* Set delta->next to the counts of the current profile by stack. */
static spanprof_status delta_read(sp_scrape_delta *delta,
                                  const delta_work *work) {
  sp_scrape_counts *next = &delta->next;
  const sp_received *profile = work->profile;
  spanprof_status st;
  size_t i, k;

  next->count = 0;
  next->types = work->types;
  st = sp_mem_reserve(delta->mem, (void **)&next->counts, &next->capacity,
                      profile->sample_count + 1, sizeof *next->counts);
  if (st)
    return st;
  for (i = 0; i < profile->sample_count; i++) {
    const sp_received_sample *sample = &profile->samples[i];
    sp_scrape_count *count = &next->counts[next->count++];

    *count = (sp_scrape_count){.values = {0}};
    delta_key(work, sample, count->key);
    for (k = 0; k < work->column_count; k++)
      count->values[k] = profile->values[sample->values + work->columns[k]];
  }
  return SPANPROF_OK;
}

/* Set before[i] to the index of the previous count of each stack. Returns false
 * if the program was restarted since the previous profile. */
static bool delta_is_same_run(const sp_scrape_delta *delta,
                              const sp_index *index, uint32_t *before) {
  const sp_scrape_counts *known = &delta->known, *next = &delta->next;
  size_t i, k, found = 0;

  for (i = 0; i < next->count; i++) {
    before[i] = (uint32_t)delta_find(known, index, next->counts[i].key);
    if (before[i] == SP_INDEX_NONE)
      continue;
    found++;
    for (k = 0; k < SP_SCRAPE_COUNTED_MAX; k++)
      if (next->counts[i].values[k] < known->counts[before[i]].values[k])
        return false;
  }
  return found == known->count;
}

/* Replace each cumulative value by its increase or, in the first profile, by
 * 0. */
static void delta_subtract(const sp_scrape_delta *delta, delta_work *work,
                           const uint32_t *before, bool is_first,
                           bool same_run) {
  sp_received *profile = work->profile;
  size_t i, k, count_after = 0;

  for (i = 0; i < profile->sample_count; i++) {
    const sp_received_sample sample = profile->samples[i];
    int64_t *values = &profile->values[sample.values];
    bool any = false;

    for (k = 0; k < work->column_count; k++)
      if (is_first)
        values[work->columns[k]] = 0;
      else if (same_run && before[i] != SP_INDEX_NONE)
        values[work->columns[k]] -= delta->known.counts[before[i]].values[k];
    for (k = 0; k < profile->type_count; k++)
      any |= values[k] != 0;
    if (any)
      profile->samples[count_after++] = sample;
  }
  profile->sample_count = count_after;
}

static spanprof_status delta_index(const sp_scrape_delta *delta,
                                   sp_index *index) {
  const sp_scrape_counts *known = &delta->known;
  spanprof_status st =
      sp_index_reserve_more(index, delta->mem, (uint32_t)known->count + 1);
  size_t i;

  for (i = 0; !st && i < known->count; i++)
    sp_index_add(index,
                 sp_hash_mix(known->counts[i].key[0], known->counts[i].key[1]),
                 (uint32_t)i);
  return st;
}

spanprof_status sp_scrape_delta_apply(sp_scrape_delta *delta,
                                      sp_received *profile, uint64_t now_ns) {
  delta_work work = {.profile = profile};
  sp_index index = {0};
  uint32_t *before;
  spanprof_status st = delta_columns(&work);
  bool is_first, same_run;

  delta->next.types = 0;
  if (st || !work.column_count)
    return st;
  st = delta_hashes(&work);
  before = st ? NULL
              : sp_arena_new(&profile->arena, profile->sample_count + 1,
                             sizeof *before);
  if (!st && !before)
    st = profile->arena.st;
  if (!st)
    st = delta_read(delta, &work);
  if (!st)
    st = delta_index(delta, &index);
  if (!st) {
    is_first = delta->known.types != work.types;
    same_run = !is_first && delta_is_same_run(delta, &index, before);
    delta_subtract(delta, &work, before, is_first, same_run);
    delta->next.time_ns = now_ns;
    if (!is_first)
      profile->duration_ns = (int64_t)(now_ns - delta->known.time_ns);
  }
  sp_index_dispose(&index, delta->mem);
  return st;
}

void sp_scrape_delta_commit(sp_scrape_delta *delta) {
  const sp_scrape_counts before = delta->known;

  if (!delta->next.types)
    return;
  delta->known = delta->next;
  delta->next = before;
  delta->next.types = 0;
}
