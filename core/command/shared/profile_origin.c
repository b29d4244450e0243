#include "profile_origin.h"

#include <string.h>

#include "util/text/number.h"

static const char origin_label[] = "label ";
static const char origin_ending[] = ".pb.gz";

const char *sp_profile_label_at(const sp_pprof *profile, size_t comment,
                                const char **key, size_t *key_bytes) {
  const char *text = profile->comments[comment], *equals;

  if (strncmp(text, origin_label, sizeof origin_label - 1) != 0)
    return NULL;
  *key = text + sizeof origin_label - 1;
  equals = strchr(*key, '=');
  if (!equals || equals == *key)
    return NULL;
  *key_bytes = (size_t)(equals - *key);
  return equals + 1;
}

const char *sp_profile_label(const sp_pprof *profile, const char *key,
                             size_t key_bytes) {
  const char *have, *value;
  size_t i, have_bytes;

  for (i = 0; i < profile->comment_count; i++) {
    value = sp_profile_label_at(profile, i, &have, &have_bytes);
    if (value && have_bytes == key_bytes && memcmp(have, key, key_bytes) == 0)
      return value;
  }
  return NULL;
}

/* Read the number that ends at *end, after a hyphen, and set *end to the
 * hyphen. Returns 0 if there is no number. */
static uint64_t origin_number(const char *begin, const char **end) {
  const char *hyphen = memrchr(begin, '-', (size_t)(*end - begin));
  const char *digits = hyphen ? hyphen + 1 : *end;
  uint64_t number;

  if (sp_number_read(&digits, *end, &number) || digits != *end)
    return 0;
  *end = hyphen;
  return number;
}

static uint64_t origin_process(const char *path) {
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  const size_t bytes = strlen(name);
  const char *end = name + bytes - (sizeof origin_ending - 1);

  if (bytes < sizeof origin_ending || strcmp(end, origin_ending) != 0 ||
      !origin_number(name, &end))
    return 0;
  return origin_number(name, &end);
}

void sp_profile_origin_read(sp_profile_origin *out, const sp_pprof *profile,
                            const char *path) {
  memset(out, 0, sizeof *out);
  out->application =
      sp_profile_label(profile, "service_name", strlen("service_name"));
  out->process = path ? origin_process(path) : 0;
  if (profile->time_ns <= 0)
    return;
  out->start_ns = out->end_ns = (uint64_t)profile->time_ns;
  if (profile->duration_ns > 0)
    out->end_ns += (uint64_t)profile->duration_ns;
}

bool sp_profile_filter_matches(const sp_profile_filter *filter,
                               const sp_profile_origin *origin) {
  const uint64_t last_ns =
      origin->end_ns > origin->start_ns ? origin->end_ns - 1 : origin->end_ns;

  if ((filter->from_ns || filter->until_ns) && !origin->start_ns)
    return false;
  if (filter->from_ns && last_ns < filter->from_ns)
    return false;
  if (filter->until_ns && origin->start_ns >= filter->until_ns)
    return false;
  if (filter->application &&
      (!origin->application ||
       strcmp(filter->application, origin->application) != 0))
    return false;
  return !filter->process || filter->process == origin->process;
}
