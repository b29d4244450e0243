#include "scrape_access.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../util/status.h"

#define ACCESS_SECRET_MAX 4096

spanprof_status sp_scrape_known(const char *job, const char *where,
                                const json_t *object,
                                const char *const *known) {
  json_t *members = (json_t *)(uintptr_t)object;
  const char *name;
  json_t *value;
  size_t i;

  if (!json_is_object(object))
    return sp_fail(SPANPROF_ERR_ARGUMENT, "job %.100s: %s is no object", job,
                   where);
  json_object_foreach(members, name, value) {
    for (i = 0; known[i] && strcmp(known[i], name) != 0; i++)
      ;
    if (!known[i])
      return sp_fail(SPANPROF_ERR_ARGUMENT,
                     "job %.100s: %s of %s is not known here", job, name,
                     where);
  }
  return SPANPROF_OK;
}

spanprof_status sp_scrape_text(sp_scrape_plan *plan, const char *job,
                               const json_t *object, const char *name,
                               const char **out) {
  const json_t *value = json_object_get(object, name);

  *out = NULL;
  if (!value)
    return SPANPROF_OK;
  if (!json_is_string(value))
    return sp_fail(SPANPROF_ERR_ARGUMENT, "job %.100s: %s is no text", job,
                   name);
  *out = sp_scrape_plan_text(plan, json_string_value(value));
  return *out ? SPANPROF_OK
              : sp_fail(SPANPROF_ERR_NOMEM,
                        "no memory for what is to be scraped");
}

/* The secret of a file, without the end of its line. */
static spanprof_status access_file(sp_scrape_plan *plan, const char *path,
                                   const char **out) {
  char text[ACCESS_SECRET_MAX + 1];
  FILE *file = fopen(path, "re");
  size_t size;

  if (!file)
    return sp_fail_errno(SPANPROF_ERR_IO, errno, "%s cannot be read", path);
  size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[size] = '\0';
  text[strcspn(text, "\r\n")] = '\0';
  *out = sp_scrape_plan_text(plan, text);
  return *out ? SPANPROF_OK
              : sp_fail(SPANPROF_ERR_NOMEM,
                        "no memory for what is to be scraped");
}

/* A secret as it is, or in a file. */
static spanprof_status access_secret(sp_scrape_plan *plan, const char *job,
                                     const json_t *given, const char *name,
                                     const char *file_name, const char **out) {
  const char *path;
  spanprof_status st = sp_scrape_text(plan, job, given, name, out);

  if (!st)
    st = sp_scrape_text(plan, job, given, file_name, &path);
  return st || !path ? st : access_file(plan, path, out);
}

static spanprof_status access_basic(sp_scrape_plan *plan,
                                    sp_scrape_access *access, const char *job,
                                    const json_t *given) {
  static const char *const known[] = {"username", "password", "password_file",
                                      NULL};
  spanprof_status st = sp_scrape_known(job, "basic_auth", given, known);

  if (!st)
    st = sp_scrape_text(plan, job, given, "username", &access->user);
  if (!st)
    st = access_secret(plan, job, given, "password", "password_file",
                       &access->password);
  if (!st && (!access->user || !access->password))
    st = sp_fail(SPANPROF_ERR_ARGUMENT,
                 "job %.100s: basic_auth has a username and a password or "
                 "password_file",
                 job);
  return st;
}

static spanprof_status access_bearer(sp_scrape_plan *plan,
                                     sp_scrape_access *access, const char *job,
                                     const json_t *given) {
  static const char *const known[] = {"type", "credentials", "credentials_file",
                                      NULL};
  spanprof_status st = sp_scrape_known(job, "authorization", given, known);
  const char *type;

  if (!st)
    st = sp_scrape_text(plan, job, given, "type", &type);
  if (!st)
    st = access_secret(plan, job, given, "credentials", "credentials_file",
                       &access->bearer);
  if (!st && ((type && strcmp(type, "Bearer") != 0) || !access->bearer))
    st = sp_fail(SPANPROF_ERR_ARGUMENT,
                 "job %.100s: authorization is of the type Bearer, with "
                 "credentials or credentials_file",
                 job);
  return st;
}

static spanprof_status access_tls(sp_scrape_plan *plan,
                                  sp_scrape_access *access, const char *job,
                                  const json_t *given) {
  static const char *const known[] = {"ca_file", "cert_file", "key_file",
                                      "insecure_skip_verify", NULL};
  const json_t *skip = json_object_get(given, "insecure_skip_verify");
  spanprof_status st = sp_scrape_known(job, "tls_config", given, known);

  if (!st && skip && !json_is_boolean(skip))
    st = sp_fail(SPANPROF_ERR_ARGUMENT,
                 "job %.100s: insecure_skip_verify is true or false", job);
  access->trusts_any = json_is_true(skip);
  if (!st)
    st = sp_scrape_text(plan, job, given, "ca_file", &access->ca_file);
  if (!st)
    st = sp_scrape_text(plan, job, given, "cert_file", &access->cert_file);
  return st ? st
            : sp_scrape_text(plan, job, given, "key_file", &access->key_file);
}

spanprof_status sp_scrape_access_read(sp_scrape_plan *plan,
                                      sp_scrape_access *access, const char *job,
                                      const json_t *given) {
  const json_t *basic = json_object_get(given, "basic_auth");
  const json_t *bearer = json_object_get(given, "authorization");
  const json_t *tls = json_object_get(given, "tls_config");
  spanprof_status st = SPANPROF_OK;

  if (basic && bearer)
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "job %.100s: basic_auth and authorization exclude each "
                   "other",
                   job);
  if (basic)
    st = access_basic(plan, access, job, basic);
  if (!st && bearer)
    st = access_bearer(plan, access, job, bearer);
  if (!st && tls)
    st = access_tls(plan, access, job, tls);
  return st;
}
