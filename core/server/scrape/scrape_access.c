#include "scrape_access.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/system/status.h"

static const char *const access_none[] = {NULL};

spanprof_status sp_scrape_text(sp_scrape_plan *plan, const sp_yaml *map,
                               const char *name, const char **out) {
  const char *text = NULL;
  spanprof_status st = sp_yaml_text(map, name, &text);

  *out = NULL;
  if (st || !text)
    return st;
  *out = sp_scrape_plan_text(plan, text);
  return *out ? SPANPROF_OK
              : sp_fail(SPANPROF_ERR_NOMEM, "no memory for the scrape targets");
}

spanprof_status sp_scrape_secret(const char *path,
                                 char out[SP_SCRAPE_SECRET_BYTES]) {
  FILE *file = fopen(path, "re");
  size_t size;

  if (!file)
    return sp_fail_errno(SPANPROF_ERR_IO, errno, "%.200s cannot be read", path);
  size = fread(out, 1, SP_SCRAPE_SECRET_BYTES - 1, file);
  fclose(file);
  out[size] = '\0';
  out[strcspn(out, "\r\n")] = '\0';
  return SPANPROF_OK;
}

static spanprof_status access_file(sp_scrape_plan *plan, const sp_yaml *named,
                                   const char *path, const char **out) {
  char text[SP_SCRAPE_SECRET_BYTES];
  spanprof_status st = sp_scrape_secret(path, text);

  if (st)
    return sp_yaml_fail_at(named, st);
  *out = sp_scrape_plan_text(plan, text);
  return *out ? SPANPROF_OK
              : sp_fail(SPANPROF_ERR_NOMEM, "no memory for the scrape targets");
}

/* Read a secret from the key `name`, or from a file that the key `file_name`
 * names. *file gets the name of the file, or NULL. */
static spanprof_status access_secret(sp_scrape_plan *plan, const sp_yaml *map,
                                     const char *name, const char *file_name,
                                     const char **out, const char **file) {
  spanprof_status st = sp_scrape_text(plan, map, name, out);

  if (!st)
    st = sp_scrape_text(plan, map, file_name, file);
  if (!st && *file && *out)
    return sp_yaml_fail(map, "%s and %s cannot be combined", name, file_name);
  return st || !*file
             ? st
             : access_file(plan, sp_yaml_get(map, file_name), *file, out);
}

static spanprof_status access_basic(sp_scrape_plan *plan,
                                    sp_scrape_access *access,
                                    const sp_yaml *given) {
  static const char *const read[] = {"username", "username_file", "password",
                                     "password_file", NULL};
  static const sp_yaml_keys keys = {read, access_none};
  spanprof_status st = sp_yaml_check_keys(given, "basic_auth", &keys);

  if (!st)
    st = access_secret(plan, given, "username", "username_file", &access->user,
                       &access->user_file);
  if (!st)
    st = access_secret(plan, given, "password", "password_file",
                       &access->password, &access->password_file);
  if (!st && (!access->user || !access->password))
    st = sp_yaml_fail(given, "basic_auth needs username or username_file, and "
                             "password or password_file");
  return st;
}

static spanprof_status access_bearer(sp_scrape_plan *plan,
                                     sp_scrape_access *access,
                                     const sp_yaml *given) {
  static const char *const read[] = {"type", "credentials", "credentials_file",
                                     NULL};
  static const sp_yaml_keys keys = {read, access_none};
  spanprof_status st = sp_yaml_check_keys(given, "authorization", &keys);
  const char *type = "Bearer";

  if (!st)
    st = sp_yaml_text(given, "type", &type);
  if (!st)
    st = access_secret(plan, given, "credentials", "credentials_file",
                       &access->bearer, &access->bearer_file);
  if (!st && (strcmp(type, "Bearer") != 0 || !access->bearer))
    st = sp_yaml_fail(given, "authorization needs the type Bearer, and "
                             "credentials or credentials_file");
  return st;
}

static spanprof_status access_tls(sp_scrape_plan *plan,
                                  sp_scrape_access *access,
                                  const sp_yaml *given) {
  static const char *const read[] = {"ca_file", "cert_file", "key_file",
                                     "insecure_skip_verify", NULL};
  static const char *const left_out[] = {
      "ca", "cert", "key", "server_name", "min_version", "max_version", NULL};
  static const sp_yaml_keys keys = {read, left_out};
  spanprof_status st = sp_yaml_check_keys(given, "tls_config", &keys);

  if (!st)
    st = sp_yaml_switch(given, "insecure_skip_verify", &access->trusts_any);
  if (!st)
    st = sp_scrape_text(plan, given, "ca_file", &access->ca_file);
  if (!st)
    st = sp_scrape_text(plan, given, "cert_file", &access->cert_file);
  return st ? st : sp_scrape_text(plan, given, "key_file", &access->key_file);
}

spanprof_status sp_scrape_access_read(sp_scrape_plan *plan,
                                      sp_scrape_access *access,
                                      const sp_yaml *job) {
  const sp_yaml *basic = sp_yaml_get(job, "basic_auth");
  const sp_yaml *bearer = sp_yaml_get(job, "authorization");
  const sp_yaml *tls = sp_yaml_get(job, "tls_config");
  /* bearer_token is Prometheus' older form of `authorization`. */
  spanprof_status st =
      access_secret(plan, job, "bearer_token", "bearer_token_file",
                    &access->bearer, &access->bearer_file);

  if (st)
    return st;
  if ((basic != NULL) + (bearer != NULL) + (access->bearer != NULL) > 1)
    return sp_yaml_fail(
        job, "basic_auth, authorization and bearer_token cannot be combined");
  if (basic)
    st = access_basic(plan, access, basic);
  if (!st && bearer)
    st = access_bearer(plan, access, bearer);
  if (!st && tls)
    st = access_tls(plan, access, tls);
  return st;
}
