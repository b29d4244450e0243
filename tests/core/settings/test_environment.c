#include "check.h"
#include "settings/environment.h"
#include "settings/option_table.h"
#include "session/options.h"

#include <sys/auxv.h>

static unsigned long secure;

/* Replaces the function of libc, because the program's symbols have priority.
 */
unsigned long getauxval(unsigned long type) {
  return type == AT_SECURE ? secure : 0;
}

/* The user who starts a setuid program controls its environment, so the program
 * must not read it. */
static void a_privileged_program_ignores_the_environment(void) {
  spanprof_session *session;

  CHECK(setenv("PYROSCOPE_AGENT_ENABLED", "false", 1) == 0);
  CHECK(sp_environment_get(sp_environment_own(), "PYROSCOPE_AGENT_ENABLED"));
  CHECK_EQUAL(spanprof_session_start(NULL, &session), SPANPROF_ERR_DISABLED);
  secure = 1;
  CHECK(!sp_environment_get(sp_environment_own(), "PYROSCOPE_AGENT_ENABLED"));
  CHECK(sp_environment_own()[0] == NULL);
  CHECK(setenv("PYROSCOPE_SAMPLE_RATE", "0", 1) == 0);
  CHECK_EQUAL(spanprof_options_check(NULL), SPANPROF_OK);
  secure = 0;
  unsetenv("PYROSCOPE_AGENT_ENABLED");
  CHECK_EQUAL(spanprof_options_check(NULL), SPANPROF_ERR_ARGUMENT);
  unsetenv("PYROSCOPE_SAMPLE_RATE");
}

static void environment_finds_whole_names_only(void) {
  char *const environment[] = {"PYROSCOPE_SIGNALS=1",
                               "PYROSCOPE_SIGNAL=40",
                               "EMPTY=",
                               "=x",
                               "BARE",
                               NULL};

  CHECK_TEXT(sp_environment_find(environment, "PYROSCOPE_SIGNAL"), "40");
  CHECK_TEXT(sp_environment_find(environment, "EMPTY"), "");
  CHECK(!sp_environment_get(environment, "EMPTY"));
  CHECK(!sp_environment_find(environment, "BARE"));
  CHECK(!sp_environment_find(environment, "PYROSCOPE"));
  CHECK(!sp_environment_find(NULL, "PYROSCOPE_SIGNAL"));
}

static void environment_switches_are_words(void) {
  static const struct {
    const char *text;
    spanprof_status st;
    bool on;
  } table[] = {
      {"true", SPANPROF_OK, true},       {"TRUE", SPANPROF_OK, true},
      {"1", SPANPROF_OK, true},          {"Yes", SPANPROF_OK, true},
      {"on", SPANPROF_OK, true},         {"false", SPANPROF_OK, false},
      {"False", SPANPROF_OK, false},     {"0", SPANPROF_OK, false},
      {"no", SPANPROF_OK, false},        {"off", SPANPROF_OK, false},
      {"", SPANPROF_ERR_FORMAT, 0},      {"2", SPANPROF_ERR_FORMAT, 0},
      {"flase", SPANPROF_ERR_FORMAT, 0},
  };
  size_t i;
  bool on;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    CHECK_EQUAL(sp_environment_switch(table[i].text, &on), table[i].st);
    CHECK_EQUAL(on, table[i].on);
  }
}

static void environment_disables_only_by_a_known_word(void) {
  char *const off[] = {"PYROSCOPE_AGENT_ENABLED=False", NULL};
  char *const on[] = {"PYROSCOPE_AGENT_ENABLED=true", NULL};
  char *const empty[] = {"PYROSCOPE_AGENT_ENABLED=", NULL};
  char *const none[] = {NULL};

  CHECK(sp_settings_disabled(off));
  CHECK(!sp_settings_disabled(on));
  CHECK(!sp_settings_disabled(empty));
  CHECK(!sp_settings_disabled(none));
}

static void environment_unknown_variables_are_named_without_values(void) {
  /* Kubernetes sets these variables in every pod if there is a service named
   * pyroscope. */
  char *const environment[] = {
      "PATH=/bin",
      "PYROSCOPE_PORT=tcp://10.0.0.7:4040",
      "PYROSCOPE_APPLICATION_NAME=shop",
      "PYROSCOPE_SERVICE_HOST=10.0.0.7",
      "PYROSCOPE_SECRET=hunter2",
      "PYROSCOPE_AGENT_ENABLED=true",
      "XPYROSCOPE_OTHER=1",
      "PYROSCOPE_BARE",
      NULL,
  };
  sp_buffer notes;

  sp_buffer_init(&notes, &sp_mem_default);
  sp_environment_note_unknown(environment, sp_option_table_knows, &notes);
  CHECK_TEXT(notes.data, "unknown variables ignored: PYROSCOPE_PORT, "
                         "PYROSCOPE_SERVICE_HOST, PYROSCOPE_SECRET\n");
  sp_buffer_dispose(&notes);
}

static void environment_many_unknown_variables_stay_one_line(void) {
  char names[40][32];
  char *environment[41] = {NULL};
  sp_buffer notes;
  size_t i;

  for (i = 0; i < 40; i++) {
    snprintf(names[i], sizeof names[i], "PYROSCOPE_X%zu=1", i);
    environment[i] = names[i];
  }
  sp_buffer_init(&notes, &sp_mem_default);
  sp_environment_note_unknown(environment, sp_option_table_knows, &notes);
  CHECK(strstr(notes.data, "PYROSCOPE_X15 and 24 more\n"));
  CHECK(!strstr(notes.data, "PYROSCOPE_X16"));
  sp_buffer_dispose(&notes);
}

static void environment_without_unknown_variables_has_no_note(void) {
  char *const environment[] = {"PYROSCOPE_LABELS=a=b", NULL};
  sp_buffer notes;

  sp_buffer_init(&notes, &sp_mem_default);
  sp_environment_note_unknown(environment, sp_option_table_knows, &notes);
  CHECK_EQUAL(notes.size, 0);
  sp_buffer_dispose(&notes);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"a_privileged_program_ignores_the_environment",
       a_privileged_program_ignores_the_environment},
      {"only whole names are found", environment_finds_whole_names_only},
      {"switches are words", environment_switches_are_words},
      {"only a known word disables the profiler",
       environment_disables_only_by_a_known_word},
      {"unknown variables are named, without values",
       environment_unknown_variables_are_named_without_values},
      {"many unknown variables stay one line",
       environment_many_unknown_variables_stay_one_line},
      {"without unknown variables there is no note",
       environment_without_unknown_variables_has_no_note},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
