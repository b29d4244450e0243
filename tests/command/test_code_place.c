#include "command/shared/code_place.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

#define FILES_MAX 40

/* A row of the table that the page's tests read, too. */
typedef struct row {
  char file[300];
  char kind[20];
  char short_path[300];
} row;

static const char *const kinds[] = {"none",    "application", "program",
                                    "package", "library",     "module"};

/* Split a line with the columns file, kind, package and short path. */
static void row_read(char *line, row *out) {
  char *columns[4] = {"", "", "", ""}, *at = line;
  int i;

  line[strcspn(line, "\n")] = '\0';
  for (i = 0; i < 4 && at; i++)
    columns[i] = strsep(&at, "\t");
  snprintf(out->file, sizeof out->file, "%s", columns[0]);
  snprintf(out->kind, sizeof out->kind, "%s", columns[1]);
  snprintf(out->short_path, sizeof out->short_path, "%s", columns[3]);
}

static void profile_check(const sp_code_rules *rules, const row *rows,
                          size_t count) {
  sp_code_folder folder = {0};
  sp_code_place place;
  char text[600];
  size_t i;

  for (i = 0; i < count; i++) {
    place = sp_code_place_of(rules, rows[i].file);
    CHECK_TEXT(kinds[place.kind], rows[i].kind);
    if (place.kind == SP_CODE_APPLICATION)
      sp_code_folder_add(&folder, rows[i].file);
  }
  for (i = 0; i < count; i++) {
    place = sp_code_place_of(rules, rows[i].file);
    if (place.kind == SP_CODE_APPLICATION)
      place.path = sp_code_folder_below(&folder, place.path);
    snprintf(text, sizeof text, "%s%s", place.label, place.path);
    CHECK_TEXT(text, rows[i].short_path);
  }
}

static void files_have_the_same_place_as_on_the_page(void) {
  FILE *table = fopen(SP_CODE_CASES, "r");
  static row rows[FILES_MAX];
  sp_code_rules rules;
  size_t count = 0, all = 0;
  char line[1000];

  CHECK(table);
  CHECK_EQUAL(sp_code_rules_init(&rules), SPANPROF_OK);
  while (fgets(line, sizeof line, table)) {
    if (line[0] == '#')
      continue;
    if (line[0] == '\n') {
      profile_check(&rules, rows, count);
      count = 0;
      continue;
    }
    CHECK(count < FILES_MAX);
    row_read(line, &rows[count++]);
    all++;
  }
  profile_check(&rules, rows, count);
  CHECK(all > 60);
  fclose(table);
  sp_code_rules_dispose(&rules);
}

static void a_very_long_path_is_the_program_s(void) {
  static char path[100000];
  sp_code_rules rules;

  memset(path, '/', sizeof path - 1);
  CHECK_EQUAL(sp_code_rules_init(&rules), SPANPROF_OK);
  CHECK_EQUAL(sp_code_place_of(&rules, path).kind, SP_CODE_APPLICATION);
  sp_code_rules_dispose(&rules);
}

static const check_test tests[] = {
    {"files_have_the_same_place_as_on_the_page",
     files_have_the_same_place_as_on_the_page},
    {"a_very_long_path_is_the_program_s", a_very_long_path_is_the_program_s},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
