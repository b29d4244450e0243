#include "check.h"
#include "failing_mem.h"
#include "formats/foreign_file.h"
#include "formats/json_tree.h"

#include <dirent.h>
#include <math.h>

#include "command/shared/profile_list.h"

static spanprof_status parse(sp_arena *arena, const char *text,
                             const sp_json_node **out) {
  sp_arena_init(arena, &sp_mem_default, 1 << 20);
  return sp_json_parse(out, arena, text, strlen(text));
}

static void json_is_read(void) {
  const sp_json_node *root, *list;
  sp_arena arena;

  CHECK(!parse(&arena,
               " {\"a\\u00e9\\n\": [1, -2.5e1, 0.1, 12345678901234567890123], "
               "\"e\": {}, \"l\":[[],[null,true]], \"h\": \"\\ud800x\"} ",
               &root));
  list = sp_json_member(root, "a\xc3\xa9\n");
  CHECK_EQUAL(sp_json_count(list), 4);
  CHECK(sp_json_number(sp_json_item(list, 0), 0) == 1);
  CHECK(sp_json_number(sp_json_item(list, 1), 0) == -25);
  CHECK(sp_json_number(sp_json_item(list, 2), 0) == 0.1);
  CHECK(fabs(sp_json_number(sp_json_item(list, 3), 0) /
                 12345678901234567890123.0 -
             1) < 1e-15);
  CHECK_EQUAL(sp_json_item(list, 4)->kind, SP_JSON_NULL);
  CHECK_EQUAL(sp_json_index(sp_json_item(list, 1)), UINT32_MAX);
  CHECK_EQUAL(sp_json_member(root, "e")->kind, SP_JSON_OBJECT);
  CHECK_EQUAL(sp_json_count(sp_json_item(sp_json_member(root, "l"), 1)), 2);
  CHECK(sp_view_is(sp_json_view(sp_json_member(root, "h")), "\xef\xbf\xbdx"));
  CHECK_EQUAL(sp_json_member(root, "missing")->kind, SP_JSON_NULL);
  sp_arena_dispose(&arena);
}

static void other_texts_are_refused(void) {
  static const char *const texts[] = {
      "",   "[1,]", "{\"a\"}", "{\"a\":}",   "{,}",     "[1 2]", "[1",
      "]",  "\"a",  "\"a\\\"", "\"\\x\"",    "[1]x",    "{1:2}", "-",
      "1.", "1e",   "nul",     "{\"a\":1,}", "[\"\n\"]"};
  const sp_json_node *root;
  sp_arena arena;
  size_t i;

  for (i = 0; i < SP_COUNT_OF(texts); i++) {
    CHECK_EQUAL(parse(&arena, texts[i], &root), SPANPROF_ERR_FORMAT);
    sp_arena_dispose(&arena);
  }
}

/* A list in a list in a list …, which a recursive parser could not read. */
static void json_of_any_depth_is_read(void) {
  static char text[200001];
  const sp_json_node *root;
  sp_arena arena;

  memset(text, '[', 100000);
  memset(text + 100000, ']', 100000);
  sp_arena_init(&arena, &sp_mem_default, 16 << 20);
  CHECK(!sp_json_parse(&root, &arena, text, 200000));
  CHECK_EQUAL(sp_json_count(root), 1);
  sp_arena_dispose(&arena);
}

static sp_foreign_file read_text(const char *name, const char *text) {
  sp_foreign_file file;

  CHECK_EQUAL(
      sp_foreign_file_read(&file, &sp_mem_default, name, text, strlen(text)),
      SPANPROF_OK);
  return file;
}

static void stacks_are_added_up(void) {
  sp_foreign_file file = read_text("a.folded", "a;b 0.25\na;b 0.75\na 2\n");
  const sp_pprof *profile = file.profile;

  CHECK(file.is_folded && file.is_other);
  CHECK_EQUAL(file.type_count, 1);
  CHECK_EQUAL(profile->type_count, 1);
  CHECK_TEXT(profile->types[0].type, "samples");
  CHECK_EQUAL(profile->sample_count, 2);
  CHECK_EQUAL(profile->samples[0].values[0], 1);
  CHECK_EQUAL(profile->samples[0].location_count, 2);
  CHECK_TEXT(profile->functions[profile->samples[0].locations[0]].name, "b");
  CHECK_EQUAL(profile->samples[1].values[0], 2);
  sp_pprof_free(file.profile);
}

static void samples_are_counted_beside_another_type(void) {
  static const char text[] =
      "{\"mode\":\"wall\",\"interval\":1000,\"frames\":{\"7\":{\"name\":\"f\","
      "\"file\":\"a.rb\",\"line\":3}},\"raw\":[1,7,4,2,7,7,1]}";
  sp_foreign_file file = read_text("a.json", text);
  const sp_pprof *profile = file.profile;

  CHECK_EQUAL(file.type_count, 1);
  CHECK_EQUAL(profile->type_count, 2);
  CHECK_TEXT(profile->types[0].type, "wall");
  CHECK_TEXT(profile->types[0].unit, "nanoseconds");
  CHECK_TEXT(profile->types[1].type, "samples");
  CHECK_EQUAL(profile->samples[0].values[0], 4000000);
  CHECK_EQUAL(profile->samples[0].values[1], 4);
  CHECK_EQUAL(profile->samples[1].location_count, 2);
  CHECK_EQUAL(profile->functions[0].start_line, 3);
  sp_pprof_free(file.profile);
}

static void values_of_firefox_are_in_one_sample(void) {
  static const char text[] =
      "{\"meta\":{\"sampleUnits\":{\"threadCPUDelta\":\"ns\"}},\"threads\":[{"
      "\"samples\":{\"stack\":[0,0],\"weight\":[2,3],\"threadCPUDelta\":[4,5]},"
      "\"stackTable\":{\"frame\":[0],\"prefix\":[null]},\"frameTable\":{"
      "\"func\":"
      "[0]},\"funcTable\":{\"name\":[0]},\"stringArray\":[\"f\"]}]}";
  sp_foreign_file file = read_text("a.json", text);
  const sp_pprof *profile = file.profile;

  CHECK_EQUAL(profile->type_count, 2);
  CHECK_EQUAL(profile->sample_count, 1);
  CHECK_TEXT(profile->types[profile->default_type].type, "cpu");
  CHECK_EQUAL(profile->samples[0].values[0], 5);
  CHECK_EQUAL(profile->samples[0].values[1], 9);
  CHECK_EQUAL(profile->samples[0].label_count, 0);
  sp_pprof_free(file.profile);
}

static void malformed_files_are_refused(void) {
  static const char *const texts[] = {
      "{\"mode\":\"wall\",\"interval\":1,\"frames\":{},\"raw\":[1,7,4]}",
      "{\"mode\":\"wall\",\"interval\":1,\"frames\":{},\"raw\":[9]}",
      "{\"profiles\":[{\"samples\":[[1]],\"weights\":[1]}],"
      "\"shared\":{\"frames\":[]}}",
      "{\"profiles\":[{\"type\":\"evented\",\"events\":[{\"type\":\"C\","
      "\"frame\":0,\"at\":1}]}],\"shared\":{\"frames\":[{}]}}",
      "{\"nodes\":[{\"id\":1,\"parent\":2,\"hitCount\":1,\"callFrame\":{}},"
      "{\"id\":2,\"parent\":1,\"callFrame\":{}}]}",
      "{\"meta\":{},\"threads\":[{\"samples\":{\"stack\":[0]},\"stackTable\":"
      "{\"frame\":[0],\"prefix\":[0]},\"frameTable\":{\"func\":[0]},"
      "\"funcTable\":{\"name\":[0]},\"stringArray\":[\"f\"]}]}",
      "{\"meta\":{},\"threads\":[]}",
      "{\"flamebearer\":{\"names\":[\"total\"],\"levels\":[[0,1,0,0],[0,1,1,1]]"
      "}}",
      "{\"flamebearer\":{\"names\":[\"total\"],\"levels\":[[-1,1,1,0]]}}",
      "[{\"ph\":\"X\",\"name\":\"RunTask\"}]",
      "[{\"ph\":\"P\",\"name\":\"ProfileChunk\",\"args\":{\"data\":{"
      "\"timeDeltas\":[0,1],\"cpuProfile\":{\"samples\":[1,1],\"nodes\":[{"
      "\"id\":1,"
      "\"parent\":2,\"callFrame\":{}},{\"id\":2,\"parent\":1,\"callFrame\":{}}]"
      "}}}}]"};
  sp_foreign_file file;
  size_t i;

  for (i = 0; i < SP_COUNT_OF(texts); i++) {
    CHECK_EQUAL(sp_foreign_file_read(&file, &sp_mem_default, "a.json", texts[i],
                                     strlen(texts[i])),
                SPANPROF_ERR_FORMAT);
    CHECK(!file.profile);
  }
}

static char *corpus_bytes;
static size_t corpus_size;

static void read_corpus_file(const sp_mem *mem) {
  sp_foreign_file file;

  sp_foreign_file_read(&file, mem, "a.folded", corpus_bytes, corpus_size);
  sp_pprof_free(file.profile);
}

static void no_memory_is_lost(void) {
  DIR *directory = opendir(SP_CORPUS);
  const struct dirent *entry;
  char path[400];

  CHECK(directory);
  while ((entry = readdir(directory)) != NULL) {
    if (entry->d_name[0] == '.')
      continue;
    snprintf(path, sizeof path, "%s%s", SP_CORPUS, entry->d_name);
    CHECK(!sp_profile_file_read(path, &sp_mem_default, &corpus_bytes,
                                &corpus_size));
    failing_mem_sweep(read_corpus_file);
    sp_mem_free(&sp_mem_default, corpus_bytes);
  }
  closedir(directory);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"JSON is read", json_is_read},
      {"other texts are refused", other_texts_are_refused},
      {"JSON of any depth is read", json_of_any_depth_is_read},
      {"stacks are added up", stacks_are_added_up},
      {"samples are counted beside another type",
       samples_are_counted_beside_another_type},
      {"the values of a Firefox profile are in one sample",
       values_of_firefox_are_in_one_sample},
      {"malformed files are refused", malformed_files_are_refused},
      {"no memory is lost if requests fail", no_memory_is_lost},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
