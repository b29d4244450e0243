/* make_profiles DIRECTORY: encodes two windows of known samples. It writes
 * their parts to DIRECTORY/<n>.pb.gz, and the number and sum of the samples to
 * DIRECTORY/expected, as shell variables. The first window has few samples,
 * with everything that a profile can have. The second window needs several
 * parts. */
#include <inttypes.h>

#include "check.h"
#include "label/label_set.h"
#include "pprof_rules.h"
#include "profile/profile.h"

#define MAKE_MANY 40000

typedef struct make_state {
  const char *directory;
  size_t part_count;
  uint64_t cpu_ns;
} make_state;

static spanprof_status make_name(void *data, const sp_frame *frame,
                                 sp_frame_name *out) {
  static char text[64];

  (void)data;
  *out = (sp_frame_name){.function = text};
  if (frame->kind == SP_FRAME_RUNTIME) {
    snprintf(text, sizeof text, "Shop#method_%" PRIu64, frame->code);
    out->file = "/srv/shop/app.rb";
    out->file_bytes = strlen(out->file);
    out->line = (int64_t)frame->position;
  } else {
    out->mapped = true;
    out->mapping = (sp_mapping_view){.path = "/usr/lib/libshop.so.1",
                                     .build_id = "0123456789abcdef",
                                     .start = 0x1000,
                                     .limit = 0x100000};
    snprintf(text, sizeof text, "shop_%" PRIx64, frame->code);
    if (frame->code == 0xbad)
      out->function = NULL;
  }
  out->function_bytes = out->function ? strlen(text) : 0;
  return SPANPROF_OK;
}

static void make_take(void *data, sp_encoded *part) {
  make_state *state = data;
  const char *broken = pprof_rules_broken(part->bytes, part->size, NULL);
  char path[4096];
  FILE *file;

  if (broken)
    fprintf(stderr, "part %zu: %s\n", state->part_count, broken);
  CHECK(!broken);
  snprintf(path, sizeof path, "%s/%zu.pb.gz", state->directory,
           state->part_count++);
  file = fopen(path, "wb");
  CHECK(file);
  CHECK_EQUAL(fwrite(part->bytes, 1, part->size, file), part->size);
  CHECK(fclose(file) == 0);
  sp_encoded_dispose(part);
}

/* Rules by which every span gets labels, not only the root span. */
static spanprof_span_rules *make_rules(void) {
  spanprof_span_rules_options options;
  spanprof_span_rules *rules;

  CHECK_EQUAL(spanprof_span_rules_options_init(&options, sizeof options),
              SPANPROF_OK);
  options.root_span_only = 0;
  CHECK_EQUAL(spanprof_span_rules_new(&options, &rules), SPANPROF_OK);
  return rules;
}

/* Starts the span with the id deadbeef000102<last>, a child of the span whose
 * id is one lower. */
static spanprof_span make_span(const spanprof_span_rules *rules,
                               const char *name, uint8_t last) {
  spanprof_span_info info = {
      .struct_size = sizeof info,
      .trace_id = {0xcc},
      .parent_id = {0xde, 0xad, 0xbe, 0xef, 0, 1, 2, (uint8_t)(last - 1)},
      .span_id = {0xde, 0xad, 0xbe, 0xef, 0, 1, 2, last},
      .flags = SPANPROF_SPAN_SAMPLED,
      .name = name,
      .name_bytes = strlen(name)};
  spanprof_span span;

  CHECK_EQUAL(spanprof_span_start(rules, &info, &span), SPANPROF_OK);
  return span;
}

static spanprof_labels make_label(const char *name, const char *value) {
  spanprof_label_token token;

  CHECK_EQUAL(spanprof_label_push_bytes(name, strlen(name), value,
                                        strlen(value), &token),
              SPANPROF_OK);
  return spanprof_labels_get();
}

static void make_add(make_state *state, sp_profile *profile,
                     const sp_frame *frames, size_t count,
                     spanprof_labels labels, spanprof_span span,
                     uint64_t cpu_ns) {
  CHECK_EQUAL(
      sp_profile_add(profile, frames, count, labels, span, 1, 1, cpu_ns),
      SPANPROF_OK);
  state->cpu_ns += cpu_ns;
}

static void make_encode(make_state *state, sp_profile *profile) {
  static const char *const comments[] = {"spanprof judged"};
  const sp_window window = {.time_ns = UINT64_C(1790000000123456789),
                            .duration_ns = UINT64_C(10000000000),
                            .period_ns = 10000000,
                            .comments = comments,
                            .comment_count = SP_COUNT_OF(comments)};
  uint64_t lost_samples, lost_ticks;

  CHECK_EQUAL(sp_profile_encode(profile, &window, make_take, state,
                                &lost_samples, &lost_ticks),
              SPANPROF_OK);
  CHECK(lost_samples == 0 && lost_ticks == 0);
  sp_profile_reset(profile);
}

/* Adds samples of every kind of frame, with and without labels and spans. */
static void make_few(make_state *state, sp_profile *profile) {
  const sp_frame stack[] = {{SP_FRAME_NATIVE, 1, 0xa0, 0},
                            {SP_FRAME_NATIVE, 1, 0xbad, 0},
                            {SP_FRAME_RUNTIME, 0, 7, 12},
                            {SP_FRAME_NOTE, 0, SP_NOTE_TRUNCATED, 0}};
  spanprof_span_rules *rules = make_rules();
  const spanprof_span root = make_span(rules, "GET /books", 3);
  const spanprof_span child = make_span(rules, "render", 4);
  spanprof_labels labels = make_label("phase", "read");

  spanprof_labels_set(0);
  make_add(state, profile, stack, 4, labels, root, 100000000);
  make_add(state, profile, stack, 4, 0, root, 20000000);
  make_add(state, profile, stack, 4, labels, child, 3000000);
  make_add(state, profile, stack + 2, 1, 0, 0, 400000);
  make_add(state, profile, stack + 2, 1, labels, 0, 50000);
  spanprof_span_rules_free(rules);
}

static void make_many(make_state *state, sp_profile *profile) {
  uint64_t i;

  for (i = 0; i < MAKE_MANY; i++) {
    const sp_frame stack[] = {{SP_FRAME_RUNTIME, 0, i % 200, i % 7},
                              {SP_FRAME_RUNTIME, 0, i / 200, 1}};

    make_add(state, profile, stack, 2, 0, 0, 1000 + i);
  }
}

int main(int argc, char **argv) {
  const sp_namer namer = {make_name, NULL};
  const sp_settings settings = {.application_name = (char *)"judge",
                                .stack_depth_max = 512,
                                .window_max_bytes = 64 << 20};
  make_state state = {.directory = argc > 1 ? argv[1] : "."};
  char path[4096];
  sp_profile *profile;
  FILE *file;

  snprintf(path, sizeof path, "%s/expected", state.directory);
  file = fopen(path, "w");
  CHECK(file);
  CHECK_EQUAL(sp_profile_new(&profile, &sp_mem_default, &namer, &settings),
              SPANPROF_OK);
  make_few(&state, profile);
  make_encode(&state, profile);
  CHECK_EQUAL(state.part_count, 1);
  fprintf(file, "few_ns=%" PRIu64 "\n", state.cpu_ns);
  state.cpu_ns = 0;
  make_many(&state, profile);
  make_encode(&state, profile);
  fprintf(file, "many_ns=%" PRIu64 "\nmany_samples=%d\nparts=%zu\n",
          state.cpu_ns, MAKE_MANY, state.part_count);
  sp_profile_free(profile);
  return fclose(file) == 0 ? 0 : 1;
}
