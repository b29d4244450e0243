/* A small valid profile, as the encoder writes it. */
#ifndef SAMPLE_PPROF_H
#define SAMPLE_PPROF_H

#include <profile.pb-c.h>
#include <zlib.h>

#include "check.h"
#include "profile/profile.h"

/* Create a profile with `cpu_ns` in one stack, and a comment of `filler` bytes
 * that cannot be compressed. */
static inline sp_encoded sample_pprof(const sp_mem *mem, uint64_t time_ns,
                                      uint64_t samples, uint64_t cpu_ns,
                                      size_t filler) {
  Perftools__Profiles__Profile profile = PERFTOOLS__PROFILES__PROFILE__INIT;
  Perftools__Profiles__ValueType cpu = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
  Perftools__Profiles__Sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT;
  Perftools__Profiles__Location location = PERFTOOLS__PROFILES__LOCATION__INIT;
  Perftools__Profiles__Line line = PERFTOOLS__PROFILES__LINE__INIT;
  Perftools__Profiles__Function function = PERFTOOLS__PROFILES__FUNCTION__INIT;
  Perftools__Profiles__ValueType *types[] = {&cpu};
  Perftools__Profiles__Sample *all_samples[] = {&sample};
  Perftools__Profiles__Location *locations[] = {&location};
  Perftools__Profiles__Function *functions[] = {&function};
  Perftools__Profiles__Line *lines[] = {&line};
  uint64_t id = 1;
  int64_t value = (int64_t)cpu_ns, comment = 4;
  char *fill = malloc(filler + 1);
  char *strings[] = {(char *)"", (char *)"cpu", (char *)"nanoseconds",
                     (char *)"work", fill};
  sp_encoded part = {.mem = mem,
                     .time_ns = time_ns,
                     .duration_ns = 10 * SP_NS_PER_S,
                     .samples = samples,
                     .ticks = samples + 1,
                     .cpu_ns = cpu_ns,
                     .text_count = filler ? 5 : 4};
  z_stream stream = {0};
  uint64_t random = time_ns | 1;
  size_t i, size;
  uint8_t *plain;

  for (i = 0; i < filler; i++) {
    random = random * UINT64_C(6364136223846793005) + 1;
    fill[i] = (char)(' ' + (random >> 57) % 95);
  }
  fill[filler] = '\0';
  cpu.type = 1;
  cpu.unit = 2;
  location.id = id;
  location.line = lines;
  location.n_line = 1;
  line.function_id = id;
  function.id = id;
  function.name = 3;
  sample.location_id = &id;
  sample.n_location_id = 1;
  sample.value = &value;
  sample.n_value = 1;
  profile.sample_type = types;
  profile.n_sample_type = 1;
  profile.sample = all_samples;
  profile.n_sample = 1;
  profile.location = locations;
  profile.n_location = 1;
  profile.function = functions;
  profile.n_function = 1;
  profile.string_table = strings;
  profile.n_string_table = filler ? 5 : 4;
  profile.comment = &comment;
  profile.n_comment = filler ? 1 : 0;
  profile.time_nanos = (int64_t)time_ns;
  profile.duration_nanos = (int64_t)part.duration_ns;
  profile.period_type = &cpu;
  profile.period = 10000000;

  size = perftools__profiles__profile__get_packed_size(&profile);
  plain = malloc(size);
  perftools__profiles__profile__pack(&profile, plain);
  CHECK(deflateInit2(&stream, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) ==
        Z_OK);
  part.size = deflateBound(&stream, size);
  part.bytes = sp_mem_new(mem, part.size);
  if (part.bytes) {
    stream.next_in = plain;
    stream.avail_in = (uInt)size;
    stream.next_out = part.bytes;
    stream.avail_out = (uInt)part.size;
    CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    part.size -= stream.avail_out;
  }
  deflateEnd(&stream);
  free(plain);
  free(fill);
  return part;
}

#endif
