#include "check.h"
#include "command/shared/profile_origin.h"

static const char *const comments[] = {
    "spanprof 0.1.0",       "label __name__=process_cpu",
    "label region=eu=west", "label =x",
    "label none",           "label service_name=checkout"};
static const sp_pprof profile = {.comments = comments,
                                 .comment_count = SP_COUNT_OF(comments),
                                 .time_ns = 100,
                                 .duration_ns = 50};

static void labels_of_a_profile_are_in_its_comments(void) {
  CHECK_TEXT(sp_profile_label(&profile, "service_name", 12), "checkout");
  CHECK_TEXT(sp_profile_label(&profile, "region", 6), "eu=west");
  CHECK(!sp_profile_label(&profile, "service", 7));
  CHECK(!sp_profile_label(&profile, "none", 4));
  CHECK(!sp_profile_label(&profile, "", 0));
}

static void processes_are_in_the_names_of_files(void) {
  static const struct {
    const char *path;
    uint64_t process;
  } table[] = {
      {"/out-1/checkout-12534-1795434493359169930.pb.gz", 12534},
      {"a-b-c-7-8.pb.gz", 7},
      {"checkout-12534.pb.gz", 0},
      {"12534-1795434493359169930.pb.gz", 0},
      {"checkout-x-1795434493359169930.pb.gz", 0},
      {"checkout-12534-1795434493359169930.pb", 0},
      {".pb.gz", 0},
      {"-", 0},
  };
  sp_profile_origin origin;
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    sp_profile_origin_read(&origin, &profile, table[i].path);
    CHECK_EQUAL(origin.process, table[i].process);
    CHECK_TEXT(origin.application, "checkout");
    CHECK_EQUAL(origin.start_ns, 100);
    CHECK_EQUAL(origin.end_ns, 150);
  }
}

static void filters_select_overlapping_profiles(void) {
  static const struct {
    uint64_t from_ns, until_ns;
    bool taken;
  } table[] = {{0, 0, true},    {149, 0, true},   {150, 0, false},
               {0, 100, false}, {0, 101, true},   {120, 130, true},
               {1, 99, false},  {200, 300, false}};
  const sp_profile_origin timeless = {.application = "checkout"};
  sp_profile_filter filter = {0};
  sp_profile_origin origin;
  size_t i;

  sp_profile_origin_read(&origin, &profile, "checkout-7-8.pb.gz");
  for (i = 0; i < SP_COUNT_OF(table); i++) {
    filter.from_ns = table[i].from_ns;
    filter.until_ns = table[i].until_ns;
    CHECK_EQUAL(sp_profile_filter_matches(&filter, &origin), table[i].taken);
    CHECK_EQUAL(sp_profile_filter_matches(&filter, &timeless), i == 0);
  }
  filter = (sp_profile_filter){.application = "checkout", .process = 7};
  CHECK(sp_profile_filter_matches(&filter, &origin));
  CHECK(!sp_profile_filter_matches(&filter, &timeless));
  filter.application = "cart";
  CHECK(!sp_profile_filter_matches(&filter, &origin));
  origin.application = NULL;
  CHECK(!sp_profile_filter_matches(&filter, &origin));
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"labels of a profile are in its comments",
       labels_of_a_profile_are_in_its_comments},
      {"processes are in the names of files",
       processes_are_in_the_names_of_files},
      {"filters select overlapping profiles",
       filters_select_overlapping_profiles},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
