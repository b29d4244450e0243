/* Parses options, labels, headers, addresses and resource attributes. The first
 * byte of the input selects the parser. */
#include "settings/duration.h"
#include "settings/http_headers.h"
#include "settings/identity.h"
#include "settings/label_list.h"
#include "session/options.h"
#include "settings/proxy_choice.h"
#include "settings/server_address.h"
#include "settings/unix_time.h"
#include "util/text/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FUZZ_VARIABLES 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Check a property that every accepted input must have. */
static void fuzz_must(bool promise) {
  if (!promise)
    abort();
}

static void fuzz_check_pairs(const sp_pair *pairs, size_t count) {
  size_t i, k;

  for (i = 0; i < count; i++) {
    char *name = pairs[i].name;

    fuzz_must(*name && *pairs[i].value && !sp_label_name_clean(name));
    fuzz_must(sp_utf8_valid(pairs[i].value, strlen(pairs[i].value)));
    for (k = 0; k < i; k++)
      fuzz_must(strcmp(pairs[k].name, name) != 0);
  }
}

static void fuzz_check_headers(char *const *lines, size_t count) {
  size_t i;

  for (i = 0; i < count; i++) {
    const char *colon = strchr(lines[i], ':');

    fuzz_must(colon && colon > lines[i] && colon[1] == ' ' && colon[2]);
    fuzz_must(!strpbrk(lines[i], "\r\n"));
  }
}

static void fuzz_labels(const sp_option_value *given, sp_buffer *notes) {
  sp_label_list list;

  sp_label_list_init(&list, &sp_mem_default);
  (void)sp_label_list_parse(&list, given, notes);
  fuzz_check_pairs(list.pairs, list.count);
  sp_label_list_dispose(&list);
}

static void fuzz_headers(const sp_option_value *given) {
  sp_http_headers headers;

  (void)sp_http_headers_parse(&headers, &sp_mem_default, given);
  fuzz_check_headers(headers.lines, headers.count);
  sp_http_headers_dispose(&headers);
}

static void fuzz_address(const sp_option_value *given) {
  sp_server_address address;

  if (sp_server_address_parse(&address, &sp_mem_default, given) == SPANPROF_OK)
    fuzz_must(address.url && !address.user == !address.password);
  sp_server_address_dispose(&address);
  (void)sp_proxy_check(given);
}

/* Use the lines of the text as environment variables, except those that name
 * files. */
static void fuzz_environment(char *text, sp_buffer *notes) {
  char *environment[FUZZ_VARIABLES + 1] = {NULL};
  size_t count = 0;
  sp_settings settings;

  while (text && count < FUZZ_VARIABLES) {
    char *next = strchr(text, '\n');

    if (next)
      *next++ = '\0';
    if (!strstr(text, "DIRECTORY") && !strstr(text, "CERT") &&
        !strstr(text, "KEY") && !strstr(text, "BUNDLE"))
      environment[count++] = text;
    text = next;
  }
  (void)sp_settings_disabled(environment);
  if (sp_settings_read(&settings, &sp_mem_default, NULL, environment, notes) !=
      SPANPROF_OK)
    return;
  fuzz_must(settings.application_name && *settings.application_name);
  fuzz_must(settings.sample_rate_hz >= 1 && settings.sample_rate_hz <= 1000);
  fuzz_must(!settings.auth_token || !settings.basic_auth_user);
  fuzz_must(!settings.basic_auth_user == !settings.basic_auth_password);
  fuzz_check_pairs(settings.labels, settings.label_count);
  fuzz_check_headers(settings.headers, settings.header_count);
  sp_settings_dispose(&settings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  sp_option_value given = {.option = "fuzzed"};
  uint64_t ns;
  int64_t time_ns;
  sp_buffer notes;
  char *text;

  if (size == 0)
    return 0;
  text = malloc(size);
  if (!text)
    return 0;
  memcpy(text, data + 1, size - 1);
  text[size - 1] = '\0';
  given.text = text;
  sp_buffer_init(&notes, &sp_mem_default);
  switch (data[0]) {
  case 'l':
    fuzz_labels(&given, &notes);
    break;
  case 'h':
    fuzz_headers(&given);
    break;
  case 'a':
    fuzz_address(&given);
    break;
  case 'd':
    (void)sp_duration_parse(text, SP_NS_PER_S, &ns);
    (void)sp_unix_time_parse(text, INT64_C(1795435200000000000), NULL,
                             &time_ns);
    break;
  default:
    fuzz_environment(text, &notes);
    break;
  }
  sp_buffer_dispose(&notes);
  free(text);
  return 0;
}
