#include "environment.h"

#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "util/text/utf8.h"

#define ENVIRONMENT_PREFIX "PYROSCOPE_"

/* Maximum number of names in the note. A Kubernetes cluster may set seven
 * variables for each service. */
#define ENVIRONMENT_UNKNOWN_SHOWN 16
#define ENVIRONMENT_NAME_BYTES    64

char *const *sp_environment_own(void) {
  static char *const none[] = {NULL};

  return getauxval(AT_SECURE) ? none : environ;
}

const char *sp_environment_find(char *const *environment, const char *name) {
  size_t i, length = strlen(name);

  for (i = 0; environment && environment[i]; i++) {
    if (strncmp(environment[i], name, length) == 0 &&
        environment[i][length] == '=')
      return environment[i] + length + 1;
  }
  return NULL;
}

const char *sp_environment_get(char *const *environment, const char *name) {
  const char *value = sp_environment_find(environment, name);

  return value && *value ? value : NULL;
}

spanprof_status sp_environment_switch(const char *text, bool *out) {
  static const struct {
    const char *text;
    bool value;
  } words[] = {
      {"true", true},   {"1", true},  {"yes", true}, {"on", true},
      {"false", false}, {"0", false}, {"no", false}, {"off", false},
  };
  size_t i;

  *out = false;
  for (i = 0; i < SP_COUNT_OF(words); i++) {
    if (strcasecmp(text, words[i].text) == 0) {
      *out = words[i].value;
      return SPANPROF_OK;
    }
  }
  return SPANPROF_ERR_FORMAT;
}

static void environment_note_name(sp_buffer *notes, const char *name,
                                  size_t bytes) {
  char shown[ENVIRONMENT_NAME_BYTES];
  size_t used = sp_utf8_printable(name, bytes, shown, sizeof shown);

  sp_buffer_append(notes, shown, used);
}

void sp_environment_note_unknown(char *const *environment,
                                 bool (*known)(const char *name, size_t bytes),
                                 sp_buffer *notes) {
  const size_t prefix = sizeof ENVIRONMENT_PREFIX - 1;
  size_t i, found = 0;

  for (i = 0; environment && environment[i]; i++) {
    const char *equals = strchr(environment[i], '=');
    size_t bytes = equals ? (size_t)(equals - environment[i]) : 0;

    if (bytes < prefix || memcmp(environment[i], ENVIRONMENT_PREFIX, prefix))
      continue;
    if (known(environment[i], bytes) || found++ >= ENVIRONMENT_UNKNOWN_SHOWN)
      continue;
    sp_buffer_text(notes, found == 1 ? "unknown variables ignored: " : ", ");
    environment_note_name(notes, environment[i], bytes);
  }
  if (found > ENVIRONMENT_UNKNOWN_SHOWN)
    sp_buffer_format(notes, " and %zu more", found - ENVIRONMENT_UNKNOWN_SHOWN);
  if (found)
    sp_buffer_text(notes, "\n");
}
