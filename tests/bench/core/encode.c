/* Measures encoding and compressing one large window, and adding its samples.
 * The window has 15,000 different samples, with stacks of 30 frames, four
 * labels, and a different span for each sample; it has 10,000 locations and
 * 4,000 functions. The program has one thread and no session. A loaded machine
 * increases wall time, so the best of several rounds counts, and the CPU time
 * of the thread is printed, too.
 *
 * Stacks are paths in a call tree, which is narrow at its outer end, as in real
 * programs. Stacks of random frames, which compress worst but which no program
 * has, are measured as well. */
#include <inttypes.h>
#include <zlib.h>

#include "bench.h"
#include "counting_mem.h"
#include "label/label_set.h"
#include "profile/pprof/gunzip.h"
#include "profile/profile.h"

#define ENCODE_SAMPLES 15000
#define ENCODE_DEPTH   30
/* Locations of the call tree: 10 outer levels with 4 locations, and 20 inner
 * levels with 498 locations, have 10,000 in total. */
#define ENCODE_OUTER      10
#define ENCODE_OUTER_WIDE 4
#define ENCODE_INNER_WIDE 498
#define ENCODE_LOCATIONS  10000
#define ENCODE_FUNCTIONS  4000
#define ENCODE_SETS       64 /* number of label sets; each has 4 labels */
#define ENCODE_SPAN_NAMES 40
#define ENCODE_ROUNDS     40

#define ENCODE_BAR_MS  40.0
#define ENCODE_BAR_MIB 8.0

typedef struct encode_sample {
  sp_frame frames[ENCODE_DEPTH];
  spanprof_labels labels;
  spanprof_span span;
} encode_sample;

/* Times and sizes of a round. */
typedef struct encode_round {
  double wall_ms;
  double cpu_ms;
  size_t part_count;
  size_t bytes;
  uint64_t samples;
} encode_round;

static encode_sample encode_samples[ENCODE_SAMPLES];

static spanprof_status encode_name(void *data, const sp_frame *frame,
                                   sp_frame_name *out) {
  static char function[96], file[96];
  const uint64_t number = frame->code % ENCODE_FUNCTIONS;

  (void)data;
  *out = (sp_frame_name){.function = function,
                         .file = file,
                         .line = (int64_t)frame->position,
                         .start_line = (int64_t)(number % 1000)};
  out->function_bytes = (size_t)snprintf(
      function, sizeof function, "Shop::Orders::Item%" PRIu64 "#total", number);
  out->file_bytes =
      (size_t)snprintf(file, sizeof file,
                       "/srv/shop/app/models/item_%" PRIu64 ".rb", number / 8);
  return SPANPROF_OK;
}

static spanprof_labels encode_labels(uint32_t set) {
  static const char *const names[] = {"controller", "action", "shard",
                                      "region_of_user"};
  spanprof_label_token token;
  spanprof_labels labels;
  char value[32];
  size_t i;

  for (i = 0; i < sizeof names / sizeof *names; i++) {
    int bytes =
        snprintf(value, sizeof value, "value_%zu_%" PRIu32, i, set >> (i % 3));

    if (spanprof_label_push_bytes(names[i], strlen(names[i]), value,
                                  (size_t)bytes, &token) != SPANPROF_OK)
      bench_die("a label cannot be pushed");
  }
  labels = spanprof_labels_get();
  spanprof_labels_set(0);
  return labels;
}

static spanprof_span encode_span(uint64_t *random) {
  spanprof_span_info info = {.struct_size = sizeof info,
                             .flags = SPANPROF_SPAN_SAMPLED};
  char name[32];
  spanprof_span span;
  size_t i;

  for (i = 0; i < sizeof info.span_id; i++)
    info.span_id[i] = (uint8_t)(bench_random(random) >> 8);
  for (i = 0; i < sizeof info.trace_id; i++)
    info.trace_id[i] = (uint8_t)(bench_random(random) >> 8);
  info.name = name;
  info.name_bytes = (size_t)snprintf(name, sizeof name, "GET /orders/%" PRIu32,
                                     bench_random(random) % ENCODE_SPAN_NAMES);
  if (spanprof_span_start(NULL, &info, &span) != SPANPROF_OK || !span)
    bench_die("a span cannot be started");
  return span;
}

/* Choose one of the three callees of a location, most often the first one.
 * `place` is the location's number in its level, and the result is the callee's
 * number in the next inner level. */
static uint32_t encode_callee(uint32_t place, uint32_t level, uint32_t wide,
                              uint64_t *random) {
  const uint32_t draw = bench_random(random) % 10;
  uint64_t from =
      ((uint64_t)level << 32) | (place * 3 + (draw > 6) + (draw > 8));

  return bench_random(&from) % wide;
}

static void encode_walk(sp_frame *frames, uint64_t *random) {
  uint32_t place = 0, first = 0, level;

  for (level = 0; level < ENCODE_DEPTH; level++) {
    const uint32_t wide =
        level < ENCODE_OUTER ? ENCODE_OUTER_WIDE : ENCODE_INNER_WIDE;

    place = encode_callee(place, level, wide, random);
    frames[ENCODE_DEPTH - 1 - level].code = first + place;
    first += wide;
  }
}

static void encode_draw(sp_frame *frames, uint64_t *random) {
  size_t i;

  for (i = 0; i < ENCODE_DEPTH; i++)
    frames[i].code = bench_random(random) % ENCODE_LOCATIONS;
}

static void encode_prepare(void (*fill)(sp_frame *frames, uint64_t *random)) {
  spanprof_labels sets[ENCODE_SETS];
  uint64_t random = 1;
  size_t i, j;

  for (i = 0; i < ENCODE_SETS; i++)
    sets[i] = encode_labels((uint32_t)i);
  for (i = 0; i < ENCODE_SAMPLES; i++) {
    encode_sample *sample = &encode_samples[i];

    fill(sample->frames, &random);
    for (j = 0; j < ENCODE_DEPTH; j++) {
      sample->frames[j].kind = SP_FRAME_RUNTIME;
      sample->frames[j].position = sample->frames[j].code % 500 + 1;
    }
    sample->labels = sets[bench_random(&random) % ENCODE_SETS];
    sample->span = encode_span(&random);
  }
}

/* Add every sample once, and return the mean time in ns. */
static double encode_add_all(sp_profile *profile) {
  uint64_t start_ns = bench_cpu_ns();
  size_t i;

  for (i = 0; i < ENCODE_SAMPLES; i++) {
    const encode_sample *sample = &encode_samples[i];

    if (sp_profile_add(profile, sample->frames, ENCODE_DEPTH, sample->labels,
                       sample->span, 1, 1, 10000000) != SPANPROF_OK)
      bench_die("a sample cannot be added");
  }
  return (double)(bench_cpu_ns() - start_ns) / ENCODE_SAMPLES;
}

static void encode_take(void *data, sp_encoded *part) {
  encode_round *round = data;

  round->part_count++;
  round->bytes += part->size;
  round->samples += part->samples;
  sp_encoded_dispose(part);
}

static encode_round encode_once(sp_profile *profile, sp_encoded_fn take) {
  const sp_window window = {.time_ns = UINT64_C(1790000000123456789),
                            .duration_ns = UINT64_C(10000000000),
                            .period_ns = 10000000};
  encode_round round = {.wall_ms = 0};
  uint64_t lost_samples, lost_ticks;
  uint64_t wall_ns = bench_now_ns(), cpu_ns = bench_cpu_ns();

  if (sp_profile_encode(profile, &window, take, &round, &lost_samples,
                        &lost_ticks) != SPANPROF_OK)
    bench_die("the profile cannot be encoded");
  round.cpu_ms = (double)(bench_cpu_ns() - cpu_ns) / 1e6;
  round.wall_ms = (double)(bench_now_ns() - wall_ns) / 1e6;
  return round;
}

/* The uncompressed profile, for measuring compression alone. */
static sp_buffer encode_raw;

static void encode_take_raw(void *data, sp_encoded *part) {
  if (sp_gunzip(&encode_raw, part->bytes, part->size, (size_t)64 << 20) !=
      SPANPROF_OK)
    bench_die("a part cannot be unpacked");
  encode_take(data, part);
}

static double encode_zlib_ms(void) {
  uLong bound = compressBound((uLong)encode_raw.size);
  Bytef *out = malloc(bound);
  double best_ms = 1e9;
  int i;

  if (!out)
    bench_die("no memory to compress");
  for (i = 0; i < 5; i++) {
    uint64_t start_ns = bench_cpu_ns();
    uLong size = bound;

    if (compress2(out, &size, (const Bytef *)encode_raw.data,
                  (uLong)encode_raw.size, 1) != Z_OK)
      bench_die("zlib cannot compress");
    start_ns = bench_cpu_ns() - start_ns;
    if ((double)start_ns / 1e6 < best_ms)
      best_ms = (double)start_ns / 1e6;
  }
  free(out);
  return best_ms;
}

static double mib(size_t bytes) {
  return (double)bytes / (1 << 20);
}

/* The results for one shape of stacks. */
typedef struct encode_result {
  encode_round first; /* the first round, which gets the name of every frame and
                       * caches it */
  double wall_ms;     /* the best of the other rounds; so are cpu_ms and
                       * zlib_ms */
  double cpu_ms;
  double zlib_ms;
  double new_ns; /* time to add a new sample */
  double known_ns;
  size_t first_peak; /* memory that encoding needs in the first round */
  size_t peak;
  size_t window_bytes;
} encode_result;

static void encode_repeat(encode_result *result, sp_profile *profile,
                          counting_mem *counted, size_t rounds) {
  size_t i;

  for (i = 0; i < rounds; i++) {
    const size_t before = counted->peak_bytes = counted->bytes;
    const encode_round round = encode_once(profile, encode_take);
    const double add_ns = encode_add_all(profile);

    if (counted->peak_bytes - before > result->peak)
      result->peak = counted->peak_bytes - before;
    if (round.wall_ms < result->wall_ms)
      result->wall_ms = round.wall_ms;
    if (round.cpu_ms < result->cpu_ms)
      result->cpu_ms = round.cpu_ms;
    if (add_ns < result->known_ns)
      result->known_ns = add_ns;
  }
}

static encode_result encode_measure(const sp_namer *namer,
                                    const sp_settings *settings) {
  encode_result result = {.wall_ms = 1e9, .cpu_ms = 1e9, .known_ns = 1e9};
  counting_mem counted;
  sp_profile *profile;
  size_t before;

  counting_mem_init(&counted);
  if (sp_profile_new(&profile, &counted.mem, namer, settings) != SPANPROF_OK)
    bench_die("no memory for a profile");
  result.new_ns = encode_add_all(profile);
  before = counted.peak_bytes = counted.bytes;
  result.first = encode_once(profile, encode_take);
  result.first_peak = counted.peak_bytes - before;
  result.window_bytes = counted.bytes;
  if (result.first.samples != ENCODE_SAMPLES)
    bench_die("samples are missing");
  encode_repeat(&result, profile, &counted, bench_quick() ? 5 : ENCODE_ROUNDS);
  sp_buffer_clear(&encode_raw);
  encode_once(profile, encode_take_raw);
  result.zlib_ms = encode_zlib_ms();
  sp_profile_free(profile);
  return result;
}

static void encode_say(const char *shape, const encode_result *result) {
  bench_print(
      "%s: %.1f ms (CPU %.1f; zlib alone %.1f), first window %.1f ms (CPU "
      "%.1f); %zu parts, %.2f MiB, compressed %.2f MiB",
      shape, result->wall_ms, result->cpu_ms, result->zlib_ms,
      result->first.wall_ms, result->first.cpu_ms, result->first.part_count,
      mib(encode_raw.size), mib(result->first.bytes));
  bench_print("%s: a sample added in %.0f ns (new) and %.0f ns (known); the "
              "window takes %.1f MiB, encoding %.1f more, the first time %.1f",
              shape, result->new_ns, result->known_ns,
              mib(result->window_bytes), mib(result->peak),
              mib(result->first_peak));
}

int main(void) {
  const sp_namer namer = {encode_name, NULL};
  const sp_settings settings = {.application_name = (char *)"encode",
                                .stack_depth_max = 512,
                                .window_max_bytes = 64 << 20};
  encode_result tree, random;
  char measured[96], comparison[96];

  sp_buffer_init(&encode_raw, &sp_mem_default);
  encode_prepare(encode_draw);
  random = encode_measure(&namer, &settings);
  encode_say("frames at random", &random);
  encode_prepare(encode_walk);
  tree = encode_measure(&namer, &settings);
  encode_say("call tree", &tree);

  snprintf(measured, sizeof measured, "%.1f ms (CPU %.1f)", tree.wall_ms,
           tree.cpu_ms);
  snprintf(comparison, sizeof comparison, "zlib alone on these bytes: %.1f ms",
           tree.zlib_ms);
  bench_bar("encode and compress 15,000 samples", measured, "<= 40 ms",
            comparison, tree.wall_ms <= ENCODE_BAR_MS);
  snprintf(measured, sizeof measured, "%.1f MiB", mib(tree.peak));
  snprintf(comparison, sizeof comparison, "the first time: %.1f MiB",
           mib(tree.first_peak));
  bench_bar("memory to encode them", measured, "<= 8 MiB", comparison,
            mib(tree.peak) <= ENCODE_BAR_MIB &&
                mib(tree.first_peak) <= ENCODE_BAR_MIB);
  sp_buffer_dispose(&encode_raw);
  return 0;
}
