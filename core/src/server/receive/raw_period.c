#include "raw_period.h"

#include "raw_ids.h"

/* Marks of locations and functions. */
enum { PERIOD_KEPT = 1, PERIOD_DROPPED = 2 };

bool sp_raw_is_dropped(const sp_raw_profile *profile,
                       const sp_raw_sample *sample) {
  bool positive = false;
  size_t i;

  for (i = 0; i < profile->type_count; i++) {
    if (sample->values[i] < 0)
      return true;
    positive |= sample->values[i] > 0;
  }
  return !positive;
}

static void period_mark_locations(const sp_raw_profile *profile,
                                  const sp_raw_ids *ids, uint8_t *marks) {
  size_t i, k;

  for (i = 0; i < profile->sample_count; i++) {
    const sp_raw_sample *sample = &profile->samples[i];
    const uint8_t mark =
        sp_raw_is_dropped(profile, sample) ? PERIOD_DROPPED : PERIOD_KEPT;

    for (k = 0; k < sample->location_count; k++) {
      const uint32_t at = sp_raw_ids_find(ids, sample->locations[k]);

      if (at != SP_INDEX_NONE)
        marks[at] |= mark;
    }
  }
}

/* Whether a function is used by dropped locations alone. */
static bool period_has_lonely(const sp_raw_profile *profile,
                              const sp_raw_ids *functions,
                              const uint8_t *locations, uint8_t *marks) {
  size_t i, k;

  for (i = 0; i < profile->location_count; i++) {
    const uint8_t mark =
        locations[i] == PERIOD_DROPPED ? PERIOD_DROPPED : PERIOD_KEPT;

    for (k = 0; k < profile->locations[i].line_count; k++) {
      const uint32_t at =
          sp_raw_ids_find(functions, profile->locations[i].lines[k].function);

      if (at != SP_INDEX_NONE)
        marks[at] |= mark;
    }
  }
  for (i = 0; i < profile->function_count; i++)
    if (marks[i] == PERIOD_DROPPED)
      return true;
  return false;
}

static bool period_any_dropped(const sp_raw_profile *profile) {
  size_t i;

  for (i = 0; i < profile->sample_count; i++)
    if (sp_raw_is_dropped(profile, &profile->samples[i]))
      return true;
  return false;
}

spanprof_status sp_raw_period_check(const sp_raw_profile *profile,
                                    sp_refusal *refusal) {
  const sp_mem *mem = profile->arena->mem;
  sp_raw_ids locations = {0}, functions = {0};
  uint8_t *of_locations, *of_functions;
  spanprof_status st;

  if (profile->has_period_type || !period_any_dropped(profile))
    return SPANPROF_OK;
  st = sp_raw_new(profile->arena, profile->location_count, 1, &of_locations,
                  refusal);
  if (!st)
    st = sp_raw_new(profile->arena, profile->function_count, 1, &of_functions,
                    refusal);
  if (!st)
    st = sp_raw_ids_init(&locations, mem, profile->locations,
                         sizeof *profile->locations, profile->location_count);
  if (!st)
    st = sp_raw_ids_init(&functions, mem, profile->functions,
                         sizeof *profile->functions, profile->function_count);
  if (!st) {
    period_mark_locations(profile, &locations, of_locations);
    if (period_has_lonely(profile, &functions, of_locations, of_functions))
      st = sp_refuse(refusal, SP_REFUSAL_INVALID,
                     "the profile has no period_type and a sample without a "
                     "positive value");
  }
  sp_raw_ids_dispose(&locations);
  sp_raw_ids_dispose(&functions);
  return st;
}
