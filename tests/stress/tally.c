#include "tally.h"

#include <dirent.h>
#include <zlib.h>

#include "profile.pb-c.h"
#include "stress.h"

typedef Perftools__Profiles__Profile tally_pprof;

/* The functions and locations of a profile by their ids. The library's ids are
 * small and dense, which is checked. */
typedef struct tally_ids {
  const char **functions; /* [id]: name */
  size_t function_max;
  const Perftools__Profiles__Location **locations; /* [id] */
  size_t location_max;
} tally_ids;

void tally_init(tally *sum) {
  memset(sum, 0, sizeof *sum);
  pthread_mutex_init(&sum->lock, NULL);
}

void tally_dispose(tally *sum) {
  free(sum->times);
  pthread_mutex_destroy(&sum->lock);
}

uint8_t *tally_unpack(const void *bytes, size_t size, size_t *out_size) {
  size_t capacity = 1 << 20;
  uint8_t *out = malloc(capacity);
  z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes,
                     .avail_in = (uInt)size};
  int result = inflateInit2(&stream, 16 + MAX_WBITS);

  while (result == Z_OK) {
    if (stream.total_out == capacity) {
      capacity *= 2;
      out = realloc(out, capacity);
    }
    stream.next_out = out + stream.total_out;
    stream.avail_out = (uInt)(capacity - stream.total_out);
    result = inflate(&stream, Z_NO_FLUSH);
  }
  *out_size = stream.total_out;
  inflateEnd(&stream);
  if (result == Z_STREAM_END)
    return out;
  free(out);
  return NULL;
}

static const char *profile_text(const tally_pprof *profile, int64_t index) {
  if (index < 0 || (size_t)index >= profile->n_string_table)
    return NULL;
  return profile->string_table[index];
}

static void ids_dispose(tally_ids *ids) {
  free(ids->functions);
  free(ids->locations);
}

static bool ids_read(tally_ids *ids, const tally_pprof *profile) {
  size_t i;

  memset(ids, 0, sizeof *ids);
  ids->function_max = profile->n_function + 1;
  ids->location_max = profile->n_location + 1;
  ids->functions = calloc(ids->function_max, sizeof *ids->functions);
  ids->locations = calloc(ids->location_max, sizeof *ids->locations);
  for (i = 0; i < profile->n_function; i++) {
    uint64_t id = profile->function[i]->id;

    if (id == 0 || id >= ids->function_max || ids->functions[id])
      return false;
    ids->functions[id] = profile_text(profile, profile->function[i]->name);
  }
  for (i = 0; i < profile->n_location; i++) {
    uint64_t id = profile->location[i]->id;

    if (id == 0 || id >= ids->location_max || ids->locations[id])
      return false;
    ids->locations[id] = profile->location[i];
  }
  return true;
}

/* Read the names of a sample's frames. Returns false if the sample refers to a
 * location or function that does not exist. */
static bool sample_read(tally_sample *out, const tally_pprof *profile,
                        const tally_ids *ids,
                        const Perftools__Profiles__Sample *sample) {
  const char *text;
  size_t i, k;

  out->function_count = 0;
  for (i = 0; i < sample->n_location_id; i++) {
    const Perftools__Profiles__Location *location;

    if (sample->location_id[i] >= ids->location_max ||
        !(location = ids->locations[sample->location_id[i]]))
      return false;
    for (k = 0; k < location->n_line; k++) {
      uint64_t function = location->line[k]->function_id;

      if (function >= ids->function_max || !ids->functions[function])
        return false;
      if (out->function_count < TALLY_FRAMES_MAX)
        out->functions[out->function_count++] = ids->functions[function];
    }
  }
  out->profile = profile;
  out->raw = sample;
  text = tally_sample_label(out, "profile_id");
  out->span_id = text ? text : "";
  text = tally_sample_label(out, "span_name");
  out->span_name = text ? text : "";
  return true;
}

static const char *profile_add(tally *sum, const tally_pprof *profile) {
  tally_sample *sample = malloc(sizeof *sample);
  const char *why = NULL;
  uint64_t period = (uint64_t)profile->period;
  tally_ids ids;
  size_t i;

  if (!ids_read(&ids, profile))
    why = "its ids are not dense and unique";
  else if (profile->n_sample_type != 1 || profile->period <= 0)
    why = "it does not have exactly one type of value, or has no period";
  for (i = 0; i < profile->n_sample && !why; i++) {
    const Perftools__Profiles__Sample *raw = profile->sample[i];

    if (raw->n_value != 1 || raw->value[0] <= 0 ||
        (uint64_t)raw->value[0] % period != 0)
      why = "it has a value that is not a multiple of the period";
    else if (raw->n_location_id == 0)
      why = "it has a sample without a stack";
    else if (!sample_read(sample, profile, &ids, raw))
      why = "it refers to a location or function that does not exist";
    if (why)
      break;
    sample->value_ns = (uint64_t)raw->value[0];
    sample->ticks = sample->value_ns / period;
    sum->value_ns += sample->value_ns;
    sum->ticks += sample->ticks;
    if (sum->on_sample)
      sum->on_sample(sum->on_sample_data, sample);
  }
  sum->profiles++;
  sum->period_ns = period;
  ids_dispose(&ids);
  free(sample);
  return why;
}

/* Store the time of a profile. Returns false if a profile with this time was
 * stored before. */
static bool time_add(tally *sum, uint64_t time_ns) {
  size_t i;

  for (i = sum->time_count; i-- > 0;)
    if (sum->times[i] == time_ns)
      return false;
  if (sum->time_count == sum->time_capacity) {
    sum->time_capacity = sum->time_capacity ? sum->time_capacity * 2 : 64;
    sum->times = realloc(sum->times, sum->time_capacity * sizeof *sum->times);
  }
  sum->times[sum->time_count++] = time_ns;
  return true;
}

bool tally_add(tally *sum, const void *bytes, size_t size, const char **why) {
  size_t raw_size = 0;
  uint8_t *raw = tally_unpack(bytes, size, &raw_size);
  tally_pprof *profile =
      raw ? perftools__profiles__profile__unpack(NULL, raw_size, raw) : NULL;

  *why = NULL;
  pthread_mutex_lock(&sum->lock);
  if (!profile)
    *why = raw ? "no protobuf message" : "not gzip";
  else if (time_add(sum, (uint64_t)profile->time_nanos))
    *why = profile_add(sum, profile);
  else
    sum->repeats++;
  pthread_mutex_unlock(&sum->lock);
  if (profile)
    perftools__profiles__profile__free_unpacked(profile, NULL);
  free(raw);
  return *why == NULL;
}

void tally_profile(void *sum, const spanprof_profile *profile) {
  tally *to = sum;
  uint64_t before_ns = to->value_ns;
  const char *why;

  STRESS_REQUIRE(tally_add(to, profile->bytes, profile->size_bytes, &why),
                 "a bad profile: %s", why);
  STRESS_REQUIRE(
      to->value_ns - before_ns == profile->cpu_ns,
      "the values in a profile add up to %llu ns, its field cpu_ns is %llu",
      (unsigned long long)(to->value_ns - before_ns),
      (unsigned long long)profile->cpu_ns);
  STRESS_REQUIRE(to->repeats == 0, "two profiles have the same time");
  to->samples += profile->samples;
}

static void *file_read(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  char *bytes = NULL;
  long end = 0;

  *size = 0;
  if (!file)
    return NULL;
  if (fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) > 0) {
    rewind(file);
    bytes = malloc((size_t)end);
    *size = fread(bytes, 1, (size_t)end, file);
  }
  fclose(file);
  return bytes;
}

size_t tally_directory(tally *sum, const char *directory, const char *part) {
  static const char suffix[] = ".pb.gz";
  DIR *entries = opendir(directory);
  struct dirent *entry;
  size_t count = 0;

  STRESS_REQUIRE(entries, "%s cannot be read", directory);
  while ((entry = readdir(entries))) {
    size_t length = strlen(entry->d_name), size;
    const char *why = "empty";
    char path[4096];
    void *bytes;

    if (length < sizeof suffix || !strstr(entry->d_name, part) ||
        strcmp(entry->d_name + length - (sizeof suffix - 1), suffix) != 0)
      continue;
    snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
    bytes = file_read(path, &size);
    STRESS_REQUIRE(bytes && tally_add(sum, bytes, size, &why), "%s: %s", path,
                   why);
    free(bytes);
    count++;
  }
  closedir(entries);
  return count;
}

const char *tally_sample_label(const tally_sample *sample, const char *key) {
  const Perftools__Profiles__Sample *raw = sample->raw;
  const char *text;
  size_t i;

  for (i = 0; i < raw->n_label; i++) {
    text = profile_text(sample->profile, raw->label[i]->key);
    if (text && strcmp(text, key) == 0)
      return profile_text(sample->profile, raw->label[i]->str);
  }
  return NULL;
}

bool tally_sample_has(const tally_sample *sample, const char *function) {
  size_t i;

  for (i = 0; i < sample->function_count; i++)
    if (strcmp(sample->functions[i], function) == 0)
      return true;
  return false;
}
