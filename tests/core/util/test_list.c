#include "util/text/list.h"

#include <stdio.h>

#include "check.h"

/* Write the items with their numbers, such as "[1:a][3:b]", or as pairs that
 * are split at `mark`. */
static void list_show(sp_list list, char mark, char *out, size_t size) {
  sp_name_value pair;
  size_t used = 0;

  out[0] = '\0';
  while (sp_list_next(&list)) {
    if (mark && sp_list_pair(&list, mark, &pair))
      used += (size_t)snprintf(out + used, size - used, "[%.*s|%.*s]",
                               (int)pair.name_bytes, pair.name,
                               (int)pair.value_bytes, pair.value);
    else
      used +=
          (size_t)snprintf(out + used, size - used, "[%zu:%.*s]", list.number,
                           (int)(list.end - list.start), list.start);
  }
}

static void items_are_trimmed_and_empty_ones_skipped(void) {
  static const struct {
    const char *text;
    char separator;
    const char *shown;
  } rows[] = {
      {NULL, ',', ""},
      {"", ',', ""},
      {" , \t,", ',', ""},
      {"a", ',', "[1:a]"},
      {" a b ,,\tc", ',', "[1:a b][3:c]"},
      {"a\r,b\r", ',', "[1:a\r][2:b\r]"},
      {"a\r\n\r\n b \r\nc", '\n', "[1:a][3:b][4:c]"},
  };
  char shown[200];
  size_t i;

  for (i = 0; i < SP_COUNT_OF(rows); i++) {
    list_show(sp_list_of(rows[i].text, rows[i].separator), 0, shown,
              sizeof shown);
    CHECK_TEXT(shown, rows[i].shown);
  }
}

static void pairs_are_split_at_the_first_mark(void) {
  char shown[200];

  list_show(sp_list_of("a=b, c = d = e ,=f,g=,h", ','), '=', shown,
            sizeof shown);
  CHECK_TEXT(shown, "[a|b][c|d = e][|f][g|][5:h]");
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"items_are_trimmed_and_empty_ones_skipped",
       items_are_trimmed_and_empty_ones_skipped},
      {"pairs_are_split_at_the_first_mark", pairs_are_split_at_the_first_mark},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
