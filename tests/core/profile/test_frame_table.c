#include "profile/tables/frame_table.h"

#include <inttypes.h>

#include "failing_mem.h"
#include "util/system/counters.h"

/* A namer, which gives names to frames, with configurable results. */
typedef struct fake_namer {
  spanprof_status st;
  bool nameless;
  bool mapped;
  const char *path;
  size_t calls;
} fake_namer;

static spanprof_status fake_name(void *data, const sp_frame *frame,
                                 sp_frame_name *out) {
  static char function[64];
  fake_namer *fake = data;

  fake->calls++;
  memset(out, 0, sizeof *out);
  if (fake->st)
    return fake->st;
  out->mapped = fake->mapped;
  out->mapping = (sp_mapping_view){
      .path = fake->path, .build_id = "ab", .start = 0x1000, .limit = 0x2000};
  if (fake->nameless)
    return SPANPROF_OK;
  out->function = function;
  out->function_bytes = (size_t)snprintf(function, sizeof function, "f%" PRIu64,
                                         frame->code / 10);
  out->file = "a.rb";
  out->file_bytes = 4;
  out->line = (int64_t)frame->position;
  return SPANPROF_OK;
}

typedef struct fixture {
  sp_name_table names;
  sp_frame_table frames;
  fake_namer fake;
  sp_namer namer;
} fixture;

static void open_tables(fixture *f, const sp_mem *mem) {
  memset(f, 0, sizeof *f);
  sp_name_table_init(&f->names, mem);
  sp_frame_table_init(&f->frames, mem, &f->names, "/usr/bin/main");
  f->fake.path = "/lib/libone.so";
  f->namer = (sp_namer){fake_name, &f->fake};
}

static void close_tables(fixture *f) {
  sp_frame_table_dispose(&f->frames);
  sp_name_table_dispose(&f->names);
}

static uint32_t intern(fixture *f, uint32_t kind, uint32_t module,
                       uint64_t code, uint64_t position) {
  const sp_frame frame = {kind, module, code, position};
  uint32_t number;

  CHECK_EQUAL(sp_frame_table_intern(&f->frames, &frame, &number), SPANPROF_OK);
  return number;
}

static void check_name(const fixture *f, uint32_t frame, const char *expected) {
  const uint32_t function =
      sp_frame_table_function(&f->frames, &f->frames.locations[frame]);
  char text[1100];
  size_t bytes;
  const char *name;

  CHECK(function > 0 && function <= f->frames.function_count);
  name = sp_name_table_get(&f->names, f->frames.functions[function - 1].name,
                           &bytes);
  CHECK(bytes < sizeof text);
  memcpy(text, name, bytes);
  text[bytes] = '\0';
  CHECK_TEXT(text, expected);
}

static void every_part_of_a_frame_distinguishes_it(void) {
  uint32_t numbers[6];
  fixture f;
  size_t i, j;

  open_tables(&f, &sp_mem_default);
  numbers[0] = intern(&f, SP_FRAME_NATIVE, 0, 1, 2);
  numbers[1] = intern(&f, SP_FRAME_RUNTIME, 0, 1, 2);
  numbers[2] = intern(&f, SP_FRAME_NATIVE, 1, 1, 2);
  numbers[3] = intern(&f, SP_FRAME_NATIVE, 0, 2, 2);
  numbers[4] = intern(&f, SP_FRAME_NATIVE, 0, 1, 3);
  numbers[5] = intern(&f, SP_FRAME_NATIVE, 0, 2, 1);
  for (i = 0; i < SP_COUNT_OF(numbers); i++)
    for (j = 0; j < i; j++)
      CHECK(numbers[i] != numbers[j]);
  CHECK_EQUAL(intern(&f, SP_FRAME_NATIVE, 1, 1, 2), numbers[2]);
  CHECK_EQUAL(f.frames.location_count, 6);
  close_tables(&f);
}

static void numbers_stay_as_the_table_grows(void) {
  fixture f;
  uint64_t i;

  open_tables(&f, &sp_mem_default);
  for (i = 0; i < 50000; i++)
    CHECK_EQUAL(intern(&f, SP_FRAME_RUNTIME, 0, i / 7 << 32, i), i);
  for (i = 0; i < 50000; i++)
    CHECK_EQUAL(intern(&f, SP_FRAME_RUNTIME, 0, i / 7 << 32, i), i);
  CHECK_EQUAL(sp_frame_table_name(&f.frames, &f.namer), SPANPROF_OK);
  CHECK_EQUAL(f.fake.calls, 50000);
  CHECK(sp_frame_table_bytes(&f.frames) > 50000 * sizeof(sp_location));
  close_tables(&f);
}

static void a_frame_is_named_once(void) {
  fixture f;
  uint32_t one, two, three;

  open_tables(&f, &sp_mem_default);
  one = intern(&f, SP_FRAME_RUNTIME, 0, 10, 5);
  CHECK_EQUAL(sp_frame_table_name(&f.frames, &f.namer), SPANPROF_OK);
  two = intern(&f, SP_FRAME_RUNTIME, 0, 11, 6);
  three = intern(&f, SP_FRAME_RUNTIME, 0, 20, 6);
  CHECK_EQUAL(sp_frame_table_name(&f.frames, &f.namer), SPANPROF_OK);
  CHECK_EQUAL(sp_frame_table_name(&f.frames, &f.namer), SPANPROF_OK);
  CHECK_EQUAL(f.fake.calls, 3);
  check_name(&f, one, "f1");
  check_name(&f, two, "f1");
  check_name(&f, three, "f2");
  CHECK_EQUAL(f.frames.locations[one].function,
              f.frames.locations[two].function);
  CHECK_EQUAL(f.frames.locations[one].line, 5);
  CHECK_EQUAL(f.frames.locations[two].line, 6);
  close_tables(&f);
}

static void namer_without_a_name_yet_is_called_again(void) {
  const uint64_t before = sp_counted(&sp_counts.frames_unnamed);
  fixture f;
  uint32_t runtime, native;

  open_tables(&f, &sp_mem_default);
  runtime = intern(&f, SP_FRAME_RUNTIME, 0, 10, 5);
  native = intern(&f, SP_FRAME_NATIVE, 0, 20, 0);
  f.fake.st = SPANPROF_ERR_STATE;
  CHECK_EQUAL(sp_frame_table_name(&f.frames, &f.namer), SPANPROF_OK);
  check_name(&f, runtime, "(unknown)");
  check_name(&f, native, "[unknown]");
  CHECK_EQUAL(sp_frame_table_name(&f.frames, &f.namer), SPANPROF_OK);
  CHECK_EQUAL(sp_counted(&sp_counts.frames_unnamed) - before, 2);
  CHECK_EQUAL(f.fake.calls, 4);
  f.fake.st = SPANPROF_OK;
  CHECK_EQUAL(sp_frame_table_name(&f.frames, &f.namer), SPANPROF_OK);
  check_name(&f, runtime, "f1");
  check_name(&f, native, "f2");
  CHECK_EQUAL(sp_counted(&sp_counts.frames_unnamed) - before, 2);
  close_tables(&f);
}

static void namer_without_any_name_is_called_once(void) {
  const uint64_t before = sp_counted(&sp_counts.frames_unnamed);
  fixture f;
  uint32_t runtime;

  open_tables(&f, &sp_mem_default);
  runtime = intern(&f, SP_FRAME_RUNTIME, 0, 10, 5);
  f.fake.st = SPANPROF_ERR_ARGUMENT;
  CHECK_EQUAL(sp_frame_table_name(&f.frames, &f.namer), SPANPROF_OK);
  CHECK_EQUAL(sp_frame_table_name(&f.frames, &f.namer), SPANPROF_OK);
  check_name(&f, runtime, "(unknown)");
  CHECK_EQUAL(f.fake.calls, 1);
  CHECK_EQUAL(sp_counted(&sp_counts.frames_unnamed) - before, 1);
  close_tables(&f);
}

/* Counts the frames in *data, and fails for the fifth frame. */
static spanprof_status four_visit(void *data, const sp_frame *frame) {
  CHECK_EQUAL(frame->kind, SP_FRAME_RUNTIME);
  return ++*(int *)data == 5 ? SPANPROF_ERR_NOMEM : SPANPROF_OK;
}

static int visits(fixture *f) {
  int count = 0;

  sp_frame_table_unnamed(&f->frames, four_visit, &count);
  return count;
}

static void frames_without_a_name_are_visited_once(void) {
  fixture f;
  uint64_t i;

  open_tables(&f, &sp_mem_default);
  for (i = 0; i < 6; i++) {
    intern(&f, SP_FRAME_RUNTIME, 0, i, 5);
    intern(&f, SP_FRAME_NATIVE, 0, i, 5);
  }
  CHECK_EQUAL(visits(&f), 5);
  CHECK_EQUAL(visits(&f), 2);
  CHECK_EQUAL(visits(&f), 0);
  sp_frame_table_restart(&f.frames);
  CHECK_EQUAL(visits(&f), 5);
  CHECK_EQUAL(visits(&f), 2);
  CHECK_EQUAL(sp_frame_table_name(&f.frames, &f.namer), SPANPROF_OK);
  sp_frame_table_restart(&f.frames);
  CHECK_EQUAL(visits(&f), 0);
  intern(&f, SP_FRAME_RUNTIME, 0, i, 5);
  CHECK_EQUAL(visits(&f), 1);
  close_tables(&f);
}

static void a_name_is_set_once_and_found_again(void) {
  const sp_frame known = {SP_FRAME_RUNTIME, 0, 10, 5},
                 nameless = {SP_FRAME_RUNTIME, 0, 11, 5},
                 other = {SP_FRAME_RUNTIME, 0, 12, 5};
  const sp_frame_name name = {.function = "one",
                              .function_bytes = 3,
                              .file = "b.rb",
                              .file_bytes = 4,
                              .line = 7,
                              .start_line = 6};
  sp_frame_name found;
  fixture f;
  uint32_t one, two;

  open_tables(&f, &sp_mem_default);
  one = intern(&f, SP_FRAME_RUNTIME, 0, 10, 5);
  two = intern(&f, SP_FRAME_RUNTIME, 0, 11, 5);
  CHECK_EQUAL(sp_frame_table_name_get(&f.frames, &known, &found),
              SPANPROF_ERR_STATE);
  sp_frame_table_name_set(&f.frames, &known, &name);
  sp_frame_table_name_set(
      &f.frames, &known,
      &(sp_frame_name){.function = "x", .function_bytes = 1});
  sp_frame_table_name_set(&f.frames, &nameless, &(sp_frame_name){0});
  sp_frame_table_name_set(&f.frames, &other, &name);
  CHECK_EQUAL(sp_frame_table_name_get(&f.frames, &known, &found), SPANPROF_OK);
  CHECK_EQUAL(found.function_bytes, 3);
  CHECK(memcmp(found.function, "one", 3) == 0);
  CHECK_EQUAL(found.file_bytes, 4);
  CHECK(memcmp(found.file, "b.rb", 4) == 0);
  CHECK_EQUAL(found.line, 7);
  CHECK_EQUAL(found.start_line, 6);
  CHECK_EQUAL(sp_frame_table_name_get(&f.frames, &nameless, &found),
              SPANPROF_OK);
  CHECK(!found.function);
  CHECK_EQUAL(sp_frame_table_name_get(&f.frames, &other, &found),
              SPANPROF_ERR_STATE);
  CHECK_EQUAL(sp_frame_table_name(&f.frames, &f.namer), SPANPROF_OK);
  CHECK_EQUAL(f.fake.calls, 0);
  check_name(&f, one, "one");
  check_name(&f, two, "(unknown)");
  close_tables(&f);
}

static void nameless_native_frames_show_where_they_are(void) {
  fixture f;
  uint32_t mapped, loose;

  open_tables(&f, &sp_mem_default);
  f.fake.nameless = f.fake.mapped = true;
  mapped = intern(&f, SP_FRAME_NATIVE, 1, 0x1a2b, 0);
  CHECK_EQUAL(sp_frame_table_name(&f.frames, &f.namer), SPANPROF_OK);
  f.fake.mapped = false;
  loose = intern(&f, SP_FRAME_NATIVE, 0, 0x99, 0);
  CHECK_EQUAL(sp_frame_table_name(&f.frames, &f.namer), SPANPROF_OK);
  check_name(&f, mapped, "libone.so+0x1a2b");
  check_name(&f, loose, "[unknown]");
  CHECK_EQUAL(f.frames.locations[mapped].mapping, 1);
  CHECK_EQUAL(f.frames.locations[loose].mapping, 0);
  close_tables(&f);
}

static void mappings_are_distinguished_and_the_main_one_is_known(void) {
  static const char *const paths[] = {"/lib/libone.so", "/usr/bin/main",
                                      "/lib/libtwo.so", "/lib/libone.so"};
  uint32_t numbers[SP_COUNT_OF(paths)];
  fixture f;
  size_t i;

  open_tables(&f, &sp_mem_default);
  f.fake.mapped = true;
  for (i = 0; i < SP_COUNT_OF(paths); i++) {
    numbers[i] = intern(&f, SP_FRAME_NATIVE, 1, i, 0);
    f.fake.path = paths[i];
    CHECK_EQUAL(sp_frame_table_name(&f.frames, &f.namer), SPANPROF_OK);
  }
  CHECK_EQUAL(f.frames.mapping_count, 3);
  CHECK_EQUAL(f.frames.main_mapping, 2);
  CHECK_EQUAL(f.frames.locations[numbers[1]].mapping, 2);
  CHECK_EQUAL(f.frames.locations[numbers[2]].mapping, 3);
  CHECK_EQUAL(f.frames.locations[numbers[3]].mapping, 1);
  close_tables(&f);
}

static void scenario_of_failures(const sp_mem *mem) {
  spanprof_status st = SPANPROF_OK;
  fixture f;
  uint64_t i;

  open_tables(&f, mem);
  f.fake.mapped = true;
  for (i = 0; !st && i < 100; i++) {
    const sp_frame frame = {SP_FRAME_NATIVE, 1, i, 0};
    uint32_t number;

    st = sp_frame_table_intern(&f.frames, &frame, &number);
    CHECK(st == SPANPROF_ERR_NOMEM || (!st && number == i));
  }
  if (!st)
    st = sp_frame_table_name(&f.frames, &f.namer);
  CHECK(!st || st == SPANPROF_ERR_NOMEM);
  /* After any failure, named frames keep their names, and the next call names
   * the others. */
  if (!st && !sp_frame_table_name(&f.frames, &f.namer))
    for (i = 0; i < f.frames.location_count; i++)
      CHECK(f.frames.locations[i].function);
  close_tables(&f);
}

static void every_allocation_may_fail(void) {
  failing_mem_sweep(scenario_of_failures);
}

static const check_test tests[] = {
    {"frames_without_a_name_are_visited_once",
     frames_without_a_name_are_visited_once},
    {"a_name_is_set_once_and_found_again", a_name_is_set_once_and_found_again},
    {"every_part_of_a_frame_distinguishes_it",
     every_part_of_a_frame_distinguishes_it},
    {"numbers_stay_as_the_table_grows", numbers_stay_as_the_table_grows},
    {"a_frame_is_named_once", a_frame_is_named_once},
    {"namer_without_a_name_yet_is_called_again",
     namer_without_a_name_yet_is_called_again},
    {"namer_without_any_name_is_called_once",
     namer_without_any_name_is_called_once},
    {"nameless_native_frames_show_where_they_are",
     nameless_native_frames_show_where_they_are},
    {"mappings_are_distinguished_and_the_main_one_is_known",
     mappings_are_distinguished_and_the_main_one_is_known},
    {"every_allocation_may_fail", every_allocation_may_fail},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
