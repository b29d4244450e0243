#include "profile.h"

#include <limits.h>
#include <unistd.h>

#include "profile/pprof/pprof_writer.h"
#include "util/system/counters.h"

/* Memory that stays allocated across windows. Dropping interned data is
 * expensive: a dropped stack costs one lookup per frame when it recurs, and a
 * small service has new stacks for hours; a VM may have to resolve a dropped
 * name again. */
#define PROFILE_ENTRIES_KEPT_BYTES ((size_t)1 << 20)
#define PROFILE_STACKS_KEPT_BYTES  ((size_t)128 << 10)
#define PROFILE_NAMES_KEPT_BYTES   ((size_t)8 << 20)

_Static_assert(SP_PROFILE_DEPTH_MAX <= SP_PPROF_DEPTH_MAX,
               "a stack may be deeper than a profile allows");

struct sp_profile {
  const sp_mem *mem;
  const sp_namer *namer;
  size_t bytes_max; /* maximum memory of all tables */
  /* Maximum number of frames of a stack, including an artificial one
   * (sp_note). */
  size_t depth_max;
  bool full; /* set by sp_profile_full_set() */
  char *main_path;
  sp_name_table names;
  sp_frame_table frames;
  sp_stack_table stacks;
  sp_label_table labels;
  sp_entry *entries;
  size_t entry_count;
  size_t entry_capacity;
  sp_index entry_index;
  uint64_t samples;
  uint64_t ticks;
  uint64_t overflow_samples;
  uint64_t capped_before; /* labels.capped at the last reset */
};

static const sp_frame profile_overflow = {.kind = SP_FRAME_NOTE,
                                          .code = SP_NOTE_OVERFLOW};

/* The path of the process's binary. *out is NULL if the system does not report
 * the path. In that case, the main binary's mapping may not be the first one in
 * profiles. */
static spanprof_status profile_main_path(const sp_mem *mem, char **out) {
  char path[PATH_MAX];
  ssize_t bytes = readlink("/proc/self/exe", path, sizeof path);

  *out = NULL;
  if (bytes <= 0)
    return SPANPROF_OK;
  *out = sp_mem_text(mem, path, (size_t)bytes);
  return *out ? SPANPROF_OK : SPANPROF_ERR_NOMEM;
}

spanprof_status sp_profile_new(sp_profile **out, const sp_mem *mem,
                               const sp_namer *namer,
                               const sp_settings *settings) {
  sp_profile *profile = sp_mem_zero(mem, sizeof *profile);
  spanprof_status st;

  *out = NULL;
  if (!profile)
    return SPANPROF_ERR_NOMEM;
  profile->mem = mem;
  profile->namer = namer;
  profile->bytes_max = (size_t)settings->window_max_bytes;
  profile->depth_max = (uint32_t)settings->stack_depth_max + 1;
  st = profile_main_path(mem, &profile->main_path);
  sp_name_table_init(&profile->names, mem);
  sp_frame_table_init(&profile->frames, mem, &profile->names,
                      profile->main_path);
  sp_stack_table_init(&profile->stacks, mem, &profile->frames);
  sp_label_table_init(&profile->labels, mem, &profile->names, settings);
  if (st) {
    sp_profile_free(profile);
    return st;
  }
  *out = profile;
  return SPANPROF_OK;
}

static void profile_drop_entries(sp_profile *profile) {
  sp_mem_free(profile->mem, profile->entries);
  profile->entries = NULL;
  profile->entry_capacity = 0;
  sp_index_dispose(&profile->entry_index, profile->mem);
}

/* Drop all interned data together, because stacks refer to frames, and frames
 * and labels refer to names. */
static void profile_drop_interned(sp_profile *profile) {
  sp_label_table_dispose(&profile->labels);
  sp_stack_table_dispose(&profile->stacks);
  sp_frame_table_dispose(&profile->frames);
  sp_name_table_dispose(&profile->names);
}

void sp_profile_free(sp_profile *profile) {
  if (!profile)
    return;
  profile_drop_entries(profile);
  profile_drop_interned(profile);
  sp_mem_free(profile->mem, profile->main_path);
  sp_mem_free(profile->mem, profile);
}

static size_t profile_entry_bytes(const sp_profile *profile) {
  return profile->entry_capacity * sizeof *profile->entries +
         sp_index_bytes(&profile->entry_index);
}

static size_t profile_name_bytes(const sp_profile *profile) {
  return sp_name_table_bytes(&profile->names) +
         sp_frame_table_bytes(&profile->frames) +
         sp_label_table_bytes(&profile->labels);
}

size_t sp_profile_bytes(const sp_profile *profile) {
  return profile_entry_bytes(profile) + profile_name_bytes(profile) +
         sp_stack_table_bytes(&profile->stacks);
}

void sp_profile_full_set(sp_profile *profile, bool full) {
  profile->full = full;
}

static bool profile_is_full(const sp_profile *profile) {
  return profile->full || profile->entry_count >= SP_PROFILE_ENTRIES_MAX ||
         sp_profile_bytes(profile) > profile->bytes_max;
}

static spanprof_status profile_stack(sp_profile *profile,
                                     const sp_frame *frames, size_t count,
                                     uint32_t *out) {
  const uint64_t hash = sp_stack_table_hash(frames, count);

  *out = sp_stack_table_find(&profile->stacks, frames, count, hash);
  if (SP_LIKELY(*out != SP_INDEX_NONE))
    return SPANPROF_OK;
  if (profile_is_full(profile) && !sp_frame_equal(frames, &profile_overflow))
    return SPANPROF_ERR_LIMIT;
  return sp_stack_table_add(&profile->stacks, frames, count, hash, out);
}

static spanprof_status profile_overflow_stack(sp_profile *profile,
                                              uint32_t *out) {
  return profile_stack(profile, &profile_overflow, 1, out);
}

/* Find the entry of this key, or add it if there are fewer than `max`
 * entries. */
static spanprof_status profile_entry(sp_profile *profile, const sp_entry *key,
                                     size_t max, sp_entry **out) {
  const uint64_t hash =
      sp_hash_mix(((uint64_t)key->stack << 32) | key->labels, key->span);
  spanprof_status st;
  uint32_t i, at;

  for (i = sp_index_first(&profile->entry_index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&profile->entry_index, hash, &at)) {
    *out = &profile->entries[i];
    if ((*out)->stack == key->stack && (*out)->labels == key->labels &&
        (*out)->span == key->span)
      return SPANPROF_OK;
  }
  *out = NULL;
  if (profile->entry_count >= max)
    return SPANPROF_ERR_LIMIT;
  st = sp_index_reserve(&profile->entry_index, profile->mem);
  if (!st)
    st = sp_mem_reserve(profile->mem, (void **)&profile->entries,
                        &profile->entry_capacity, profile->entry_count + 1,
                        sizeof *profile->entries);
  if (st)
    return st;
  sp_index_add(&profile->entry_index, hash, (uint32_t)profile->entry_count);
  *out = &profile->entries[profile->entry_count++];
  **out = *key;
  return SPANPROF_OK;
}

/* Find or add the entry of a sample. If a maximum is reached, drop the stack.
 * If there are twice as many entries as the maximum, drop labels and span, too.
 * So no time is lost. */
static spanprof_status profile_place(sp_profile *profile,
                                     const sp_frame *frames, size_t count,
                                     sp_entry *key, sp_entry **out,
                                     bool *overflow) {
  spanprof_status st = profile_stack(profile, frames, count, &key->stack);

  *overflow = false;
  if (!st)
    st = profile_entry(profile, key, SP_PROFILE_ENTRIES_MAX, out);
  if (st != SPANPROF_ERR_LIMIT)
    return st;
  *overflow = true;
  st = profile_overflow_stack(profile, &key->stack);
  if (!st)
    st = profile_entry(profile, key, 2 * (size_t)SP_PROFILE_ENTRIES_MAX, out);
  if (st != SPANPROF_ERR_LIMIT)
    return st;
  key->labels = 0;
  key->span = 0;
  return profile_entry(profile, key, SIZE_MAX, out);
}

spanprof_status sp_profile_add(sp_profile *profile, const sp_frame *frames,
                               size_t frame_count, spanprof_labels labels,
                               spanprof_span span, uint64_t samples,
                               uint64_t ticks, uint64_t cpu_ns) {
  sp_frame cut[SP_PROFILE_DEPTH_MAX];
  sp_entry key = {.span = span}, *entry;
  spanprof_status st;
  bool overflow;

  if (frame_count == 0 || cpu_ns == 0)
    return SPANPROF_ERR_ARGUMENT;
  if (SP_UNLIKELY(frame_count > profile->depth_max)) {
    frame_count = profile->depth_max;
    memcpy(cut, frames, (frame_count - 1) * sizeof *cut);
    cut[frame_count - 1] =
        (sp_frame){.kind = SP_FRAME_NOTE, .code = SP_NOTE_TRUNCATED};
    frames = cut;
    sp_count(&sp_counts.stacks_truncated, samples);
  }
  st = sp_label_table_get(&profile->labels, labels, &key.labels);
  if (!st)
    st = profile_place(profile, frames, frame_count, &key, &entry, &overflow);
  if (st)
    return st;
  entry->samples += samples;
  entry->ticks += ticks;
  entry->cpu_ns += cpu_ns;
  profile->samples += samples;
  profile->ticks += ticks;
  if (overflow)
    profile->overflow_samples += samples;
  return SPANPROF_OK;
}

uint64_t sp_profile_samples(const sp_profile *profile) {
  return profile->samples;
}

sp_profile_notes sp_profile_notes_get(const sp_profile *profile) {
  return (sp_profile_notes){.overflow_samples = profile->overflow_samples,
                            .labels_capped = profile->labels.capped -
                                             profile->capped_before};
}

sp_frame_table *sp_profile_frames(sp_profile *profile) {
  return &profile->frames;
}

void sp_profile_name(sp_profile *profile) {
  sp_frame_table_name(&profile->frames, profile->namer);
}

/* Finish the part and pass it to `emit`. */
static spanprof_status profile_emit(sp_pprof_writer *writer, sp_encoded_fn emit,
                                    void *data, uint64_t *lost_samples,
                                    uint64_t *lost_ticks) {
  sp_encoded part;
  spanprof_status st = sp_pprof_writer_finish(writer, &part);

  if (st)
    return st;
  *lost_samples -= part.samples;
  *lost_ticks -= part.ticks;
  if (!writer->window->whole)
    sp_count(&sp_counts.profiles_made, 1);
  emit(data, &part);
  return SPANPROF_OK;
}

spanprof_status sp_profile_encode(sp_profile *profile, const sp_window *window,
                                  sp_encoded_fn emit, void *data,
                                  uint64_t *lost_samples,
                                  uint64_t *lost_ticks) {
  sp_pprof_writer writer;
  spanprof_status st;
  size_t i;

  *lost_samples = profile->samples;
  *lost_ticks = profile->ticks;
  if (profile->entry_count == 0 && !window->whole)
    return SPANPROF_OK;
  st = sp_frame_table_name(&profile->frames, profile->namer);
  if (st)
    return st;
  st = sp_pprof_writer_open(&writer, profile->mem, &profile->names,
                            &profile->stacks, &profile->labels, window);
  for (i = 0; !st && i < profile->entry_count; i++) {
    st = sp_pprof_writer_add(&writer, &profile->entries[i]);
    if (st == SPANPROF_ERR_LIMIT) {
      st = profile_emit(&writer, emit, data, lost_samples, lost_ticks);
      if (!st)
        st = sp_pprof_writer_next(&writer);
      if (!st)
        st = sp_pprof_writer_add(&writer, &profile->entries[i]);
    }
  }
  if (!st)
    st = profile_emit(&writer, emit, data, lost_samples, lost_ticks);
  sp_pprof_writer_dispose(&writer);
  return st;
}

void sp_profile_reset(sp_profile *profile) {
  profile->samples = profile->ticks = profile->overflow_samples = 0;
  profile->capped_before = profile->labels.capped;
  profile->entry_count = 0;
  sp_index_clear(&profile->entry_index);
  if (profile_entry_bytes(profile) > PROFILE_ENTRIES_KEPT_BYTES)
    profile_drop_entries(profile);
  if (profile_name_bytes(profile) > PROFILE_NAMES_KEPT_BYTES) {
    profile_drop_interned(profile);
    profile->capped_before = 0;
  } else if (sp_stack_table_bytes(&profile->stacks) >
             PROFILE_STACKS_KEPT_BYTES) {
    sp_stack_table_dispose(&profile->stacks);
  }
}
