/* The probes that result from --scrape and from files of jobs. A probe is one
 * profile of one target. */
#include "server/scrape/scrape_plan.h"

#include <unistd.h>

#include "failing_mem.h"

static const char plan_jobs[] =
    "{\"global\": {\"scrape_interval\": \"10s\", \"scrape_timeout\": \"3s\"},"
    " \"scrape_configs\": ["
    "{\"job_name\": \"shop\", \"scheme\": \"https\","
    " \"metrics_path\": \"/pprof/\", \"basic_auth\":"
    " {\"username\": \"u\", \"password\": \"p\"},"
    " \"static_configs\": [{\"targets\": [\"a:1\", \"[::1]\"],"
    " \"labels\": {\"env\": \"prod\", \"service_name\": \"cart\"}}],"
    " \"profiling_config\": {\"path_prefix\": \"/x\", \"pprof_config\":"
    " {\"block\": {\"enabled\": false}, \"fgprof\":"
    " {\"path\": \"/fg\", \"delta\": true}}}}]}";

static spanprof_status plan_file(sp_scrape_plan *plan, const char *text) {
  char path[] = "/tmp/spanprof-jobs-XXXXXX";
  int file = mkstemp(path);
  spanprof_status st;

  CHECK(file >= 0);
  CHECK_EQUAL(write(file, text, strlen(text)), strlen(text));
  close(file);
  st = sp_scrape_plan_add_file(plan, path, NULL);
  unlink(path);
  return st;
}

static const char *label_of(const sp_scrape_probe *probe, const char *name) {
  size_t i;

  for (i = 0; i < probe->label_count; i++)
    if (strcmp(probe->labels[i].name, name) == 0)
      return probe->labels[i].value;
  return NULL;
}

static void a_url_selects_all_profiles_or_one(void) {
  static const struct {
    const char *given;
    size_t count;
    const char *first;
    const char *kind;
  } cases[] = {
      {"http://h", 5, "http://h:80/debug/pprof/profile?seconds=14",
       "process_cpu"},
      {"https://h:6060/", 5, "https://h:6060/debug/pprof/profile?seconds=14",
       "process_cpu"},
      {"http://h:1/a/pprof/", 5, "http://h:1/a/pprof/profile?seconds=14",
       "process_cpu"},
      {"http://h:1/debug/pprof/heap", 1, "http://h:1/debug/pprof/heap",
       "memory"},
      {"http://h:1/debug/pprof/allocs?gc=1", 1,
       "http://h:1/debug/pprof/allocs?gc=1", "memory"},
      {"http://h:1/x/profile?seconds=5", 1, "http://h:1/x/profile?seconds=5",
       "process_cpu"},
      {"http://h:1/x/profile?a=b", 1, "http://h:1/x/profile?a=b&seconds=14",
       "process_cpu"},
      {"http://[::1]:6060/mutex", 1, "http://[::1]:6060/mutex", "mutex"},
      {"http://u:s3cret@h:1/block", 1, "http://h:1/block", "block"},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(cases); i++) {
    sp_scrape_plan plan;

    sp_scrape_plan_init(&plan, &sp_mem_default);
    CHECK_EQUAL(sp_scrape_plan_add_url(&plan, cases[i].given), SPANPROF_OK);
    CHECK_EQUAL(plan.count, cases[i].count);
    CHECK_EQUAL(plan.target_count, 1);
    CHECK_TEXT(plan.probes[0].url, cases[i].first);
    CHECK_TEXT(plan.probes[0].kind.name, cases[i].kind);
    CHECK_EQUAL(plan.probes[0].optional, cases[i].count > 1);
    sp_scrape_plan_dispose(&plan);
  }
}

static void timeouts_include_the_duration_of_the_profile(void) {
  sp_scrape_plan plan;

  sp_scrape_plan_init(&plan, &sp_mem_default);
  CHECK(!sp_scrape_plan_add_url(&plan, "http://h:1/x/profile?seconds=9999"));
  CHECK(!sp_scrape_plan_add_url(&plan, "http://h:1/heap"));
  CHECK_EQUAL(plan.probes[0].timeout_ns, 310 * SP_NS_PER_S);
  CHECK_EQUAL(plan.probes[1].timeout_ns, 10 * SP_NS_PER_S);
  CHECK_EQUAL(plan.probes[1].interval_ns, 15 * SP_NS_PER_S);
  sp_scrape_plan_dispose(&plan);
}

static void labels_follow_the_url(void) {
  sp_scrape_plan plan;

  sp_scrape_plan_init(&plan, &sp_mem_default);
  CHECK(
      !sp_scrape_plan_add_url(&plan, "http://u:p%40q@h:1/heap,team=b,job=x=y"));
  CHECK_TEXT(label_of(&plan.probes[0], "team"), "b");
  CHECK_TEXT(label_of(&plan.probes[0], "job"), "x=y");
  CHECK_TEXT(label_of(&plan.probes[0], "instance"), "h:1");
  CHECK_TEXT(label_of(&plan.probes[0], "service_name"), "h:1");
  CHECK_TEXT(plan.probes[0].access.user, "u");
  CHECK_TEXT(plan.probes[0].access.password, "p@q");
  sp_scrape_plan_dispose(&plan);
}

static void a_file_has_jobs(void) {
  sp_scrape_plan plan;
  const sp_scrape_probe *probe;

  sp_scrape_plan_init(&plan, &sp_mem_default);
  CHECK_EQUAL(plan_file(&plan, plan_jobs), SPANPROF_OK);
  CHECK_EQUAL(plan.target_count, 2);
  /* Each of the two targets has four usual probes and one more. */
  CHECK_EQUAL(plan.count, 10);
  probe = &plan.probes[0];
  CHECK_TEXT(probe->url, "https://a:1/x/pprof/profile?seconds=9");
  CHECK_EQUAL(probe->interval_ns, 10 * SP_NS_PER_S);
  CHECK_EQUAL(probe->timeout_ns, 12 * SP_NS_PER_S);
  CHECK_TEXT(label_of(probe, "service_name"), "cart");
  CHECK_TEXT(label_of(probe, "job"), "shop");
  CHECK_TEXT(label_of(probe, "env"), "prod");
  CHECK_TEXT(probe->access.user, "u");
  CHECK(probe->optional);
  probe = &plan.probes[4];
  CHECK_TEXT(probe->kind.metric, "fgprof");
  CHECK_TEXT(probe->url, "https://a:1/x/fg?seconds=9");
  CHECK(!probe->optional);
  CHECK_TEXT(plan.probes[5].instance, "[::1]:443");
  CHECK_EQUAL(plan.probes[5].target, 1);
  sp_scrape_plan_dispose(&plan);
}

static void keep_line(void *data, spanprof_log_level level, const char *line) {
  (void)level;
  strcat(data, line);
  strcat(data, "\n");
}

/* The file is typical of Prometheus, and has keys of Prometheus and Parca that
 * are not supported. */
static void a_file_of_prometheus_is_read(void) {
  static const char text[] =
      "# my global config\n"
      "global:\n"
      "  scrape_interval: 20s # Set the scrape interval\n"
      "  evaluation_interval: 15s\n"
      "alerting: {alertmanagers: []}\n"
      "rule_files:\n"
      "  # - first_rules.yml\n"
      "scrape_configs:\n"
      "  - job_name: shop\n"
      "    scheme: https\n"
      "    bearer_token_file: /dev/null\n"
      "    honor_labels: true\n"
      "    params:\n"
      "      gc: [1]\n"
      "      module: ['a b', c]\n"
      "    tls_config: {insecure_skip_verify: yes, server_name: x}\n"
      "    relabel_configs:\n"
      "      - {source_labels: [__address__], target_label: a}\n"
      "    profiling_config:\n"
      "      path_prefix: /p\n"
      "      pprof_config:\n"
      "        memory: {path: /debug/pprof/allocs}\n"
      "        mutex:\n"
      "          enabled: false\n"
      "    static_configs:\n"
      "      - targets: [localhost:6060]\n"
      "        labels:\n"
      "          version: 1.10\n"
      "  - job_name: pods\n"
      "    kubernetes_sd_configs:\n"
      "      - role: pod\n"
      "    normalized_addresses: true\n"
      "object_storage: {bucket: {type: FILESYSTEM}}\n";
  char path[] = "/tmp/spanprof-jobs-XXXXXX", said[2048] = "";
  static const char *const left_out[] = {
      "line 4: evaluation_interval of global is ignored",
      "line 5: alerting of the file",
      "line 6: rule_files of the file",
      "line 12: honor_labels of job shop",
      "line 16: server_name of tls_config",
      "line 17: relabel_configs of job shop",
      "line 30: kubernetes_sd_configs of job pods",
      "line 32: normalized_addresses of job pods",
      "line 33: object_storage of the file"};
  int fd = mkstemp(path);
  sp_scrape_plan plan;
  sp_log log;
  size_t i;

  CHECK_EQUAL(write(fd, text, strlen(text)), strlen(text));
  close(fd);
  sp_log_init(&log, keep_line, said, SPANPROF_LOG_INFO, sp_clock_system());
  sp_scrape_plan_init(&plan, &sp_mem_default);
  CHECK_EQUAL(sp_scrape_plan_add_file(&plan, path, &log), SPANPROF_OK);
  unlink(path);
  for (i = 0; i < SP_COUNT_OF(left_out); i++)
    CHECK(strstr(said, left_out[i]));
  CHECK_EQUAL(plan.target_count, 1);
  CHECK_EQUAL(plan.count, 4);
  CHECK_TEXT(plan.probes[0].url, "https://localhost:6060/p/debug/pprof/"
                                 "profile?gc=1&module=a+b&module=c&seconds=19");
  CHECK_TEXT(plan.probes[1].url, "https://localhost:6060/p/debug/pprof/"
                                 "allocs?gc=1&module=a+b&module=c");
  CHECK(plan.probes[0].access.trusts_any);
  CHECK_TEXT(plan.probes[0].access.bearer, "");
  CHECK_TEXT(label_of(&plan.probes[0], "version"), "1.10");
  sp_scrape_plan_dispose(&plan);
}

static void error_messages_contain_no_secrets(void) {
  static const char *const urls[][2] = {
      {"h:6060", "look like http://host:6060"},
      {"ftp://u:s3cret@h", "http:// or https://, not ftp://"},
      {"http://u:s3cret@h:99999", "target 1"},
      {"http://h,a", "labels of --scrape as ,name=value"},
      {"http://h,__a=b", "not a valid label name"},
      {"http://h,a=", "the value of a"},
  };
  static const char *const files[][2] = {
      {"{", "the file is not valid YAML: did not find"},
      {"{}", "scrape_configs, is missing"},
      {"[{}]", "a job needs a job_name"},
      {"{\"log-level\":\"debug\",\n\"scrape-configs\":[]}",
       "line 2: scrape-configs is a key of classic Pyroscope"},
      {"[{\"job_name\":\"j\",\n\"static_config\":[]}]",
       "line 2: job j has no key \"static_config\": did you mean "
       "static_configs?"},
      {"[{\"job_name\":\"j\"}]", "line 1: job j has no static_configs"},
      {"[{\"job_name\":\"j\",\"static_configs\":[{\"targets\":[\"a/b\"]}]}]",
       "a target must be like host:6060"},
      {"[{\"job_name\":\"j\",\"scrape_interval\":\"1ms\"}]",
       "scrape_interval must be a time such as 15s"},
      {"[{\"job_name\":\"j\",\"basic_auth\":{\"password\":\"s3cret\"}}]",
       "needs username or username_file"},
      {"[{\"job_name\":\"j\",\"authorization\":{\"credentials_file\":\"/"
       "no\"}}]",
       "/no cannot be read"},
      {"[{\"job_name\":\"j\",\"profiling_config\":{\"pprof_config\":{\"x\":{}}}"
       ","
       "\"static_configs\":[{\"targets\":[\"a\"]}]}]",
       "the profile x needs a path"},
  };
  sp_scrape_plan plan;
  size_t i;

  sp_scrape_plan_init(&plan, &sp_mem_default);
  for (i = 0; i < SP_COUNT_OF(urls); i++) {
    CHECK_EQUAL(sp_scrape_plan_add_url(&plan, urls[i][0]),
                SPANPROF_ERR_ARGUMENT);
    CHECK(strstr(spanprof_last_error(), urls[i][1]));
    CHECK(!strstr(spanprof_last_error(), "s3cret"));
  }
  for (i = 0; i < SP_COUNT_OF(files); i++) {
    CHECK(plan_file(&plan, files[i][0]));
    CHECK(strstr(spanprof_last_error(), files[i][1]));
    CHECK(!strstr(spanprof_last_error(), "s3cret"));
  }
  sp_scrape_plan_dispose(&plan);
}

static void the_number_of_probes_is_bounded(void) {
  spanprof_status st = SPANPROF_OK;
  sp_scrape_plan plan;

  sp_scrape_plan_init(&plan, &sp_mem_default);
  while (!st)
    st = sp_scrape_plan_add_url(&plan, "http://h:1/heap");
  CHECK_EQUAL(st, SPANPROF_ERR_LIMIT);
  CHECK_EQUAL(plan.count, SP_SCRAPE_PROBES_MAX);
  sp_scrape_plan_dispose(&plan);
}

static void plan_scenario(const sp_mem *mem) {
  sp_scrape_plan plan;
  spanprof_status st;

  sp_scrape_plan_init(&plan, mem);
  st = sp_scrape_plan_add_url(&plan, "http://u:p@h:1/heap,a=b");
  CHECK(!st || st == SPANPROF_ERR_NOMEM);
  st = plan_file(&plan, plan_jobs);
  CHECK(!st || st == SPANPROF_ERR_NOMEM);
  sp_scrape_plan_dispose(&plan);
}

static void failed_allocations_are_handled(void) {
  failing_mem_sweep(plan_scenario);
}

static const check_test tests[] = {
    {"a_url_selects_all_profiles_or_one", a_url_selects_all_profiles_or_one},
    {"timeouts_include_the_duration_of_the_profile",
     timeouts_include_the_duration_of_the_profile},
    {"labels_follow_the_url", labels_follow_the_url},
    {"a_file_has_jobs", a_file_has_jobs},
    {"a_file_of_prometheus_is_read", a_file_of_prometheus_is_read},
    {"error_messages_contain_no_secrets", error_messages_contain_no_secrets},
    {"the_number_of_probes_is_bounded", the_number_of_probes_is_bounded},
    {"failed_allocations_are_handled", failed_allocations_are_handled},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
