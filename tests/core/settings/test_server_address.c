#include "check.h"
#include "failing_mem.h"
#include "settings/server_address.h"

static spanprof_status address_of(const char *text, sp_server_address *out) {
  const sp_option_value given = {.option = "server_address",
                                 .variable = "PYROSCOPE_SERVER_ADDRESS",
                                 .text = text};

  return sp_server_address_parse(out, &sp_mem_default, &given);
}

static void addresses_are_normalised(void) {
  static const struct {
    const char *text;
    const char *url;
    bool encrypted;
  } table[] = {
      {"http://localhost:4040", "http://localhost:4040", false},
      {"http://localhost:4040/", "http://localhost:4040", false},
      {"HTTPS://profiles.example.com", "https://profiles.example.com", true},
      {"https://example.com/base/path//", "https://example.com/base/path",
       true},
      {"http://[::1]:4040/", "http://[::1]:4040", false},
      {"http://10.0.0.7", "http://10.0.0.7", false},
      {"http://pyroscope.monitoring.svc.cluster.local.:4040",
       "http://pyroscope.monitoring.svc.cluster.local.:4040", false},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    sp_server_address address;

    CHECK_EQUAL(address_of(table[i].text, &address), SPANPROF_OK);
    CHECK_TEXT(address.url, table[i].url);
    CHECK_EQUAL(address.encrypted, table[i].encrypted);
    CHECK(!address.user && !address.password);
    sp_server_address_dispose(&address);
  }
}

static void credentials_leave_the_address_decoded(void) {
  sp_server_address address;

  CHECK_EQUAL(
      address_of("https://12%2034:pa%40ss%3Aword@example.com:8443/x", &address),
      SPANPROF_OK);
  CHECK_TEXT(address.url, "https://example.com:8443/x");
  CHECK_TEXT(address.user, "12 34");
  CHECK_TEXT(address.password, "pa@ss:word");
  sp_server_address_dispose(&address);
}

static void wrong_addresses_are_refused_without_secrets(void) {
  static const struct {
    const char *text;
    const char *sentence; /* part of the error message */
  } table[] = {
      {"localhost:4040", "is \"localhost:4040\", which does not start with"},
      {"ftp://example.com", "does not start with http:// or https://"},
      {"://x", "does not start with http:// or https://"},
      {"user:hunter2@example.com", "does not start with http:// or https://"},
      {"example.com?token=hunter2", "is \"example.com\", which"},
      {"http://", ""},
      {"http://:4040", ""},
      {"http://user:hunter2@", ""},
      {"http://example.com:0x50", ""},
      {"http://example.com:99999", "has a bad port"},
      {"http://user:hunter2@example.com:99999", "has a bad port"},
      {"http://exa mple.com", ""},
      {"http://user:hunter2@[::1", ""},
      {"http://example.com/?token=hunter2", "has a ? or # part"},
      {"http://example.com/#hunter2", "has a ? or # part"},
      {"http://user@example.com", "has a user but no password"},
      {"http://:hunter2@example.com", "has a password but no user"},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    sp_server_address address;
    spanprof_status st = address_of(table[i].text, &address);

    if (st == SPANPROF_OK)
      CHECK_TEXT(table[i].text, "a refusal");
    CHECK_EQUAL(st, SPANPROF_ERR_ARGUMENT);
    CHECK(!address.url && !address.user && !address.password);
    CHECK(strncmp(spanprof_last_error(),
                  "server_address (from PYROSCOPE_SERVER_ADDRESS) ", 47) == 0);
    CHECK(!strstr(spanprof_last_error(), "hunter2"));
    if (!strstr(spanprof_last_error(), table[i].sentence))
      CHECK_TEXT(spanprof_last_error(), table[i].sentence);
  }
}

static void address_parse_with(const sp_mem *mem) {
  const sp_option_value given = {.option = "server_address",
                                 .text = "https://user:pass@example.com/x"};
  sp_server_address address;
  spanprof_status st = sp_server_address_parse(&address, mem, &given);

  CHECK(st == SPANPROF_OK || st == SPANPROF_ERR_NOMEM);
  sp_server_address_dispose(&address);
}

static void addresses_survive_every_failed_allocation(void) {
  failing_mem_sweep(address_parse_with);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"addresses are normalised", addresses_are_normalised},
      {"credentials leave the address, decoded",
       credentials_leave_the_address_decoded},
      {"wrong addresses are refused, without secrets",
       wrong_addresses_are_refused_without_secrets},
      {"every failed allocation is survived",
       addresses_survive_every_failed_allocation},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
