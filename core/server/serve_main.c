/* The program `spanprof-server`. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "open_page.h"
#include "serve_arguments.h"
#include "server/exported/exported_metrics.h"
#include "server/http/http_server.h"
#include "server/model/hash_secret.h"
#include "server/scrape/scraper.h"
#include "server/store/store.h"
#include "server_routes.h"
#include "state_routes.h"
#include "util/system/status.h"

typedef struct serve_process {
  sp_serve_arguments arguments;
  sp_log log;
  sp_serve serve;
  sp_state state;
  sp_http_routes routes;
  sp_http_server *http;
  sp_scrape_plan plan;
  sp_scraper *scraper;
  sp_metric_rules rules;
  sp_exported_metrics metrics;
  char path[4096];
} serve_process;

/* Sync the parent directory of `path`, so that a new entry in it survives a
 * crash. If the directory cannot be opened, it is not synced. */
static void serve_sync_parent(const char *path) {
  const char *slash = strrchr(path, '/');
  char parent[4096];
  int directory;

  snprintf(parent, sizeof parent, "%.*s",
           slash > path ? (int)(slash - path) : 1, slash ? path : ".");
  directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0)
    return;
  fsync(directory);
  close(directory);
}

/* Create each missing directory of the path, accessible only to the user. */
static spanprof_status serve_make_directory(const char *directory, char *path,
                                            size_t capacity) {
  char *slash;

  if (strlen(directory) + sizeof "/spanprof.db" > capacity)
    return sp_fail(SPANPROF_ERR_ARGUMENT, "the path of --data is too long");
  strcpy(path, directory);
  for (slash = path;;) {
    slash = strchr(slash + 1, '/');
    if (slash)
      *slash = '\0';
    if (mkdir(path, 0700) == 0)
      serve_sync_parent(path);
    else if (errno != EEXIST)
      return sp_fail_errno(SPANPROF_ERR_IO, errno,
                           "cannot create the directory %s", path);
    if (!slash)
      break;
    *slash = '/';
  }
  strcat(path, "/spanprof.db");
  return SPANPROF_OK;
}

static spanprof_status serve_open(serve_process *process) {
  const sp_serve_options *options = &process->arguments.options;
  const sp_store_options store = {.mem = &sp_mem_default,
                                  .clock = sp_clock_system(),
                                  .log = &process->log,
                                  .path = process->path,
                                  .retention_ns = options->retention_ns,
                                  .max_bytes = options->max_bytes,
                                  .max_series = options->max_series,
                                  .max_series_per_application =
                                      options->max_series_per_application};
  spanprof_status st =
      serve_make_directory(options->data, process->path, sizeof process->path);

  if (!st)
    st = sp_store_open(&process->serve.store, &store);
  process->serve.mem = &sp_mem_default;
  process->serve.clock = sp_clock_system();
  process->serve.log = &process->log;
  process->serve.options = options;
  sp_gate_init(&process->serve.large_uploads, 1);
  process->state.serve = &process->serve;
  sp_exported_metrics_init(&process->metrics, &sp_mem_default, &process->log,
                           &process->rules);
  if (process->rules.count) {
    process->serve.on_stored = sp_exported_metrics_observe;
    process->serve.on_stored_data = &process->metrics;
  }
  if (!st)
    st = sp_state_routes(&process->routes, &process->state);
  if (!st)
    st = sp_exported_metrics_routes(&process->routes, &process->metrics);
  return st ? st : sp_server_routes(&process->routes, &process->serve);
}

/* Read the scrape targets. Called before the store and the sockets are opened,
 * because an error here is a mistake of the user. */
static spanprof_status serve_plan(serve_process *process) {
  const sp_serve_options *options = &process->arguments.options;
  spanprof_status st = SPANPROF_OK;
  size_t i;

  sp_scrape_plan_init(&process->plan, &sp_mem_default);
  for (i = 0; !st && i < options->scrape_count; i++)
    st = sp_scrape_plan_add_url(&process->plan, options->scrapes[i]);
  if (!st && options->scrape_config)
    st = sp_scrape_plan_add_file(&process->plan, options->scrape_config,
                                 &process->log);
  return st;
}

static spanprof_status serve_rules(serve_process *process) {
  const sp_serve_options *options = &process->arguments.options;
  spanprof_status st = sp_metric_rules_init(&process->rules, &sp_mem_default);
  size_t i;

  for (i = 0; !st && i < options->metric_count; i++)
    st = sp_metric_rules_add(&process->rules, options->metrics[i]);
  if (!st && options->metrics_file)
    st = sp_metric_rules_add_file(&process->rules, options->metrics_file);
  return st;
}

static spanprof_status serve_scrape(serve_process *process) {
  spanprof_status st;

  if (!process->plan.count)
    return SPANPROF_OK;
  st = sp_scraper_start(&process->scraper, &process->serve, &process->plan);
  atomic_store(&process->state.scraper, process->scraper);
  return st;
}

/* Returns the path of the page, which the server prints after its address. */
static const char *serve_page_path(const sp_serve_options *options) {
  static char path[256];

  if (!options->base_path || sp_http_unix_path(options->listen))
    return "";
  snprintf(path, sizeof path, "%s/", options->base_path);
  return path;
}

static spanprof_status serve_listen(serve_process *process) {
  const sp_serve_options *options = &process->arguments.options;
  const sp_http_server_options http = {.routes = &process->routes,
                                       .log = &process->log,
                                       .token = options->token,
                                       .token_file = options->token_file,
                                       .hosts = options->hosts,
                                       .host_count = options->host_count,
                                       .base_path = options->base_path,
                                       .listen = options->listen,
                                       .listen_also = options->otlp};
  spanprof_status st = sp_http_server_start(&process->http, &http);
  char address[4096], also[4096];

  if (st)
    return st;
  atomic_store(&process->state.http, process->http);
  sp_http_server_format_address(process->http, 0, options->listen, address,
                                sizeof address);
  if (options->otlp)
    sp_http_server_format_address(process->http, 1, options->otlp, also,
                                  sizeof also);
  printf("spanprof-server %s at %s%s,%s%s%s data in %s\n", spanprof_version(),
         address, serve_page_path(options), options->otlp ? " OTLP at " : "",
         options->otlp ? also : "", options->otlp ? "," : "", options->data);
  fflush(stdout);
  return SPANPROF_OK;
}

static void serve_close(serve_process *process) {
  sp_scraper_halt(process->scraper);
  sp_http_server_stop(process->http);
  sp_http_routes_dispose(&process->routes);
  /* If the scraper's thread does not exit, the data that it may use is not
   * freed. The store's file is consistent even if it is not closed. */
  if (!sp_scraper_stop(process->scraper))
    return;
  sp_scrape_plan_dispose(&process->plan);
  sp_store_close(process->serve.store);
  sp_exported_metrics_dispose(&process->metrics);
  sp_metric_rules_dispose(&process->rules);
}

/* Block the signals that stop the server, for sigwait(). All threads inherit
 * the signal mask. A signal that is already ignored (SIGHUP by nohup, or SIGINT
 * in a background job of a script) stays ignored. */
static void serve_block_signals(sigset_t *stop_signals) {
  static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
  struct sigaction before;
  size_t i;

  sigemptyset(stop_signals);
  for (i = 0; i < SP_COUNT_OF(numbers); i++)
    if (!sigaction(numbers[i], NULL, &before) && before.sa_handler != SIG_IGN)
      sigaddset(stop_signals, numbers[i]);
  pthread_sigmask(SIG_BLOCK, stop_signals, NULL);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN); /* so that a write beyond RLIMIT_FSIZE fails like on
                             * a full disk */
}

static void serve_wait(serve_process *process, const sigset_t *stop_signals) {
  int received;

  /* The server already answers requests, and continues if no browser can be
   * opened. */
  if (process->arguments.open &&
      sp_open_page(process->arguments.options.listen,
                   sp_http_server_port(process->http),
                   process->arguments.options.base_path))
    fprintf(stderr, "spanprof serve: --open: %s\n", spanprof_last_error());
  sigwait(stop_signals, &received);
}

int main(int argc, char **argv) {
  static serve_process process;
  sigset_t stop_signals;
  int status;
  spanprof_status st;

  status =
      sp_serve_arguments_read(&process.arguments, argc, argv, stdout, stderr);
  if (status >= 0)
    return status;
  /* With few arenas of malloc(), threads keep less free memory. With these
   * thresholds, large blocks are returned to the system when they are freed,
   * but the memory that a typical upload needs stays in the process. */
  mallopt(M_ARENA_MAX, 4);
  mallopt(M_TRIM_THRESHOLD, 4 << 20);
  mallopt(M_MMAP_THRESHOLD, 256 << 10);
  serve_block_signals(&stop_signals);
  sp_log_init(&process.log, NULL, NULL, SPANPROF_LOG_INFO, sp_clock_system());
  process.routes.mem = &sp_mem_default;
  st = sp_hash_secret_init();
  if (!st)
    st = serve_plan(&process);
  if (!st)
    st = serve_rules(&process);
  if (!st)
    st = serve_open(&process);
  if (!st)
    st = serve_listen(&process);
  if (!st)
    st = serve_scrape(&process);
  if (st)
    fprintf(stderr, "spanprof serve: %s\n",
            st == SPANPROF_ERR_NOMEM ? "out of memory" : spanprof_last_error());
  else
    serve_wait(&process, &stop_signals);
  serve_close(&process);
  return st ? 1 : 0;
}
