/* Configuration files: the part of YAML and JSON that is accepted, and error
 * messages. */
#include "server/model/yaml_file.h"

#include <stdlib.h>

#include "failing_mem.h"

static spanprof_status file_of(sp_yaml_file *file, const char *text,
                               const sp_mem *mem) {
  sp_yaml_file_init(file, "--jobs", "jobs.yml", NULL, mem);
  return sp_yaml_file_read(file, text, strlen(text));
}

static const char *text_of(const sp_yaml *map, const char *name) {
  const char *text = NULL;

  CHECK_EQUAL(sp_yaml_text(map, name, &text), SPANPROF_OK);
  return text;
}

static void yaml_and_json_give_the_same_tree(void) {
  static const char *const files[] = {
      "# a comment\n"
      "a: 1.10\n"
      "list:\n"
      "  - x\n"
      "  - 'y z'\n"
      "inside: {b: \"\\u00e9\", on: yes}\n"
      "nothing:\n",
      "{\"a\":1.10,\"list\":[\"x\",\"y z\"],\n"
      "\t\"inside\": {\"b\": \"\\u00e9\", \"on\": true}, \"nothing\": null}",
      "%YAML 1.1\n---\r\na: 1.10\r\nlist: [x, y z]\r\ninside:\r\n"
      "    b: é\r\n    on: True\r\nnothing: ~\r\n...\r\n",
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(files); i++) {
    const sp_yaml *list, *inside;
    bool on = false;
    sp_yaml_file file;

    CHECK_EQUAL(file_of(&file, files[i], &sp_mem_default), SPANPROF_OK);
    CHECK_TEXT(text_of(file.root, "a"), "1.10");
    CHECK_EQUAL(sp_yaml_child(file.root, "list", SP_YAML_LIST, &list),
                SPANPROF_OK);
    CHECK_TEXT(list->first->value->text, "x");
    CHECK_TEXT(list->first->next->value->text, "y z");
    CHECK(!list->first->next->next);
    CHECK_EQUAL(sp_yaml_child(file.root, "inside", SP_YAML_MAP, &inside),
                SPANPROF_OK);
    CHECK_TEXT(text_of(inside, "b"), "é");
    CHECK(!sp_yaml_switch(inside, "on", &on) && on);
    CHECK(!sp_yaml_get(file.root, "nothing"));
    CHECK(!sp_yaml_get(file.root, "absent"));
    sp_yaml_file_dispose(&file);
  }
}

static void aliases_and_merges_are_resolved(void) {
  static const char text[] = "base: &base {a: 1, b: 2}\n"
                             "more: &more {b: 3, c: 4}\n"
                             "same: *base\n"
                             "one:\n  b: own\n  <<: *base\n"
                             "two:\n  <<: [*base, *more]\n";
  const sp_yaml *one, *two;
  sp_yaml_file file;

  CHECK_EQUAL(file_of(&file, text, &sp_mem_default), SPANPROF_OK);
  CHECK(sp_yaml_get(file.root, "same") == sp_yaml_get(file.root, "base"));
  one = sp_yaml_get(file.root, "one");
  CHECK_TEXT(text_of(one, "a"), "1");
  CHECK_TEXT(text_of(one, "b"), "own");
  two = sp_yaml_get(file.root, "two");
  CHECK_TEXT(text_of(two, "b"), "2");
  CHECK_TEXT(text_of(two, "c"), "4");
  CHECK(!sp_yaml_get(two, "<<"));
  sp_yaml_file_dispose(&file);
}

static void errors_have_a_message_with_the_line(void) {
  static const char *const cases[][2] = {
      {"", "line 1: the file is empty"},
      {"a: [1,\nb: 2\n", "the file is not valid YAML: "},
      {"a:\n\t- 1\n",
       "line 2: the file is not valid YAML: found character that cannot"},
      {"a: \"\xff\"", "the file is not valid YAML: "},
      {"a: 1\nb: 2\na: 3\n", "line 3: the key a occurs twice, first in line 1"},
      {"{\"a\": 1,\n\"a\": 2}", "line 2: the key a occurs twice"},
      {"a: 1\n---\nb: 2\n", "line 2: the file has more than one YAML document; "
                            "only one is supported"},
      {"a: *no\n",
       "line 1: an alias refers to &no, which does not occur before it"},
      {"a: &a\n  - *a\n",
       "line 2: the alias *a is inside the value that it refers to"},
      {"a: &a {b: 1}\n*a : 2\n", "line 2: a key must be a text, not an alias"},
      {"? [a]\n: 1\n", "line 1: a key must be a text, not a list"},
      {"a: !!binary aGk=\n",
       "line 1: YAML tags (`!name`) are not supported: remove the tag, or put"},
      {"a: !x {}\n", "line 1: YAML tags (`!name`) are not supported"},
      {"a: \"x\\0y\"\n", "line 1: a text contains a NUL byte"},
      {"a:\n  <<: text\n", "<< needs an alias of a map"},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(cases); i++) {
    sp_yaml_file file;

    CHECK_EQUAL(file_of(&file, cases[i][0], &sp_mem_default),
                SPANPROF_ERR_ARGUMENT);
    if (!strstr(spanprof_last_error(), cases[i][1]))
      CHECK_TEXT(spanprof_last_error(), cases[i][1]);
    CHECK(strstr(spanprof_last_error(), "--jobs jobs.yml, line ") ==
          spanprof_last_error());
    sp_yaml_file_dispose(&file);
  }
}

/* Nine levels of lists, each with nine aliases of the level before, would have
 * 9^9 values. */
static void exponential_aliases_are_refused(void) {
  char text[4096];
  size_t size, level, i;
  sp_yaml_file file;

  size = (size_t)snprintf(text, sizeof text, "l0: &l0 [x]\n");
  for (level = 1; level < 10; level++) {
    size += (size_t)snprintf(text + size, sizeof text - size, "l%zu: &l%zu [",
                             level, level);
    for (i = 0; i < 9; i++)
      size += (size_t)snprintf(text + size, sizeof text - size, "%s*l%zu",
                               i ? ", " : "", level - 1);
    size += (size_t)snprintf(text + size, sizeof text - size, "]\n");
  }
  CHECK_EQUAL(file_of(&file, text, &sp_mem_default), SPANPROF_ERR_ARGUMENT);
  CHECK(strstr(spanprof_last_error(), "line 6: the file has too many values"));
  CHECK(file.arena.bytes < 100000);
  sp_yaml_file_dispose(&file);
}

static void depth_keys_and_values_are_bounded(void) {
  char *text = malloc(SP_YAML_BYTES_MAX);
  size_t size = 0, i;
  sp_yaml_file file;

  memset(text, '[', SP_YAML_DEPTH_MAX + 1);
  text[SP_YAML_DEPTH_MAX + 1] = '\0';
  CHECK_EQUAL(file_of(&file, text, &sp_mem_default), SPANPROF_ERR_ARGUMENT);
  CHECK(strstr(spanprof_last_error(), "too deeply"));
  sp_yaml_file_dispose(&file);

  for (i = 0; i <= SP_YAML_KEYS_MAX; i++)
    size +=
        (size_t)snprintf(text + size, SP_YAML_BYTES_MAX - size, "k%zu: 1\n", i);
  CHECK_EQUAL(file_of(&file, text, &sp_mem_default), SPANPROF_ERR_ARGUMENT);
  CHECK(strstr(spanprof_last_error(), "line 1001: a map has too many keys"));
  sp_yaml_file_dispose(&file);

  memset(text, ',', SP_YAML_BYTES_MAX);
  for (i = 1; i < SP_YAML_BYTES_MAX - 1; i += 2)
    text[i] = 'x';
  text[0] = '[';
  text[SP_YAML_BYTES_MAX - 1] = '\0';
  CHECK_EQUAL(file_of(&file, text, &sp_mem_default), SPANPROF_ERR_ARGUMENT);
  CHECK(strstr(spanprof_last_error(), "too many values"));
  sp_yaml_file_dispose(&file);
  free(text);
}

static void keep_line(void *data, spanprof_log_level level, const char *line) {
  (void)level;
  strcat(data, line);
  strcat(data, "\n");
}

static void keys_are_read_ignored_or_refused(void) {
  static const char *const read[] = {"scrape_interval", "targets", NULL};
  static const char *const left_out[] = {"*_sd_configs", "proxy_url", NULL};
  static const sp_yaml_keys keys = {read, left_out};
  char said[512] = "";
  sp_yaml_file file;
  bool on;
  sp_log log;

  sp_log_init(&log, keep_line, said, SPANPROF_LOG_INFO, sp_clock_system());
  CHECK_EQUAL(file_of(&file, "targets: []\nproxy_url: x\ndns_sd_configs: []\n",
                      &sp_mem_default),
              SPANPROF_OK);
  file.log = &log;
  CHECK_EQUAL(sp_yaml_check_keys(file.root, "job shop", &keys), SPANPROF_OK);
  CHECK_TEXT(said, "--jobs jobs.yml, line 2: proxy_url of job shop is ignored\n"
                   "--jobs jobs.yml, line 3: dns_sd_configs of job shop is "
                   "ignored\n");
  sp_yaml_file_dispose(&file);

  CHECK_EQUAL(file_of(&file, "targets: 'true'\nscrape_intervall: 1s\n",
                      &sp_mem_default),
              SPANPROF_OK);
  CHECK_EQUAL(sp_yaml_check_keys(file.root, "job shop", &keys),
              SPANPROF_ERR_ARGUMENT);
  CHECK_TEXT(spanprof_last_error(),
             "--jobs jobs.yml, line 2: job shop has no key "
             "\"scrape_intervall\": did you mean scrape_interval?");
  CHECK_EQUAL(sp_yaml_switch(file.root, "targets", &on), SPANPROF_ERR_ARGUMENT);
  CHECK(strstr(spanprof_last_error(), "line 1: targets must be true or false"));
  sp_yaml_file_dispose(&file);
}

static void file_scenario(const sp_mem *mem) {
  sp_yaml_file file;
  spanprof_status st =
      file_of(&file, "a: &a {b: [1, 2]}\nc: {<<: *a, d: x}\n", mem);

  CHECK(!st || st == SPANPROF_ERR_NOMEM);
  sp_yaml_file_dispose(&file);
}

static void failed_allocations_are_handled(void) {
  failing_mem_sweep(file_scenario);
}

static const check_test tests[] = {
    {"yaml_and_json_give_the_same_tree", yaml_and_json_give_the_same_tree},
    {"aliases_and_merges_are_resolved", aliases_and_merges_are_resolved},
    {"errors_have_a_message_with_the_line",
     errors_have_a_message_with_the_line},
    {"exponential_aliases_are_refused", exponential_aliases_are_refused},
    {"depth_keys_and_values_are_bounded", depth_keys_and_values_are_bounded},
    {"keys_are_read_ignored_or_refused", keys_are_read_ignored_or_refused},
    {"failed_allocations_are_handled", failed_allocations_are_handled},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
