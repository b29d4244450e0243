#include <spanprof/spanprof.h>

#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"
#include "export_fixture.h"

static char output[64];

static void session_begin(const char *name) {
  spanprof_session *session;
  spanprof_options options;

  CHECK(!spanprof_options_init(&options, sizeof options));
  options.application_name = name;
  options.output_directory = directory_new(output);
  options.server_address = "http://127.0.0.1:9";
  options.upload_interval_ms = 100;
  options.log = logged_write;
  logged[0] = '\0';
  CHECK(!spanprof_session_start(&options, &session));
}

static void session_end(void) {
  spanprof_session_stop(spanprof_session_current(), 300);
}

static void tell(const char *name) {
  CHECK(!spanprof_resource_set(name, strlen(name), "", 0));
}

/* Return the number of profiles of this application and process. */
static int profiles_of(const char *app, pid_t pid) {
  char command[256];
  FILE *answer;
  int count;

  snprintf(command, sizeof command, "ls %s | grep -c '^%s-%d-'", output, app,
           (int)pid);
  answer = popen(command, "r");
  CHECK(fscanf(answer, "%d", &count) == 1);
  pclose(answer);
  return count;
}

/* Start a span and return the URL in its attribute. */
static const char *span_url(void) {
  static char url[512];
  spanprof_span_info info = {
      .struct_size = sizeof info, .flags = 1, .name = "a", .name_bytes = 1};
  spanprof_span_rules_options options;
  spanprof_span_rules *rules;
  size_t length;
  spanprof_span span;

  CHECK(!spanprof_span_rules_options_init(&options, sizeof options));
  options.add_url = 1;
  CHECK(!spanprof_span_rules_new(&options, &rules));
  CHECK(!spanprof_span_start(rules, &info, &span));
  CHECK(!spanprof_span_attribute_get(rules, span, SPANPROF_ATTRIBUTE_URL, url,
                                     sizeof url, &length));
  spanprof_span_end(span);
  spanprof_span_rules_free(rules);
  return url;
}

#if CHECK_FORKS
/* Fork a child that sets the service `name` and uses CPU time. */
static pid_t child(const char *name) {
  pid_t pid = fork();

  CHECK(pid >= 0);
  if (pid > 0) {
    CHECK_EQUAL(waitpid(pid, NULL, 0), pid);
    return pid;
  }
  if (name)
    tell(name);
  burn_cpu_ms(150);
  session_end();
  _exit(0);
}

static void a_process_and_its_children_have_the_names_of_their_spans(void) {
  pid_t pids[2];

  session_begin(NULL);
  burn_cpu_ms(300);
  CHECK_EQUAL(directory_count(output, ".pb.gz"), 0);
  tell("shop");
  CHECK(strstr(span_url(), "shop.cpu") != NULL);
  pids[0] = child("cart");
  pids[1] = child(NULL);
  session_end();
  CHECK(profiles_of("shop", getpid()) >= 2);
  CHECK(profiles_of("cart", pids[0]) >= 1);
  CHECK(profiles_of("shop", pids[1]) >= 1);
  CHECK_EQUAL(logged_count("name of the spans"), 1);
  directory_remove(output);
}

#endif

static void a_name_set_before_the_start_applies(void) {
  tell("early");
  session_begin(NULL);
  burn_cpu_ms(150);
  CHECK(strstr(span_url(), "early.cpu") != NULL);
  session_end();
  CHECK(profiles_of("early", getpid()) >= 1);
  CHECK_EQUAL(directory_count(output, ".pb.gz"),
              profiles_of("early", getpid()));
  directory_remove(output);
}

static void names_are_cleaned_and_an_empty_name_is_refused(void) {
  char longer[4000];

  memset(longer, 'a', sizeof longer);
  CHECK_EQUAL(spanprof_resource_set("  ", 2, "", 0), SPANPROF_ERR_ARGUMENT);
  CHECK_TEXT(spanprof_last_error(), "service_name is empty");
  CHECK(!spanprof_resource_set(longer, sizeof longer, longer, sizeof longer));
  CHECK(!spanprof_resource_set("a\nb\xff", 4, NULL, 0));
  session_begin("given");
  burn_cpu_ms(150);
  session_end();
  CHECK(logged_has("spans have the service name \"a?b?\", but profiles have "
                   "\"given\""));
  CHECK(profiles_of("given", getpid()) >= 1);
  directory_remove(output);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
#if CHECK_FORKS
    {"a_process_and_its_children_have_the_names_of_their_spans",
     a_process_and_its_children_have_the_names_of_their_spans},
#endif
    {"a_name_set_before_the_start_applies",
     a_name_set_before_the_start_applies},
    {"names_are_cleaned_and_an_empty_name_is_refused",
     names_are_cleaned_and_an_empty_name_is_refused},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
