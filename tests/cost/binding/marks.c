/* Functions that cost.rb and cost.py call around the counted code. */
#include <stdio.h>

#include <valgrind/callgrind.h>

void cost_begin(void);
void cost_end(const char *name, int times);

void cost_begin(void) {
  CALLGRIND_ZERO_STATS;
}

/* Let callgrind dump the count since the last dump, as "NAME/TIMES". */
void cost_end(const char *name, int times) {
  char title[64];

  snprintf(title, sizeof title, "%s/%d", name, times);
  CALLGRIND_DUMP_STATS_AT(title);
}
