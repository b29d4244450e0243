#include "collect/collector.h"

#include <zlib.h>

#include "check.h"
#include "collector_settings.h"
#include "profile/pprof/pprof_reader.h"
#include "util/system/counters.h"

/* A stripped library: Debian's libz.so.1 has no names of its internal
 * functions. */
#define LIBRARY "libz.so.1"

/* Volatile, because otherwise the compiler may create a renamed clone of the
 * function. */
static volatile uint64_t work_ns = 300 * SP_NS_PER_MS;

static sp_pprof *emitted;
static uint64_t emitted_cpu_ns;

static void part_receive(void *data, sp_encoded *part) {
  (void)data;
  CHECK(!emitted);
  emitted_cpu_ns = part->cpu_ns;
  CHECK_EQUAL(sp_pprof_read(&emitted, &sp_mem_default, part->bytes, part->size),
              SPANPROF_OK);
  sp_encoded_dispose(part);
}

static void log_nothing(void *data, spanprof_log_level level,
                        const char *message) {
  (void)data, (void)level, (void)message;
}

__attribute__((noinline)) static void compress_for_ns(uint64_t ns) {
  static unsigned char text[200000], packed[210000];
  const uint64_t until = sp_thread_cpu_ns() + ns;
  size_t i;

  for (i = 0; i < sizeof text; i++)
    text[i] = (unsigned char)(i * i >> 7);
  while (sp_thread_cpu_ns() < until) {
    uLongf size = sizeof packed;

    CHECK_EQUAL(compress2(packed, &size, text, sizeof text, 9), Z_OK);
  }
}

static void record_compressing(spanprof_native_frames native_frames) {
  sp_settings own = collector_settings;
  sp_collector_config config = {
      .settings = &own, .clock = sp_clock_system(), .emit = part_receive};
  sp_collector *collector;
  sp_log log;

  own.native_frames = native_frames;
  sp_log_init(&log, log_nothing, NULL, SPANPROF_LOG_DEBUG, config.clock);
  config.log = &log;
  emitted = NULL;
  sp_counters_reset();
  CHECK_EQUAL(sp_collector_start(&collector, &sp_mem_default, &config),
              SPANPROF_OK);
  compress_for_ns(work_ns);
  sp_collector_halt(collector);
  CHECK_EQUAL(sp_collector_stop(collector, UINT64_MAX), SPANPROF_OK);
  CHECK(emitted);
}

static const char *name_of(uint32_t location) {
  const sp_pprof_location *at = &emitted->locations[location];

  return emitted->functions[at->lines[0].function].name;
}

/* Count the frames that show LIBRARY as a whole (*exact), those of them that
 * follow another such frame (*twice), and the frames that show an address in
 * LIBRARY (*longer). */
static void count_names(size_t *exact, size_t *longer, size_t *twice) {
  const size_t bytes = strlen(LIBRARY);
  size_t i, f;

  *exact = *longer = *twice = 0;
  for (i = 0; i < emitted->sample_count; i++) {
    const sp_pprof_sample *sample = &emitted->samples[i];
    const char *before = "";

    for (f = 0; f < sample->location_count; f++) {
      const char *name = name_of(sample->locations[f]);

      if (strcmp(name, LIBRARY) == 0) {
        (*exact)++;
        *twice += strcmp(before, LIBRARY) == 0;
      } else if (strncmp(name, LIBRARY "+0x", bytes + 3) == 0) {
        (*longer)++;
      }
      before = name;
    }
  }
}

/* Return the CPU time of the samples whose stack contains this function. */
static uint64_t cpu_below_ns(const char *function) {
  uint64_t sum = 0;
  size_t i, f;

  for (i = 0; i < emitted->sample_count; i++) {
    const sp_pprof_sample *sample = &emitted->samples[i];

    for (f = 0; f < sample->location_count; f++) {
      if (strcmp(name_of(sample->locations[f]), function) == 0) {
        sum += (uint64_t)sample->values[0];
        break;
      }
    }
  }
  return sum;
}

static void a_stripped_library_becomes_one_frame(void) {
  size_t exact, longer, twice;
  uint64_t below;

  record_compressing(SPANPROF_NATIVE_FRAMES_LIBRARIES);
  count_names(&exact, &longer, &twice);
  CHECK(exact > 0);
  CHECK_EQUAL(longer, 0);
  CHECK_EQUAL(twice, 0);
  /* Frames with a name, and the frames that start a C program, are kept. */
  below = cpu_below_ns("compress_for_ns");
  CHECK(below > 0);
  CHECK(cpu_below_ns("_start") >= below);
  CHECK(cpu_below_ns("deflate") > 0);
  CHECK(cpu_below_ns("deflate") <= below);
  CHECK(below <= emitted_cpu_ns);
  sp_pprof_free(emitted);
}

static void all_native_frames_are_kept_on_request(void) {
  size_t exact, longer, twice;

  record_compressing(SPANPROF_NATIVE_FRAMES_ALL);
  count_names(&exact, &longer, &twice);
  CHECK_EQUAL(exact, 0);
  CHECK(longer > 0);
  CHECK(cpu_below_ns("_start") >= cpu_below_ns("compress_for_ns"));
  sp_pprof_free(emitted);
}

static const check_test tests[] = {
    {"a_stripped_library_becomes_one_frame",
     a_stripped_library_becomes_one_frame},
    {"all_native_frames_are_kept_on_request",
     all_native_frames_are_kept_on_request},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
