#include "sample_sums.h"

#include <string.h>

#include "server/model/sum.h"
#include "util/system/status.h"

/* Largest number of sums, which limits their memory. */
#define SUMS_SAMPLES_MAX ((size_t)1 << 20)

void sp_sample_sums_clear(sp_sample_sums *sums) {
  sp_index_clear(&sums->index);
  sums->count = 0;
  sums->begin_ns = sums->end_ns = 0;
}

void sp_sample_sums_dispose(sp_sample_sums *sums) {
  sp_mem_free(sums->mem, sums->samples);
  sp_index_dispose(&sums->index, sums->mem);
}

static bool sums_same(const sp_tree_sample *a, const sp_tree_sample *b) {
  return a->node == b->node && a->label_set == b->label_set &&
         a->span_id == b->span_id && a->trace_hi == b->trace_hi &&
         a->trace_lo == b->trace_lo;
}

static spanprof_status sums_find(sp_sample_sums *sums,
                                 const sp_tree_sample *wanted,
                                 sp_tree_sample **out) {
  const uint64_t hash = sp_hash_mix(
      sp_hash_mix(sp_hash_mix(sp_hash_mix(SP_HASH_SEED, wanted->span_id),
                              wanted->trace_lo),
                  wanted->node),
      wanted->label_set);
  void *array = sums->samples;
  uint32_t at, i;
  spanprof_status st;

  *out = NULL;
  for (i = sp_index_first(&sums->index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&sums->index, hash, &at)) {
    if (sums_same(&sums->samples[i], wanted)) {
      *out = &sums->samples[i];
      return SPANPROF_OK;
    }
  }
  if (sums->count == SUMS_SAMPLES_MAX)
    return sp_fail(SPANPROF_ERR_LIMIT,
                   "the query has too many samples: narrow it down");
  st = sp_mem_reserve(sums->mem, &array, &sums->capacity, sums->count + 1,
                      sizeof *sums->samples);
  sums->samples = array;
  if (!st)
    st = sp_index_reserve(&sums->index, sums->mem);
  if (st)
    return st;
  sp_index_add(&sums->index, hash, (uint32_t)sums->count);
  *out = &sums->samples[sums->count++];
  **out = *wanted;
  return SPANPROF_OK;
}

int64_t sp_sample_part(const sp_select_entry *entry, const int64_t *values) {
  if (entry->counts != SP_SELECT_NO_COUNTS)
    return values[entry->counts];
  return entry->period > 0 ? values[entry->type] : 1;
}

int64_t sp_sample_count(const sp_select_entry *entry, int64_t parts) {
  int64_t count = parts;

  if (entry->counts == SP_SELECT_NO_COUNTS && entry->period > 0)
    count = parts / entry->period +
            (parts % entry->period > (entry->period - 1) / 2);
  return count > 0 ? count : 1;
}

spanprof_status sp_sample_sums_add(sp_sample_sums *sums,
                                   const sp_select_entry *entry, uint32_t stack,
                                   const sp_block *block,
                                   const sp_block_sample *sample) {
  const sp_block_span *span =
      sample->span ? &block->spans[sample->span - 1] : NULL;
  const int64_t *values = &block->values[sample->values];
  sp_tree_sample wanted = {
      .node = stack, .label_set = (uint32_t)(entry - sums->select->entries)};
  sp_tree_sample *sum;
  spanprof_status st;

  if (span) {
    wanted.span_id = span->span_id;
    wanted.trace_hi = span->trace_hi;
    wanted.trace_lo = span->trace_lo;
  }
  st = sums_find(sums, &wanted, &sum);
  if (st)
    return st;
  sp_increase(&sum->value, values[entry->type]);
  sp_increase(&sum->count, sp_sample_part(entry, values));
  return SPANPROF_OK;
}

void sp_sample_sums_time(sp_sample_sums *sums,
                         const sp_block_profile *profile) {
  int64_t end_ns;

  if (__builtin_add_overflow(profile->time_ns, profile->duration_ns, &end_ns) ||
      end_ns < profile->time_ns)
    end_ns = profile->time_ns;
  if (sums->begin_ns == 0 || profile->time_ns < sums->begin_ns)
    sums->begin_ns = profile->time_ns;
  if (end_ns > sums->end_ns)
    sums->end_ns = end_ns;
}

static const char *sums_text(sp_arena *arena, const char *text) {
  const size_t size = strlen(text) + 1;
  char *copy = sp_arena_new(arena, size, 1);

  if (copy)
    memcpy(copy, text, size);
  return copy;
}

static spanprof_status sums_copy(sp_arena *arena, const sp_text_pairs *from,
                                 sp_text_pairs *out) {
  sp_text_pair *pairs = sp_arena_new(arena, from->count + 1, sizeof *pairs);
  size_t i, count = 0;

  for (i = 0; pairs && i < from->count; i++) {
    const sp_text_pair *pair = &from->pairs[i];

    if (strncmp(pair->name, "__", 2) == 0)
      continue;
    pairs[count].name = sums_text(arena, pair->name);
    pairs[count].value = sums_text(arena, pair->value);
    if (!pairs[count].name || !pairs[count].value)
      return arena->st;
    count++;
  }
  *out = (sp_text_pairs){.pairs = pairs, .count = count};
  return pairs ? SPANPROF_OK : arena->st;
}

spanprof_status sp_sample_sums_label(const sp_sample_sums *sums,
                                     sp_stack_tree *tree) {
  const sp_select *select = sums->select;
  spanprof_status st = SPANPROF_OK;
  size_t i;

  tree->label_sets = sp_arena_new(&tree->arena, select->entry_count + 1,
                                  sizeof *tree->label_sets);
  if (!tree->label_sets)
    return tree->arena.st;
  memset(tree->label_sets, 0,
         (select->entry_count + 1) * sizeof *tree->label_sets);
  for (i = 0; !st && i < sums->count; i++) {
    const uint32_t set = sums->samples[i].label_set;

    sums->samples[i].count =
        sp_sample_count(&select->entries[set], sums->samples[i].count);
    if (!tree->label_sets[set].pairs)
      st = sums_copy(&tree->arena, &select->entries[set].labels,
                     &tree->label_sets[set]);
  }
  tree->begin_ns = sums->begin_ns;
  tree->end_ns = sums->end_ns;
  return st;
}

spanprof_status sp_sample_sums_place(const sp_sample_sums *sums,
                                     const uint32_t *nodes,
                                     sp_stack_tree *tree) {
  size_t i;

  tree->samples =
      sp_arena_new(&tree->arena, sums->count + 1, sizeof *tree->samples);
  if (!tree->samples)
    return tree->arena.st == SPANPROF_ERR_LIMIT
               ? sp_fail(SPANPROF_ERR_LIMIT,
                         "the query has too many samples: narrow it down")
               : tree->arena.st;
  for (i = 0; i < sums->count; i++) {
    tree->samples[i] = sums->samples[i];
    tree->samples[i].node = nodes[sums->samples[i].node];
  }
  tree->sample_count = sums->count;
  return SPANPROF_OK;
}
