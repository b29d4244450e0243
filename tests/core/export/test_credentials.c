#include "export/http/credentials.h"

#include "check.h"
#include "failing_mem.h"

static sp_settings test_settings;

static void usual(void) {
  static char *headers[] = {(char *)"X-Api-Key: 0123456789",
                            (char *)"X-Short: abc"};

  test_settings = (sp_settings){
      .auth_token = (char *)"a-bearer-token-of-some-length/with\"quotes\"",
      .proxy = (char *)"http://user:proxy-password@127.0.0.1:3128",
      .headers = headers,
      .header_count = 2};
}

static void secrets_are_found_in_any_text(void) {
  static const struct {
    const char *text;
    bool shown;
  } rows[] = {
      {"", false},
      {"no access", false},
      {"0123456789", true},
      {"key 0123456789 is wrong", true},
      /* Eight of the ten bytes are enough to recognize the secret. */
      {"key 01234567... is wrong", true},
      {"key 0123456", false},
      {"abc", false},
      {"a-bearer-token-of-some-length/with\"quotes\"", true},
      /* Secrets with JSON escapes, necessary and unnecessary ones. */
      {"a-bearer-token-of-some-length\\/with\\\"quotes\\\"", true},
      {"\\u0061-bearer-token-of-some-length/", true},
      /* The first half of a long secret is enough. */
      {"a-bearer-token-of-some...", true},
      {"a-bearer-to", false},
      {"proxy-password", true},
      {"user:proxy-pass", true},
      {"\\", false},
      {"\\u00", false},
  };
  sp_credentials credentials;
  size_t i;

  usual();
  CHECK(!sp_credentials_init(&credentials, &sp_mem_default, &test_settings));
  for (i = 0; i < SP_COUNT_OF(rows); i++)
    CHECK_EQUAL(
        sp_credentials_appear(&credentials, rows[i].text, strlen(rows[i].text)),
        rows[i].shown);
  /* A secret after a NUL is found, too. */
  CHECK(sp_credentials_appear(&credentials,
                              "x\0"
                              "0123456789",
                              12));
  sp_credentials_dispose(&credentials);
}

static void encoded_basic_auth_is_a_secret_too(void) {
  sp_credentials credentials;

  usual();
  test_settings.auth_token = NULL;
  test_settings.basic_auth_user = (char *)"Aladdin";
  test_settings.basic_auth_password = (char *)"open sesame";
  CHECK(!sp_credentials_init(&credentials, &sp_mem_default, &test_settings));
  CHECK_TEXT(credentials.authorization,
             "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  CHECK(sp_credentials_appear(&credentials, "QWxhZGRpbjpvcGVuIHNlc2FtZQ", 26));
  CHECK(sp_credentials_appear(&credentials, "open sesame", 11));
  CHECK(!sp_credentials_appear(&credentials, "Aladdin", 7));
  sp_credentials_dispose(&credentials);
}

static void make_once(const sp_mem *mem) {
  sp_credentials credentials;

  usual();
  if (!sp_credentials_init(&credentials, mem, &test_settings))
    sp_credentials_dispose(&credentials);
}

static void credentials_survive_failing_memory(void) {
  failing_mem_sweep(make_once);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"secrets_are_found_in_any_text", secrets_are_found_in_any_text},
      {"encoded_basic_auth_is_a_secret_too",
       encoded_basic_auth_is_a_secret_too},
      {"credentials_survive_failing_memory",
       credentials_survive_failing_memory},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
