#include "credentials.h"

#include <string.h>

#include "util/memory/buffer.h"
#include "util/text/json_string.h"

/* Number of secrets besides the values of the settings' headers: the password,
 * the credentials in the Authorization header, and the user and password of the
 * proxy. */
#define CREDENTIALS_OWN 4

/* A secret that is shorter than this is not searched for, because it would be
 * found by chance. */
#define CREDENTIALS_MIN_BYTES 4

/* Of a secret that is longer than this, at least this many first bytes are
 * searched for, because so many bytes are not found by chance. */
#define CREDENTIALS_ENOUGH_BYTES 8

/* The part of the header before the secret. */
#define CREDENTIALS_BEARER "Authorization: Bearer "
#define CREDENTIALS_BASIC  "Authorization: Basic "

static spanprof_status credentials_authorize(sp_credentials *credentials,
                                             const sp_settings *settings) {
  const char *password = settings->basic_auth_password;
  sp_buffer line, pair;
  size_t size;

  if (!settings->auth_token && !settings->basic_auth_user)
    return SPANPROF_OK;
  sp_buffer_init(&line, credentials->mem);
  sp_buffer_init(&pair, credentials->mem);
  if (settings->auth_token) {
    sp_buffer_format(&line, CREDENTIALS_BEARER "%s", settings->auth_token);
  } else {
    sp_buffer_format(&pair, "%s:%s", settings->basic_auth_user,
                     password ? password : "");
    sp_buffer_text(&line, CREDENTIALS_BASIC);
    if (!pair.failed)
      sp_buffer_base64(&line, pair.data, pair.size);
    line.failed |= pair.failed;
  }
  sp_buffer_dispose(&pair);
  credentials->authorization = sp_buffer_detach(&line, &size);
  return credentials->authorization ? SPANPROF_OK : SPANPROF_ERR_NOMEM;
}

/* Copy the user and password from the proxy's URL, which are before the `@`. */
static spanprof_status credentials_proxy(sp_credentials *credentials,
                                         const sp_settings *settings) {
  const char *scheme = settings->proxy ? strstr(settings->proxy, "://") : NULL;
  const char *user = scheme ? scheme + 3 : settings->proxy;
  const char *end = user ? strrchr(user, '@') : NULL;

  if (!end)
    return SPANPROF_OK;
  credentials->proxy_user =
      sp_mem_text(credentials->mem, user, (size_t)(end - user));
  return credentials->proxy_user ? SPANPROF_OK : SPANPROF_ERR_NOMEM;
}

static void secret_add(sp_credentials *credentials, const char *secret) {
  if (secret && strlen(secret) >= CREDENTIALS_MIN_BYTES)
    credentials->secrets[credentials->secret_count++] = secret;
}

spanprof_status sp_credentials_init(sp_credentials *out, const sp_mem *mem,
                                    const sp_settings *settings) {
  size_t i, most = settings->header_count + CREDENTIALS_OWN;
  spanprof_status st;

  memset(out, 0, sizeof *out);
  out->mem = mem;
  st = credentials_authorize(out, settings);
  if (!st)
    st = credentials_proxy(out, settings);
  if (!st && !(out->secrets = sp_mem_new(mem, most * sizeof *out->secrets)))
    st = SPANPROF_ERR_NOMEM;
  if (st) {
    sp_credentials_dispose(out);
    return st;
  }
  secret_add(out, settings->basic_auth_password);
  if (out->authorization)
    secret_add(out, out->authorization + (settings->auth_token
                                              ? sizeof CREDENTIALS_BEARER - 1
                                              : sizeof CREDENTIALS_BASIC - 1));
  secret_add(out, out->proxy_user);
  if (out->proxy_user && strchr(out->proxy_user, ':'))
    secret_add(out, strchr(out->proxy_user, ':') + 1);
  for (i = 0; i < settings->header_count; i++) {
    const char *value = strchr(settings->headers[i], ':');

    if (value)
      secret_add(out, value + 1 + strspn(value + 1, " \t"));
  }
  return SPANPROF_OK;
}

void sp_credentials_dispose(sp_credentials *credentials) {
  sp_mem_free(credentials->mem, credentials->authorization);
  sp_mem_free(credentials->mem, credentials->proxy_user);
  sp_mem_free(credentials->mem, credentials->secrets);
  credentials->authorization = NULL;
  credentials->proxy_user = NULL;
  credentials->secrets = NULL;
  credentials->secret_count = 0;
}

/* Does `text` begin with the first `size` bytes of a secret, as they are or
 * escaped as in a JSON string? */
static bool secret_matches(const char *text, const char *end,
                           const char *secret, size_t size) {
  char character[SP_JSON_CHARACTER_BYTES];
  size_t at = 0, bytes;

  if ((size_t)(end - text) >= size && memcmp(text, secret, size) == 0)
    return true;
  for (; at < size; at += bytes) {
    bytes = sp_json_read(&text, end, character);
    if (!bytes ||
        memcmp(character, secret + at, sp_min_u64(bytes, size - at)) != 0)
      return false;
  }
  return true;
}

bool sp_credentials_appear(const sp_credentials *credentials, const char *text,
                           size_t size) {
  const char *end = text + size, *p;
  size_t i;

  for (i = 0; i < credentials->secret_count; i++) {
    const char *secret = credentials->secrets[i];
    size_t length = strlen(secret);
    size_t enough =
        sp_max_u64(length / 2, sp_min_u64(length, CREDENTIALS_ENOUGH_BYTES));

    for (p = text; p < end; p++)
      if (secret_matches(p, end, secret, enough))
        return true;
  }
  return false;
}
