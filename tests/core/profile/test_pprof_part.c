#include "profile/pprof/pprof_part.h"

#include "check.h"
#include "profile/pprof/gunzip.h"
#include "profile/pprof/pprof_sample.h"
#include "profile/pprof/pprof_writer.h"
#include "profile/pprof/varint.h"

static uint64_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
  return *state >> (*state >> 58);
}

/* Check that spanprof encodes the sample like protobuf-c. */
static void check_sample(const Perftools__Profiles__Sample *sample) {
  const size_t size = protobuf_c_message_get_packed_size(&sample->base);
  uint8_t *ours = malloc(size + 1), *theirs = malloc(size + 1);

  CHECK(ours && theirs);
  CHECK_EQUAL(sp_pprof_sample_size(sample), size);
  CHECK_EQUAL(protobuf_c_message_pack(&sample->base, theirs), size);
  CHECK(sp_pprof_sample_put(ours, sample) == ours + size);
  CHECK(!memcmp(ours, theirs, size));
  free(ours);
  free(theirs);
}

static void samples_are_the_bytes_protobuf_c_writes(void) {
  uint64_t random = 7, locations[600];
  Perftools__Profiles__Label labels[40], *pointers[40];
  int64_t values[3];
  size_t round, i;

  for (round = 0; round < 2000; round++) {
    Perftools__Profiles__Sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT;

    sample.n_location_id =
        round % 3 ? next_random(&random) % 40 : next_random(&random) % 600;
    sample.n_value = round % 4;
    sample.n_label = next_random(&random) % 40;
    sample.location_id = locations;
    sample.value = values;
    sample.label = pointers;
    for (i = 0; i < sample.n_location_id; i++)
      locations[i] = next_random(&random);
    for (i = 0; i < sample.n_value; i++)
      values[i] = (int64_t)next_random(&random);
    for (i = 0; i < sample.n_label; i++) {
      perftools__profiles__label__init(&labels[i]);
      labels[i].key = (int64_t)next_random(&random);
      labels[i].str = i % 3 ? (int64_t)next_random(&random) : 0;
      labels[i].num = i % 2 ? -(int64_t)next_random(&random) : 0;
      labels[i].num_unit = i % 5 ? 0 : (int64_t)next_random(&random);
      pointers[i] = &labels[i];
    }
    check_sample(&sample);
  }
}

static void varint_size_is_exact(void) {
  uint8_t bytes[SP_VARINT_BYTES_MAX];
  uint32_t bit;

  for (bit = 0; bit < 64; bit++) {
    const uint64_t one = UINT64_C(1) << bit;

    CHECK_EQUAL(sp_varint_put(bytes, one) - bytes, sp_varint_size(one));
    CHECK_EQUAL(sp_varint_put(bytes, one - 1) - bytes, sp_varint_size(one - 1));
  }
  CHECK_EQUAL(sp_varint_size(UINT64_MAX), SP_VARINT_BYTES_MAX);
  CHECK_EQUAL(sp_varint_size(0), 1);
}

static spanprof_status code_name(void *data, const sp_frame *frame,
                                 sp_frame_name *out) {
  static char text[400];

  (void)data;
  memset(text, 'n', sizeof text);
  snprintf(text + 380, 20, "%llu", (unsigned long long)frame->code);
  *out = (sp_frame_name){.function = text, .function_bytes = strlen(text)};
  return SPANPROF_OK;
}

/* The tables and the writer of a profile, without an sp_profile. */
typedef struct fixture {
  sp_settings settings;
  sp_name_table names;
  sp_frame_table frames;
  sp_stack_table stacks;
  sp_label_table labels;
  sp_window window;
  sp_pprof_writer writer;
} fixture;

/* Add `count` stacks of one frame each, which have `same` distinct frames. */
static void open_writer(fixture *f, uint32_t count, uint32_t same) {
  const sp_namer namer = {code_name, NULL};
  uint32_t i, number;

  memset(f, 0, sizeof *f);
  sp_name_table_init(&f->names, &sp_mem_default);
  sp_frame_table_init(&f->frames, &sp_mem_default, &f->names, NULL);
  sp_stack_table_init(&f->stacks, &sp_mem_default, &f->frames);
  sp_label_table_init(&f->labels, &sp_mem_default, &f->names, &f->settings);
  f->window = (sp_window){.time_ns = 1000, .period_ns = 1};
  for (i = 0; i < count; i++) {
    const sp_frame frame = {SP_FRAME_RUNTIME, 0, i % same, 0};

    CHECK_EQUAL(sp_stack_table_add(&f->stacks, &frame, 1, i, &number),
                SPANPROF_OK);
  }
  CHECK_EQUAL(sp_frame_table_name(&f->frames, &namer), SPANPROF_OK);
  CHECK_EQUAL(sp_pprof_writer_open(&f->writer, &sp_mem_default, &f->names,
                                   &f->stacks, &f->labels, &f->window),
              SPANPROF_OK);
}

static void close_writer(fixture *f) {
  sp_pprof_writer_dispose(&f->writer);
  sp_label_table_dispose(&f->labels);
  sp_stack_table_dispose(&f->stacks);
  sp_frame_table_dispose(&f->frames);
  sp_name_table_dispose(&f->names);
}

static size_t finish_and_unpack(fixture *f, sp_encoded *part) {
  sp_buffer raw;
  size_t size;

  CHECK_EQUAL(sp_pprof_writer_finish(&f->writer, part), SPANPROF_OK);
  sp_buffer_init(&raw, &sp_mem_default);
  CHECK_EQUAL(sp_gunzip(&raw, part->bytes, part->size, (size_t)8 << 20),
              SPANPROF_OK);
  size = raw.size;
  sp_buffer_dispose(&raw);
  sp_encoded_dispose(part);
  return size;
}

/* A part ends only if the next sample does not fit in the remaining space. Each
 * part reports its exact size. */
static void a_part_ends_where_the_next_sample_does_not_fit(void) {
  const uint32_t count = 9000;
  size_t raw_bytes, next_bytes, parts = 0;
  sp_encoded part;
  uint64_t samples = 0;
  uint32_t i;
  fixture f;

  open_writer(&f, count, count);
  for (i = 0; i < count; i++) {
    const sp_entry entry = {.stack = i, .samples = 1, .ticks = 2, .cpu_ns = 3};
    spanprof_status st = sp_pprof_writer_add(&f.writer, &entry);

    if (!st)
      continue;
    CHECK_EQUAL(st, SPANPROF_ERR_LIMIT);
    raw_bytes = f.writer.raw_bytes;
    next_bytes = f.writer.part.pending.size;
    CHECK(raw_bytes <= SP_PPROF_BYTES_MAX);
    CHECK(raw_bytes + next_bytes > SP_PPROF_BYTES_MAX);
    CHECK_EQUAL(finish_and_unpack(&f, &part), raw_bytes);
    CHECK_EQUAL(part.time_ns, 1000 + parts++);
    CHECK_EQUAL(part.ticks, 2 * part.samples);
    CHECK_EQUAL(part.cpu_ns, 3 * part.samples);
    samples += part.samples;
    CHECK_EQUAL(sp_pprof_writer_next(&f.writer), SPANPROF_OK);
    CHECK_EQUAL(sp_pprof_writer_add(&f.writer, &entry), SPANPROF_OK);
  }
  raw_bytes = f.writer.raw_bytes;
  CHECK_EQUAL(finish_and_unpack(&f, &part), raw_bytes);
  CHECK_EQUAL(samples + part.samples, count);
  CHECK(parts >= 1);
  close_writer(&f);
}

static void a_part_ends_at_15000_samples(void) {
  sp_encoded part;
  uint32_t i;
  fixture f;

  open_writer(&f, 15001, 10);
  for (i = 0; i < 15001; i++) {
    const sp_entry entry = {.stack = i, .samples = 1, .ticks = 1, .cpu_ns = 1};

    CHECK_EQUAL(sp_pprof_writer_add(&f.writer, &entry),
                i < 15000 ? SPANPROF_OK : SPANPROF_ERR_LIMIT);
  }
  CHECK(finish_and_unpack(&f, &part) < SP_PPROF_BYTES_MAX / 2);
  CHECK_EQUAL(part.samples, 15000);
  close_writer(&f);
}

static const check_test tests[] = {
    {"samples_are_the_bytes_protobuf_c_writes",
     samples_are_the_bytes_protobuf_c_writes},
    {"varint_size_is_exact", varint_size_is_exact},
    {"a_part_ends_where_the_next_sample_does_not_fit",
     a_part_ends_where_the_next_sample_does_not_fit},
    {"a_part_ends_at_15000_samples", a_part_ends_at_15000_samples},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
