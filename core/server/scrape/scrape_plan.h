/* The list of probes: one for each profile of each target, from `--scrape` and
 * from files of jobs. It is complete before the scraper starts. */
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

/* A kind of profile, with the names of Alloy's pyroscope.scrape. */
typedef struct sp_scrape_kind {
  const char *name;   /* "process_cpu" */
  const char *path;   /* after the prefix: "/profile" */
  const char *metric; /* __name__; NULL: derived from the types */
  bool lasts; /* requested with ?seconds=, and answered after that time */
  /* The profile must have one of these types. All NULL: any type. */
  const char *types[6];
} sp_scrape_kind;

typedef struct sp_scrape_label {
  const char *name;
  const char *value;
} sp_scrape_label;

/* Credentials and TLS settings. NULL: none, or libcurl's default. */
typedef struct sp_scrape_access {
  const char *user;
  const char *password;
  const char *bearer;
  /* Files with these three values. They are read again for each request. */
  const char *user_file;
  const char *password_file;
  const char *bearer_file;
  const char *ca_file; /* this file and the two below are PEM files */
  const char *cert_file;
  const char *key_file;
  bool trusts_any; /* insecure_skip_verify */
} sp_scrape_access;

/* A target: one address of a job. Each of its profiles is a probe. Texts are
 * copied. */
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
  const sp_scrape_label *labels; /* including service_name, instance and job */
  size_t label_count;
  sp_scrape_access access;
  uint64_t interval_ns;
  uint64_t timeout_ns; /* of the whole request */
  size_t target;       /* number of the target, shared by its probes */
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

/* Add `URL[,name=value…]`. A URL of one profile (…/profile, /heap, /allocs,
 * /goroutine, /mutex, /block) adds only this profile. For any other URL, all
 * kinds are requested below its path, or below /debug/pprof.
 * SPANPROF_ERR_ARGUMENT with a message without credentials; SPANPROF_ERR_LIMIT:
 * too many probes; SPANPROF_ERR_NOMEM. */
spanprof_status sp_scrape_plan_add_url(sp_scrape_plan *plan, const char *text);

/* Add the jobs of a YAML or JSON file in the form of Prometheus. Unsupported
 * keys are logged as warnings; `log` may be NULL. Errors as above, and
 * SPANPROF_ERR_IO. */
spanprof_status sp_scrape_plan_add_file(sp_scrape_plan *plan, const char *path,
                                        sp_log *log);

/* ---- For the readers of files ----------------------------------------- */

/* Returns the kinds that are requested from every target; NULL ends the list.
 */
const sp_scrape_kind *const *sp_scrape_kinds(void);

/* Copy a text to the plan. Returns NULL if there is no memory. */
const char *sp_scrape_plan_text(sp_scrape_plan *plan, const char *text);

/* Check a label and add it to a target; `what` names its origin in messages. */
spanprof_status sp_scrape_target_label(sp_scrape_target *target,
                                       const char *what, const char *name,
                                       const char *value);

/* Set the target's URL and instance from scheme, host and port of `url`, and
 * the credentials if it contains some. *path is the remaining part, with the
 * query; the plan owns it. */
spanprof_status sp_scrape_target_url(sp_scrape_plan *plan,
                                     sp_scrape_target *target, const char *url,
                                     const char **path);

/* Begin a new target for the next probes. */
void sp_scrape_plan_target(sp_scrape_plan *plan);

/* Add a probe for `kind` at `path`, which begins with a slash. */
spanprof_status sp_scrape_plan_add(sp_scrape_plan *plan,
                                   const sp_scrape_target *target,
                                   const sp_scrape_kind *kind, const char *path,
                                   bool optional);

#endif
