/* The store by itself, on profiles of an application: 300 stacks out of 470
 * functions, 10 s each; 100 spans in each, or none, or one for each sample.
 * Prints a figure a line: durable puts, bytes against the gzipped pprof, a
 * day's flame graph, one span among many. SPANPROF_BENCH_QUICK=1: a tenth. */
#include <store_fixture.h>

#include <malloc.h>
#include <pthread.h>
#include <server/store/columns.h>
#include <profile/gzip_stream.h>

#define STACKS    300
#define DEPTH     30
#define FUNCTIONS 470
#define APPS      20
#define MADE      200 /* profiles that differ */

enum shape { PLAIN, SPANS, SPAN_PER_SAMPLE };

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

static double seconds(void) {
  return (double)sp_monotonic_ns() / 1e9;
}

/* Frames of a stack: outer ones are shared as in a call tree. */
static uint32_t stack_function(uint32_t app, uint32_t stack, uint32_t depth) {
  const uint32_t part = stack >> (depth < 16 ? 8 - depth / 2 : 0);

  return (uint32_t)(sp_hash_mix(sp_hash_mix(app, depth), part) % FUNCTIONS);
}

static uint32_t add_stack(sp_received *profile, uint32_t app, uint32_t stack) {
  uint32_t places[DEPTH], i;
  char name[64], file[64];

  for (i = 0; i < DEPTH; i++) {
    const uint32_t number = stack_function(app, stack, i);
    sp_received_line line = {.line = number % 200 + 5};

    snprintf(name, sizeof name, "Shop::Orders%u#handle_%u", number % 40,
             number);
    snprintf(file, sizeof file, "/srv/app%u/lib/orders_%u.rb", app,
             number % 40);
    line.function =
        sp_received_add_function(profile, fixture_text(profile, name),
                                 fixture_text(profile, file), number % 200);
    places[DEPTH - 1 - i] = sp_received_add_location(profile, &line, 1, 0);
  }
  return sp_received_add_stack(profile, places, DEPTH);
}

static void add_sample(sp_received *profile, uint32_t app, uint32_t stack,
                       uint64_t span) {
  const int64_t value = 10000000 * (int64_t)(random_next() % 100 < 80 ? 1 : 2);
  sp_received_sample sample = {.span_id = span};
  char name[32];
  const char *pair[][2] = {{"span_name", name}};

  snprintf(name, sizeof name, "GET /orders/%u", (uint32_t)(span % 10));
  sample.stack = add_stack(profile, app, stack);
  if (span)
    sample.labels = fixture_labels(profile, (const char *const(*)[2])pair, 1);
  sp_received_add_sample(profile, &sample, &value);
}

static sp_received *make(uint32_t app, int64_t time_ns, enum shape shape) {
  char service[16];
  sp_received *profile;
  uint32_t i, spans[100];

  snprintf(service, sizeof service, "app-%u", app);
  profile = fixture_profile(service, time_ns);
  for (i = 0; i < 300 && shape == PLAIN; i++)
    add_sample(profile, app, i, 0);
  for (i = 0; i < 800 && shape == SPAN_PER_SAMPLE; i++)
    add_sample(profile, app, (uint32_t)(random_next() % STACKS), random_next());
  for (i = 0; i < 100; i++)
    spans[i] = (uint32_t)random_next();
  for (i = 0; i < 600 && shape == SPANS; i++)
    add_sample(profile, app, (uint32_t)(random_next() % STACKS),
               sp_hash_mix(SP_HASH_SEED, spans[random_next() % 100]));
  CHECK(!sp_received_status(profile));
  return profile;
}

/* ---- The same as pprof ---- */

static void field(sp_buffer *out, uint32_t number, const sp_buffer *message) {
  sp_put_number(out, number << 3 | 2);
  sp_put_number(out, message->size);
  sp_buffer_append(out, message->data, message->size);
}

static void number(sp_buffer *out, uint32_t field_number, uint64_t value) {
  sp_put_number(out, field_number << 3);
  sp_put_number(out, value);
}

static size_t gzipped_pprof(const sp_received *profile) {
  sp_buffer out, one, two;
  sp_gzip gzip;
  char text[32];
  size_t i, size, extra = 0;
  void *bytes;

  sp_buffer_init(&out, &sp_mem_default);
  sp_buffer_init(&one, &sp_mem_default);
  sp_buffer_init(&two, &sp_mem_default);
  for (i = 0; i < profile->sample_count; i++) {
    const sp_received_sample *sample = &profile->samples[i];
    const sp_received_stack *stack = &profile->stacks[sample->stack];
    uint32_t k;

    sp_buffer_clear(&one);
    sp_buffer_clear(&two);
    for (k = 0; k < stack->count; k++)
      sp_put_number(&two, profile->stack_frames[stack->first + k] + 1);
    field(&one, 1, &two);
    number(&one, 2, (uint64_t)profile->values[sample->values]);
    if (sample->span_id) {
      sp_buffer_clear(&two);
      number(&two, 1, 1);
      number(&two, 2, profile->text_count + extra++);
      field(&one, 3, &two);
      sp_buffer_clear(&two);
      number(&two, 1, 2);
      number(&two, 2,
             profile->pairs[profile->label_sets[sample->labels].first].value);
      field(&one, 3, &two);
    }
    field(&out, 2, &one);
  }
  for (i = 0; i < profile->location_count; i++) {
    sp_buffer_clear(&one);
    sp_buffer_clear(&two);
    number(&one, 1, i + 1);
    number(&two, 1, profile->lines[i].function + 1);
    number(&two, 2, (uint64_t)profile->lines[i].line);
    field(&one, 4, &two);
    field(&out, 4, &one);
  }
  for (i = 0; i < profile->function_count; i++) {
    sp_buffer_clear(&one);
    number(&one, 1, i + 1);
    number(&one, 2, profile->functions[i].name);
    number(&one, 4, profile->functions[i].file);
    field(&out, 5, &one);
  }
  for (i = 0; i < profile->text_count + profile->sample_count; i++) {
    sp_buffer_clear(&one);
    if (i < profile->text_count) {
      sp_buffer_text(&one, sp_received_text_of(profile, (uint32_t)i));
    } else if (profile->samples[i - profile->text_count].span_id) {
      snprintf(text, sizeof text, "%016llx",
               (unsigned long long)profile->samples[i - profile->text_count]
                   .span_id);
      sp_buffer_text(&one, text);
    }
    field(&out, 6, &one);
  }
  memset(&gzip, 0, sizeof gzip);
  CHECK(!sp_gzip_open(&gzip, &sp_mem_default));
  CHECK(!sp_gzip_write(&gzip, out.data, out.size));
  CHECK(!sp_gzip_finish(&gzip, &bytes, &size));
  sp_mem_free(&sp_mem_default, bytes);
  sp_gzip_dispose(&gzip);
  sp_buffer_dispose(&out);
  sp_buffer_dispose(&one);
  sp_buffer_dispose(&two);
  return size;
}

/* ---- Figures ---- */

static int64_t used_bytes(void) {
  int64_t bytes = 0;
  char command[200];
  FILE *said;

  snprintf(command, sizeof command,
           "sqlite3 %s 'select coalesce(sum(bytes),0) from block' 2>/dev/null",
           fixture_path);
  said = popen(command, "r");
  if (!said || fscanf(said, "%lld", (long long *)&bytes) != 1)
    bytes = -1;
  if (said)
    pclose(said);
  return bytes;
}

static void sizes(const char *name, enum shape shape, int profiles) {
  double gz = 0;
  sp_store *store;
  int i;

  fixture_begin();
  store = fixture_open();
  for (i = 0; i < profiles; i++) {
    sp_received *profile =
        make(1, FIXTURE_TIME + i * 10 * FIXTURE_SECOND, shape);

    if (i < 10)
      gz += (double)gzipped_pprof(profile) / 10;
    fixture_put(store, profile);
  }
  CHECK(!sp_store_compact(store));
  printf("%s: %.0f bytes a profile, gzipped pprof %.0f: ratio %.3f\n", name,
         (double)used_bytes() / profiles, gz,
         (double)used_bytes() / profiles / gz);
  sp_store_close(store);
  fixture_end();
}

static sp_store *put_store;
static sp_received *put_made[64];
static int put_each;

static void *put_some(void *argument) {
  sp_received *profile = argument;
  const sp_received *const one = profile;
  int i;

  for (i = 0; i < put_each; i++, profile->time_ns += 640000000)
    CHECK(!sp_store_put(put_store, &one, 1));
  sp_received_free(profile);
  return NULL;
}

static void rate(int each) {
  pthread_t threads[64];
  double begin;
  int i;

  fixture_begin();
  put_store = fixture_open();
  put_each = each;
  for (i = 0; i < 64; i++)
    put_made[i] =
        make((uint32_t)(i % APPS), FIXTURE_TIME + i * 10000000, SPANS);
  begin = seconds();
  for (i = 0; i < 64; i++)
    pthread_create(&threads[i], NULL, put_some, put_made[i]);
  for (i = 0; i < 64; i++)
    pthread_join(threads[i], NULL);
  printf("durable puts, 64 callers: %.0f/s\n", 64 * each / (seconds() - begin));
  sp_store_close(put_store);
  fixture_end();
}

static void queries(int profiles) {
  const sp_matcher app = {
      .kind = SP_MATCH_EQUAL, .name = "service_name", .value = "app-3"};
  sp_selector selector = fixture_all();
  sp_received *made[MADE], *other;
  uint64_t span;
  sp_store *store;
  double begin;
  int i;

  fixture_begin();
  store = fixture_open();
  for (i = 0; i < MADE; i++)
    made[i] = make(3, 0, SPANS);
  for (i = 0; i < profiles; i++) {
    const sp_received *const one = made[i % MADE];

    made[i % MADE]->time_ns = FIXTURE_TIME + i * 10 * FIXTURE_SECOND;
    CHECK(!sp_store_put(store, &one, 1));
  }
  other = make(3, FIXTURE_TIME + profiles * 5 * FIXTURE_SECOND + 1, SPANS);
  span = other->samples[0].span_id;
  fixture_put(store, other);
  begin = seconds();
  CHECK(!sp_store_compact(store));
  printf("compaction of %d profiles: %.1f s\n", profiles, seconds() - begin);
  selector.matchers = &app;
  selector.matcher_count = 1;
  begin = seconds();
  fixture_sum(store, &selector, NULL);
  printf("flame graph of %d profiles: %.3f s\n", profiles, seconds() - begin);
  selector.from_ms = FIXTURE_TIME / 1000000 + 1234567;
  begin = seconds();
  fixture_sum(store, &selector, NULL);
  printf("the same, shifted: %.3f s\n", seconds() - begin);
  selector.span_ids = &span;
  selector.span_count = 1;
  selector.from_ms = 0;
  begin = seconds();
  CHECK(fixture_sum(store, &selector, NULL) > 0);
  printf("one span of them: %.4f s\n", seconds() - begin);
  for (i = 0; i < MADE; i++)
    sp_received_free(made[i]);
  sp_store_close(store);
  fixture_end();
}

int main(void) {
  const bool quick = getenv("SPANPROF_BENCH_QUICK") != NULL;

  setvbuf(stdout, NULL, _IOLBF, 0);
  mallopt(M_ARENA_MAX, 4);
  sizes("plain", PLAIN, 360);
  sizes("100 spans in 600 samples", SPANS, 360);
  sizes("a span for each of 800 samples", SPAN_PER_SAMPLE, 360);
  rate(quick ? 4 : 40);
  queries(quick ? 864 : 8640);
  return 0;
}
