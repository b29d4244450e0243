#include "export/upload/series_comments.h"

#include <string.h>

#include "export_fixture.h"
#include "failing_mem.h"
#include "profile/pprof/pprof_reader.h"
#include "sample_pprof.h"

static sp_pair labels_given[] = {{(char *)"region", (char *)"eu=north, a"},
                                 {(char *)"zone", (char *)"\xc3\xa9"}};

static sp_series series_of(const sp_mem *mem) {
  const sp_series_facts facts = {.runtime_name = (char *)"ruby"};
  sp_settings settings = usual_settings();
  sp_series series;

  settings.labels = labels_given;
  settings.label_count = 2;
  CHECK(!sp_series_init(&series, mem, &settings, &facts));
  return series;
}

/* Create the content of a file with a profile and its series. */
static void file_make(const sp_series *series, size_t filler, sp_buffer *out) {
  sp_encoded part = sample_pprof(&sp_mem_default, 1234, 1, 10, filler);

  sp_buffer_init(out, &sp_mem_default);
  sp_buffer_append(out, part.bytes, part.size);
  sp_series_comments_write(series, part.text_count, out);
  CHECK(!sp_buffer_status(out));
  sp_encoded_dispose(&part);
}

static void a_file_contains_its_series(void) {
  sp_series series = series_of(&sp_mem_default), read;
  size_t filler;

  for (filler = 0; filler < 200; filler += 100) {
    sp_pprof *profile;
    sp_buffer file;

    file_make(&series, filler, &file);
    CHECK(!sp_pprof_read(&profile, &sp_mem_default, file.data, file.size));
    CHECK_EQUAL(profile->comment_count, (filler ? 1 : 0) + series.count);
    CHECK_EQUAL(profile->sample_count, 1);
    CHECK(!sp_series_comments_read(profile->comments, profile->comment_count,
                                   &sp_mem_default, &read));
    CHECK_EQUAL(read.size, series.size);
    CHECK(memcmp(read.text, series.text, series.size) == 0);
    sp_series_dispose(&read);
    sp_pprof_free(profile);
    sp_buffer_dispose(&file);
  }
  sp_series_dispose(&series);
}

static void other_comments_contain_no_series(void) {
  static const char *const comments[] = {"label", "label x", "label a=b",
                                         "labels service_name=x", ""};
  static const char *const many[] = {"made by hand", "label service_name=shop",
                                     "label =x"};
  sp_series series;

  CHECK_EQUAL(sp_series_comments_read(comments, 5, &sp_mem_default, &series),
              SPANPROF_ERR_FORMAT);
  CHECK_EQUAL(sp_series_comments_read(NULL, 0, &sp_mem_default, &series),
              SPANPROF_ERR_FORMAT);
  CHECK(!sp_series_comments_read(many, 3, &sp_mem_default, &series));
  CHECK_EQUAL(series.count, 1);
  sp_series_dispose(&series);
}

static void comments_some(const sp_mem *mem) {
  static const char *const comments[] = {"label service_name=shop",
                                         "label a=b"};
  sp_series series = series_of(&sp_mem_default), read;
  sp_buffer out;

  sp_buffer_init(&out, mem);
  sp_series_comments_write(&series, 5, &out);
  sp_buffer_dispose(&out);
  sp_series_dispose(&series);
  if (!sp_series_comments_read(comments, 2, mem, &read))
    sp_series_dispose(&read);
}

static void comments_survive_failing_memory(void) {
  failing_mem_sweep(comments_some);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"a_file_contains_its_series", a_file_contains_its_series},
      {"other_comments_contain_no_series", other_comments_contain_no_series},
      {"comments_survive_failing_memory", comments_survive_failing_memory},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
