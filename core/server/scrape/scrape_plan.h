/* What is to be taken from where: one probe for each profile of each target,
 * from `--scrape` and from files of jobs. Fixed before the scraper starts. */
#ifndef SP_SCRAPE_PLAN_H
#define SP_SCRAPE_PLAN_H

#include "profile/tables/arena.h"
#include "util/system/log.h"

/* Of all targets together; and labels that one target is given. */
#define SP_SCRAPE_PROBES_MAX ((size_t)1000)
#define SP_SCRAPE_LABELS_MAX ((size_t)20)

/* As Prometheus and Grafana Alloy have them. */
#define SP_SCRAPE_INTERVAL_NS (15 * SP_NS_PER_S)
#define SP_SCRAPE_TIMEOUT_NS  (10 * SP_NS_PER_S)
#define SP_SCRAPE_PREFIX      "/debug/pprof"

/* A kind of profile, by the names that Alloy's pyroscope.scrape gives them. */
typedef struct sp_scrape_kind {
  const char *name;   /* "process_cpu" */
  const char *path;   /* behind the prefix: "/profile" */
  const char *metric; /* __name__; NULL: by the types that are in it */
  bool lasts;         /* asked with ?seconds=, and answered after these */
  /* One of these must be in it; all NULL: any may. */
  const char *types[6];
} sp_scrape_kind;

typedef struct sp_scrape_label {
  const char *name;
  const char *value;
} sp_scrape_label;

/* How a target is spoken to; NULL: not at all, or libcurl's default. */
typedef struct sp_scrape_access {
  const char *user;
  const char *password;
  const char *bearer;
  /* Files from which the three values above are read again for each request. */
  const char *user_file;
  const char *password_file;
  const char *bearer_file;
  const char *ca_file; /* PEM, as the others */
  const char *cert_file;
  const char *key_file;
  bool trusts_any; /* insecure_skip_verify */
} sp_scrape_access;

/* One address of a job, before its probes are made. Texts are copied. */
typedef struct sp_scrape_target {
  const char *job;
  const char *url; /* "http://host:6060", no path */
  const char *instance;
  sp_scrape_label labels[SP_SCRAPE_LABELS_MAX];
  size_t label_count;
  uint64_t interval_ns;
  uint64_t timeout_ns; /* on top of the seconds that a profile lasts */
  sp_scrape_access access;
} sp_scrape_target;

typedef struct sp_scrape_probe {
  sp_scrape_kind kind;
  const char *url; /* with ?seconds= where that is asked */
  const char *job;
  const char *instance;
  const sp_scrape_label *labels; /* with service_name, instance and job */
  size_t label_count;
  sp_scrape_access access;
  uint64_t interval_ns;
  uint64_t timeout_ns; /* of one request, all in all */
  size_t target;       /* probes of one target have one number */
  bool optional;       /* a target that has no such profile is no failure */
} sp_scrape_probe;

typedef struct sp_scrape_plan {
  sp_arena arena;
  sp_scrape_probe *probes;
  size_t count;
  size_t room;
  size_t target_count;
} sp_scrape_plan;

void sp_scrape_plan_init(sp_scrape_plan *plan, const sp_mem *mem);
void sp_scrape_plan_dispose(sp_scrape_plan *plan);

/* `URL[,name=value…]`. A URL of one profile (…/profile, /heap, /allocs,
 * /goroutine, /mutex, /block) is that one alone; of any other the path, or
 * /debug/pprof, is where all of them are looked for. SPANPROF_ERR_ARGUMENT in a
 * sentence without credentials; SPANPROF_ERR_LIMIT: too many;
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_scrape_plan_add_url(sp_scrape_plan *plan, const char *text);

/* Jobs in Prometheus' form, as YAML or JSON. What is not honoured of it is
 * named in warnings to `log`, which may be NULL. The same, and SPANPROF_ERR_IO.
 */
spanprof_status sp_scrape_plan_add_file(sp_scrape_plan *plan, const char *path,
                                        sp_log *log);

/* ---- For the reader of the file --------------------------------------- */

/* The kinds that every target is asked for, NULL behind the last. */
const sp_scrape_kind *const *sp_scrape_kinds(void);

/* A copy in the plan; NULL: no memory. */
const char *sp_scrape_plan_text(sp_scrape_plan *plan, const char *text);

/* Set a label of a target, checked; `what` names who gives it. */
spanprof_status sp_scrape_target_label(sp_scrape_target *target,
                                       const char *what, const char *name,
                                       const char *value);

/* Take scheme, host and port of `url` for the target's URL and instance, and
 * user and password where it has some. *path is what stands behind, with its
 * query, and is the plan's. */
spanprof_status sp_scrape_target_url(sp_scrape_plan *plan,
                                     sp_scrape_target *target, const char *url,
                                     const char **path);

/* The next probes are of another target. */
void sp_scrape_plan_target(sp_scrape_plan *plan);

/* Ask the target for `kind` at `path`, which begins with a slash. */
spanprof_status sp_scrape_plan_add(sp_scrape_plan *plan,
                                   const sp_scrape_target *target,
                                   const sp_scrape_kind *kind, const char *path,
                                   bool optional);

#endif
