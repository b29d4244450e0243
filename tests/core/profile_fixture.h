/* A profile for tests with its own namer. The function that receives the
 * encoded parts checks each of them. */
#ifndef PROFILE_FIXTURE_H
#define PROFILE_FIXTURE_H

#include <inttypes.h>
#include <unistd.h>

#include "check.h"
#include "failing_mem.h"
#include "pprof_rules.h"
#include "profile/pprof/pprof_reader.h"
#include "profile/profile.h"

#define FIXTURE_PARTS_MAX 64
#define FIXTURE_TIME_NS   UINT64_C(1790000000123456789)

/* Modules of the fixture's native frames. */
enum { FIXTURE_NO_MODULE, FIXTURE_LIBRARY, FIXTURE_MAIN, FIXTURE_STRIPPED };

typedef struct profile_fixture {
  sp_settings settings;
  sp_namer namer;
  sp_profile *profile;
  size_t names_requested;
  /* Start of the functions in FIXTURE_STRIPPED; 0: unknown. */
  uint64_t code_start;
  bool names_wait; /* the namer does not know runtime frames yet */
  char main_path[4096];
  char text[4096]; /* text of the last name that fixture_name() returned */
  /* The parts that were received. */
  size_t part_count;
  sp_pprof *parts[FIXTURE_PARTS_MAX];
  sp_encoded sums[FIXTURE_PARTS_MAX]; /* sums of each part; `bytes` is NULL */
  size_t raw_bytes[FIXTURE_PARTS_MAX];
  uint64_t samples;
  uint64_t ticks;
  uint64_t cpu_ns;
  uint64_t checksum; /* checksum of all bytes, in order */
} profile_fixture;

/* Names a runtime frame "method_<code>" in app.rb, with its position as line.
 * Names a native frame "function_<code>", with a symbol except in
 * FIXTURE_STRIPPED. */
static inline spanprof_status fixture_name(void *data, const sp_frame *frame,
                                           sp_frame_name *out) {
  static const char *const paths[] = {NULL, "/usr/lib/libfixture.so.1", NULL,
                                      "/opt/stripped.so"};
  profile_fixture *fixture = data;

  fixture->names_requested++;
  memset(out, 0, sizeof *out);
  if (frame->kind == SP_FRAME_RUNTIME) {
    if (fixture->names_wait)
      return SPANPROF_ERR_STATE;
    snprintf(fixture->text, sizeof fixture->text, "method_%" PRIu64,
             frame->code);
    out->file = "/srv/app/app.rb";
    out->file_bytes = strlen(out->file);
    out->line = (int64_t)frame->position;
    out->start_line = 1;
  } else if (frame->module != FIXTURE_NO_MODULE) {
    out->mapped = true;
    out->mapping.path = frame->module == FIXTURE_MAIN ? fixture->main_path
                                                      : paths[frame->module];
    out->mapping.build_id = "0123456789abcdef";
    out->mapping.start = 0x1000;
    out->mapping.limit = 0x100000;
    if (frame->module == FIXTURE_STRIPPED) {
      out->code_start = fixture->code_start;
      return SPANPROF_OK;
    }
    snprintf(fixture->text, sizeof fixture->text, "function_%" PRIu64,
             frame->code);
  } else {
    return SPANPROF_OK;
  }
  out->function = fixture->text;
  out->function_bytes = strlen(fixture->text);
  return SPANPROF_OK;
}

static inline void fixture_open(profile_fixture *fixture) {
  ssize_t bytes;

  memset(fixture, 0, sizeof *fixture);
  bytes = readlink("/proc/self/exe", fixture->main_path,
                   sizeof fixture->main_path - 1);
  CHECK(bytes > 0);
  fixture->settings.application_name = (char *)"fixture";
  fixture->settings.stack_depth_max = SP_OPTION_DEPTH_MAX;
  fixture->settings.window_max_bytes = 64 << 20;
  fixture->namer = (sp_namer){fixture_name, fixture};
}

static inline spanprof_status fixture_start(profile_fixture *fixture,
                                            const sp_mem *mem) {
  return sp_profile_new(&fixture->profile, mem, &fixture->namer,
                        &fixture->settings);
}

static inline void fixture_drop_parts(profile_fixture *fixture) {
  while (fixture->part_count)
    sp_pprof_free(fixture->parts[--fixture->part_count]);
  fixture->samples = fixture->ticks = fixture->cpu_ns = 0;
  fixture->checksum = 0;
}

static inline void fixture_close(profile_fixture *fixture) {
  fixture_drop_parts(fixture);
  sp_profile_free(fixture->profile);
  fixture->profile = NULL;
}

/* Receives a part, which must follow the rules and match its sums. */
static inline void fixture_receive(void *data, sp_encoded *part) {
  profile_fixture *fixture = data;
  pprof_rules_sums sums;
  const char *broken = pprof_rules_broken(part->bytes, part->size, &sums);
  size_t i;

  if (broken)
    fprintf(stderr, "part %zu: %s\n", fixture->part_count, broken);
  CHECK(!broken);
  CHECK(fixture->part_count < FIXTURE_PARTS_MAX);
  CHECK_EQUAL(sums.cpu_ns, part->cpu_ns);
  CHECK_EQUAL(sums.time_ns, part->time_ns);
  CHECK_EQUAL(part->time_ns,
              FIXTURE_TIME_NS + fixture->part_count * SP_PROFILE_TIME_STEP_NS);
  for (i = 0; i < part->size; i++)
    fixture->checksum = fixture->checksum * 31 + ((uint8_t *)part->bytes)[i];
  CHECK_EQUAL(sp_pprof_read(&fixture->parts[fixture->part_count],
                            &sp_mem_default, part->bytes, part->size),
              SPANPROF_OK);
  fixture->samples += part->samples;
  fixture->ticks += part->ticks;
  fixture->cpu_ns += part->cpu_ns;
  fixture->raw_bytes[fixture->part_count] = sums.raw_bytes;
  fixture->sums[fixture->part_count] = *part;
  fixture->sums[fixture->part_count++].bytes = NULL;
  sp_encoded_dispose(part);
}

/* Encode the profile. Samples that are lost are added to the sums of those in
 * parts. */
static inline spanprof_status fixture_encode(profile_fixture *fixture) {
  static const char *const comments[] = {"spanprof", "samples_taken=1"};
  const sp_window window = {.time_ns = FIXTURE_TIME_NS,
                            .duration_ns = UINT64_C(10000000000),
                            .period_ns = 10000000,
                            .comments = comments,
                            .comment_count = SP_COUNT_OF(comments)};
  uint64_t lost_samples, lost_ticks;
  spanprof_status st =
      sp_profile_encode(fixture->profile, &window, fixture_receive, fixture,
                        &lost_samples, &lost_ticks);

  CHECK(st || (lost_samples == 0 && lost_ticks == 0));
  fixture->samples += lost_samples;
  fixture->ticks += lost_ticks;
  return st;
}

static inline sp_frame fixture_method(uint64_t code, uint64_t line) {
  return (sp_frame){SP_FRAME_RUNTIME, 0, code, line};
}

static inline sp_frame fixture_native(uint32_t module, uint64_t address) {
  return (sp_frame){SP_FRAME_NATIVE, module, address, 0};
}

/* Add one sample with one tick of 10 ms. */
static inline spanprof_status fixture_add(profile_fixture *fixture,
                                          const sp_frame *frames, size_t count,
                                          spanprof_labels labels,
                                          spanprof_span span) {
  return sp_profile_add(fixture->profile, frames, count, labels, span, 1, 1,
                        10000000);
}

/* The name of the innermost function of a location. */
static inline const char *fixture_function(const sp_pprof *profile,
                                           const sp_pprof_sample *sample,
                                           size_t frame) {
  const sp_pprof_location *location =
      &profile->locations[sample->locations[frame]];

  return profile->functions[location->lines[0].function].name;
}

#endif
