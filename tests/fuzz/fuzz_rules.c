/* Parses the server's configuration: rules of exported metrics and scrape
 * targets, on the command line and in files. Any text is either refused with a
 * message, or gives complete rules and probes (a probe is one profile of a
 * target). The first byte of the input selects one of the four parsers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "server/exported/metric_rule.h"
#include "server/scrape/scrape_plan.h"
#include "util/system/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Check that a refusal has a message. */
static void check(spanprof_status st) {
  if (st && !spanprof_last_error()[0])
    abort();
}

static void metrics(bool file, const char *text) {
  sp_metric_rules rules;
  size_t i;

  if (!sp_metric_rules_init(&rules, &sp_mem_default)) {
    check(file ? sp_metric_rules_add_file(&rules, text)
               : sp_metric_rules_add(&rules, text));
    for (i = 0; i < rules.count; i++)
      if (!rules.rules[i].name[0] || !rules.rules[i].type ||
          !rules.rules[i].query ||
          rules.rules[i].group_count > SP_METRIC_LABELS_MAX ||
          rules.rules[i].constant_count > SP_METRIC_LABELS_MAX)
        abort();
  }
  sp_metric_rules_dispose(&rules);
}

static void scrapes(bool file, const char *text) {
  sp_scrape_plan plan;
  size_t i;

  sp_scrape_plan_init(&plan, &sp_mem_default);
  check(file ? sp_scrape_plan_add_file(&plan, text, NULL)
             : sp_scrape_plan_add_url(&plan, text));
  if (plan.count > SP_SCRAPE_PROBES_MAX)
    abort();
  for (i = 0; i < plan.count; i++)
    if (strncmp(plan.probes[i].url, "http", 4) != 0 ||
        plan.probes[i].label_count > SP_SCRAPE_LABELS_MAX ||
        !plan.probes[i].interval_ns)
      abort();
  sp_scrape_plan_dispose(&plan);
}

/* Read the data as a file that exists only in memory. */
static void with_file(void (*read)(bool, const char *), const uint8_t *data,
                      size_t size) {
  const int file = memfd_create("rules", MFD_CLOEXEC);
  char path[64];

  if (file < 0 || write(file, data, size) != (ssize_t)size)
    abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  read(true, path);
  close(file);
}

static void with_text(void (*read)(bool, const char *), const uint8_t *data,
                      size_t size) {
  char *text = sp_mem_text(&sp_mem_default, (const char *)data, size);

  if (text)
    read(false, text);
  sp_mem_free(&sp_mem_default, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  switch (data[0]) {
  case 'm':
    with_text(metrics, data + 1, size - 1);
    break;
  case 'M':
    with_file(metrics, data + 1, size - 1);
    break;
  case 's':
    with_text(scrapes, data + 1, size - 1);
    break;
  case 'S':
    with_file(scrapes, data + 1, size - 1);
    break;
  default:
    break;
  }
  return 0;
}
