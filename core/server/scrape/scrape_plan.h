/* The list of probes. A probe is one profile of one target; targets come from
 * `--scrape` and from files of jobs (`--scrape-config`). The list is complete
 * before the scraper starts. */
#ifndef SP_SCRAPE_PLAN_H
#define SP_SCRAPE_PLAN_H

#include "profile/tables/arena.h"
#include "util/system/log.h"

/* Largest number of probes of all targets, and of labels of one target. */
#define SP_SCRAPE_PROBES_MAX ((size_t)1000)
#define SP_SCRAPE_LABELS_MAX ((size_t)20)

/* The defaults of Prometheus and Grafana Alloy. */
#define SP_SCRAPE_INTERVAL_NS (15 * SP_NS_PER_S)
#define SP_SCRAPE_TIMEOUT_NS  (10 * SP_NS_PER_S)
#define SP_SCRAPE_PREFIX      "/debug/pprof"

/* A kind of profile. The names are those of Alloy's pyroscope.scrape. */
typedef struct sp_scrape_kind {
  const char *name;   /* "process_cpu" */
  const char *path;   /* path after the prefix: "/profile" */
  const char *metric; /* the label __name__; NULL: derived from the types */
  /* The request has ?seconds=, and the target answers after that time. */
  bool lasts;
  /* The profile must have one of these types. If all are NULL, it may have any
   * type. */
  const char *types[6];
} sp_scrape_kind;

typedef struct sp_scrape_label {
  const char *name;
  const char *value;
} sp_scrape_label;

/* Credentials and TLS settings. If a member is NULL, there is no such setting,
 * or libcurl's default is used. */
typedef struct sp_scrape_access {
  const char *user;
  const char *password;
  const char *bearer;
  /* Files with the three values above. They are read again for each request. */
  const char *user_file;
  const char *password_file;
  const char *bearer_file;
  const char *ca_file; /* this file and the two below are PEM files */
  const char *cert_file;
  const char *key_file;
  bool trusts_any; /* insecure_skip_verify */
} sp_scrape_access;

/* A target: one address of a job. Each of its profiles becomes a probe, which
 * has copies of the texts. */
typedef struct sp_scrape_target {
  const char *job;
  const char *url; /* "http://host:6060", without a path */
  const char *instance;
  sp_scrape_label labels[SP_SCRAPE_LABELS_MAX];
  size_t label_count;
  uint64_t interval_ns;
  uint64_t timeout_ns; /* in addition to the duration of the profile */
  sp_scrape_access access;
} sp_scrape_target;

typedef struct sp_scrape_probe {
  sp_scrape_kind kind;
  const char *url; /* includes ?seconds= if necessary */
  const char *job;
  const char *instance;
  const sp_scrape_label *labels; /* with service_name, instance and job */
  size_t label_count;
  sp_scrape_access access;
  uint64_t interval_ns;
  uint64_t timeout_ns; /* for the whole request */
  size_t target;       /* number of the target, which is the same for all its
                        * probes */
  bool optional;       /* the target need not have this profile */
} sp_scrape_probe;

typedef struct sp_scrape_plan {
  sp_arena arena;
  sp_scrape_probe *probes;
  size_t count;
  size_t capacity;
  size_t target_count;
} sp_scrape_plan;

void sp_scrape_plan_init(sp_scrape_plan *plan, const sp_mem *mem);
void sp_scrape_plan_dispose(sp_scrape_plan *plan);

/* Add the probes of a text such as `URL[,name=value…]`. If the URL is that of
 * one profile (…/profile, /heap, /allocs, /goroutine, /mutex, /block), only
 * this profile is added. For any other URL, all kinds of profiles are added
 * below its path, or below /debug/pprof if it has no path. Returns
 * SPANPROF_ERR_ARGUMENT if the text is invalid; the error text contains no
 * credentials. Returns SPANPROF_ERR_LIMIT if there are too many probes. Can
 * return SPANPROF_ERR_NOMEM. */
spanprof_status sp_scrape_plan_add_url(sp_scrape_plan *plan, const char *text);

/* Add the jobs of a YAML or JSON file in the form of Prometheus. Unsupported
 * keys are logged as warnings; `log` may be NULL. Returns SPANPROF_ERR_IO if a
 * file cannot be read, or another status that sp_scrape_plan_add_url() can
 * return. */
spanprof_status sp_scrape_plan_add_file(sp_scrape_plan *plan, const char *path,
                                        sp_log *log);

/* ---- Functions for the readers of files of jobs ------------------------ */

/* Returns the kinds of profiles that are requested from every target. The list
 * ends with NULL. */
const sp_scrape_kind *const *sp_scrape_kinds(void);

/* Copy a text to the plan. Returns NULL if there is no memory. */
const char *sp_scrape_plan_text(sp_scrape_plan *plan, const char *text);

/* Check a label and add it to a target. Error messages begin with `what`, the
 * origin of the label. */
spanprof_status sp_scrape_target_label(sp_scrape_target *target,
                                       const char *what, const char *name,
                                       const char *value);

/* Set the URL and instance of a target from the scheme, host and port of `url`,
 * and the credentials if `url` contains some. *path gets the path and the query
 * of `url`; the plan owns this text. */
spanprof_status sp_scrape_target_url(sp_scrape_plan *plan,
                                     sp_scrape_target *target, const char *url,
                                     const char **path);

/* Begin a new target, to which the following probes belong. */
void sp_scrape_plan_target(sp_scrape_plan *plan);

/* Add a probe for `kind` at `path`, which begins with a slash. */
spanprof_status sp_scrape_plan_add(sp_scrape_plan *plan,
                                   const sp_scrape_target *target,
                                   const sp_scrape_kind *kind, const char *path,
                                   bool optional);

#endif
