#include "serve_arguments.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "server/http/guard.h"
#include "server/http/http_server.h"
#include "server/http/message/base_path.h"
#include "server/model/source_file.h"
#include "settings/duration.h"
#include "util/system/status.h"
#include "util/text/number.h"

/* Pyroscope's defaults of its options validation.reject-older-than and
 * validation.reject-newer-than. */
#define SERVE_PAST_NS   ((int64_t)3600 * 1000000000)
#define SERVE_FUTURE_NS ((int64_t)600 * 1000000000)

#define SERVE_UPLOAD_BYTES_MIN ((uint64_t)8 << 20)

/* These limits are enough for one team, because an application has at most a
 * few hundred series unless its labels contain ids. */
#define SERVE_SERIES        100000
#define SERVE_SERIES_OF_ONE 20000

#define SERVE_DAY_NS ((uint64_t)86400 * SP_NS_PER_S)

static const char serve_usage[] =
    "usage: spanprof serve [OPTION...]\n"
    "\n"
    "Receives profiles and traces of Pyroscope's clients and of OpenTelemetry, "
    "stores\n"
    "them in one file, and answers the queries of Grafana and of its own "
    "page.\n"
    "\n"
    "  --listen ADDRESS:PORT    address of the server, default "
    "127.0.0.1:4040;\n"
    "                           unix:PATH is a Unix socket for its user and "
    "group\n"
    "  --base-path PATH         path at which a proxy serves the page and the "
    "API,\n"
    "                           such as /profiles\n"
    "  --otlp ADDRESS:PORT      a second address to listen on, for example\n"
    "                           127.0.0.1:4318\n"
    "  --data DIRECTORY         directory of the stored data, default\n"
    "                           $XDG_DATA_HOME/spanprof or "
    "~/.local/share/spanprof\n"
    "  --retention TIME         age at which data is deleted, default 7d; 0: "
    "never\n"
    "  --max-bytes SIZE         largest size of the store on disk, default "
    "2G;\n"
    "                           0: no limit\n"
    "  --max-series COUNT       largest number of series, default 100000; "
    "labels of\n"
    "                           further series are stored as [other]; 0: no "
    "limit\n"
    "  --max-series-per-application COUNT\n"
    "                           largest number of series of each application,\n"
    "                           default 20000; 0: no limit\n"
    "  --ingest-window TIME     largest age of an uploaded profile, default "
    "1h;\n"
    "                           `off` accepts profiles of any time\n"
    "  --upload-memory SIZE     memory for decompressing and reading one "
    "upload,\n"
    "                           default 384M\n"
    "  --limits own|pyroscope   limits of one profile, default `own`; "
    "`pyroscope` are\n"
    "                           Pyroscope's, such as 2 MiB and 16,000 samples\n"
    "  --scrape URL[,NAME=VALUE...]\n"
    "                           fetch profiles from this URL, such as\n"
    "                           http://host:6060 of Go's net/http/pprof, and "
    "add\n"
    "                           these labels; repeatable\n"
    "  --scrape-config FILE     YAML file with scrape jobs in Prometheus' "
    "format\n"
    "  --metric name=NAME,query=QUERY[,node=FUNCTION][,group_by=LABEL;...]\n"
    "                           sum these profiles as a metric for Prometheus, "
    "at\n"
    "                           /exported-metrics; repeatable\n"
    "  --metrics FILE           YAML file with such metrics, with the keys of\n"
    "                           Pyroscope's export rules\n"
    "  --token TOKEN            token that every request must send; also read "
    "from\n"
    "                           the environment variable "
    "SPANPROF_SERVER_TOKEN\n"
    "  --token-file FILE        file with the token in its first line; the "
    "server\n"
    "                           reads the file again when it changes\n"
    "  --no-token               allow other machines to connect without a "
    "token\n"
    "  --allow-host NAME        accept requests whose Host header is this "
    "name,\n"
    "                           too, besides localhost and the names that\n"
    "                           containers use; repeatable\n"
    "  --source DIRECTORY       show source files below this directory on the "
    "page,\n"
    "                           to everyone who may query; repeatable\n"
    "  --open                   show the page in the browser, with $BROWSER,\n"
    "                           xdg-open, wslview or open\n"
    "  -h, --help               print this help\n"
    "      --version            print the version\n";

static int serve_refuse(FILE *err, const char *option, const char *value,
                        const char *wanted) {
  fprintf(err, "spanprof serve: --%s \"%.200s\" is refused: %s\n", option,
          value, wanted);
  return 2;
}

/* Durations and sizes are compared as signed numbers, so values above INT64_MAX
 * are refused. */
static bool serve_duration(const char *text, uint64_t *ns) {
  return !sp_duration_parse(text, SP_NS_PER_S, ns) && *ns <= INT64_MAX;
}

static bool serve_bytes(const char *text, uint64_t *bytes) {
  static const char units[] = "KMGT";
  uint64_t number;
  const spanprof_status st = sp_number_read(&text, NULL, &number);
  const char *unit = *text ? strchr(units, *text) : NULL;
  const int shift = unit ? 10 * (int)(unit - units + 1) : 0;

  text += unit != NULL;
  text += unit && *text == 'i';
  text += *text == 'B';
  *bytes = number << shift;
  return !st && *text == '\0' && *bytes >> shift == number &&
         *bytes <= INT64_MAX;
}

static int serve_count(const char *option, const char *value, uint64_t *count,
                       FILE *err) {
  return sp_number_is(value, UINT32_MAX, count)
             ? -1
             : serve_refuse(err, option, value,
                            "give a number such as 20000, or 0");
}

static int serve_directory(sp_serve_arguments *arguments, FILE *err) {
  const char *home = getenv("XDG_DATA_HOME");
  const char *below = "";

  if (arguments->options.data)
    return -1;
  if (!home || !*home) {
    home = getenv("HOME");
    below = "/.local/share";
  }
  if (!home || !*home || strlen(home) > sizeof arguments->data - 64) {
    fputs("spanprof serve: there is no home directory: choose a directory with "
          "--data\n",
          err);
    return 2;
  }
  snprintf(arguments->data, sizeof arguments->data, "%s%s/spanprof", home,
           below);
  arguments->options.data = arguments->data;
  return -1;
}

/* Require a token or --no-token for an address that other machines can reach,
 * because without a token all of them can read and write everything. */
static int serve_check_address(const sp_serve_arguments *arguments,
                               const char *address, FILE *err) {
  char host[256];
  uint16_t port;

  if (!address || sp_http_unix_path(address))
    return -1;
  if (sp_http_address(address, host, sizeof host, &port)) {
    fprintf(err, "spanprof serve: %s\n", spanprof_last_error());
    return 2;
  }
  if (sp_guard_is_loopback(host) || arguments->options.token ||
      arguments->options.token_file || arguments->no_token)
    return -1;
  fprintf(
      err,
      "spanprof serve: other machines can reach %s: give --token-file FILE, "
      "or --no-token if they may all read and write\n",
      address);
  return 2;
}

/* Returns the field for an option whose value is a text, or NULL for other
 * options. */
static const char **serve_text(sp_serve_options *options, const char *name) {
  const struct {
    const char *name;
    const char **text;
  } texts[] = {{"listen", &options->listen},
               {"otlp", &options->otlp},
               {"data", &options->data},
               {"scrape-config", &options->scrape_config},
               {"metrics", &options->metrics_file},
               {"token-file", &options->token_file}};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(texts); i++)
    if (strcmp(name, texts[i].name) == 0)
      return texts[i].text;
  return NULL;
}

/* Read an option that limits stored or received data. */
static int serve_bound(sp_serve_options *options, const char *name,
                       const char *value, FILE *err) {
  uint64_t number;

  if (strcmp(name, "retention") == 0) {
    if (!serve_duration(value, &options->retention_ns))
      return serve_refuse(
          err, name, value,
          "give a time such as 7d, 12h or 0, at most 292 years");
  } else if (strcmp(name, "max-bytes") == 0) {
    if (!serve_bytes(value, &options->max_bytes))
      return serve_refuse(err, name, value,
                          "give a size such as 2G, 500M or 0, below 8388608T");
  } else if (strcmp(name, "upload-memory") == 0) {
    if (!serve_bytes(value, &number) || number < SERVE_UPLOAD_BYTES_MIN)
      return serve_refuse(err, name, value,
                          "give a size such as 384M, at least 8M");
    options->upload_bytes = number;
  } else if (strcmp(name, "limits") == 0) {
    if (strcmp(value, "own") != 0 && strcmp(value, "pyroscope") != 0)
      return serve_refuse(err, name, value, "give own or pyroscope");
    options->limits = *value == 'p' ? &sp_limits_pyroscope : &sp_limits_own;
  } else if (strcmp(name, "max-series") == 0) {
    return serve_count(name, value, &options->max_series, err);
  } else if (strcmp(name, "max-series-per-application") == 0) {
    return serve_count(name, value, &options->max_series_per_application, err);
  } else if (strcmp(value, "off") == 0) {
    options->window_past_ns = options->window_future_ns = -1;
  } else {
    if (!serve_duration(value, &number) || number == 0)
      return serve_refuse(err, name, value, "give a time such as 1h, or off");
    options->window_past_ns = (int64_t)number;
  }
  return -1;
}

/* Read the base path. Removes a slash at its end. "/" means no base path. */
static int serve_base_path(sp_serve_arguments *arguments, const char *value,
                           FILE *err) {
  const size_t size = strlen(value);
  const bool has_slash = size > 0 && value[size - 1] == '/';

  arguments->options.base_path = NULL;
  if (strcmp(value, "/") == 0)
    return -1;
  snprintf(arguments->base_path, sizeof arguments->base_path, "%.*s",
           (int)(sp_min_u64(size, sizeof arguments->base_path) - has_slash),
           value);
  if (size >= sizeof arguments->base_path ||
      !sp_base_path_is(arguments->base_path))
    return serve_refuse(err, "base-path", value,
                        "give a path such as /profiles");
  arguments->options.base_path = arguments->base_path;
  return -1;
}

static int serve_source(sp_serve_arguments *arguments, const char *value,
                        FILE *err) {
  sp_serve_options *options = &arguments->options;

  if (!sp_source_directory_is(value))
    return serve_refuse(err, "source", value,
                        "give a directory with source files, other than /");
  if (options->source_count == SP_SERVE_SOURCES_MAX)
    return serve_refuse(err, "source", value,
                        "more than 16 directories are given");
  arguments->sources[options->source_count++] = value;
  return -1;
}

static int serve_option(sp_serve_arguments *arguments, const char *name,
                        char *value, FILE *err) {
  sp_serve_options *options = &arguments->options;
  const char **text = serve_text(options, name);

  if (text) {
    *text = value;
  } else if (strcmp(name, "scrape") == 0) {
    if (options->scrape_count == SP_SERVE_SCRAPES_MAX)
      return serve_refuse(err, name, "",
                          "more than 64 are given; use --scrape-config");
    arguments->scrapes[options->scrape_count++] = value;
  } else if (strcmp(name, "metric") == 0) {
    if (options->metric_count == SP_SERVE_METRICS_MAX)
      return serve_refuse(err, name, value,
                          "more than 100 are given; use --metrics");
    arguments->metrics[options->metric_count++] = value;
  } else if (strcmp(name, "token") == 0) {
    if (!*value)
      return serve_refuse(err, name, value, "it is empty");
    options->token = value;
  } else if (strcmp(name, "no-token") == 0) {
    arguments->no_token = true;
  } else if (strcmp(name, "allow-host") == 0) {
    if (!sp_guard_is_name(value))
      return serve_refuse(
          err, name, value,
          "give a name without a port, such as gateway.example");
    if (options->host_count == SP_SERVE_HOSTS_MAX)
      return serve_refuse(err, name, value, "more than 64 names are given");
    arguments->hosts[options->host_count++] = value;
  } else if (strcmp(name, "source") == 0) {
    return serve_source(arguments, value, err);
  } else if (strcmp(name, "base-path") == 0) {
    return serve_base_path(arguments, value, err);
  } else if (strcmp(name, "open") == 0) {
    arguments->open = true;
  } else {
    return serve_bound(options, name, value, err);
  }
  return -1;
}

static int serve_access(sp_serve_arguments *arguments, FILE *err) {
  sp_serve_options *options = &arguments->options;
  int status;

  if (options->token && options->token_file)
    return serve_refuse(err, "token-file", options->token_file,
                        "--token is given, too; give only one of the two");
  if (!options->token && !options->token_file)
    options->token = getenv("SPANPROF_SERVER_TOKEN");
  if (options->token && !*options->token)
    options->token = NULL;
  status = serve_check_address(arguments, options->listen, err);
  return status < 0 ? serve_check_address(arguments, options->otlp, err)
                    : status;
}

static void serve_defaults(sp_serve_arguments *arguments) {
  memset(arguments, 0, sizeof *arguments);
  arguments->options =
      (sp_serve_options){.listen = "127.0.0.1:4040",
                         .retention_ns = 7 * SERVE_DAY_NS,
                         .max_bytes = (uint64_t)2 << 30,
                         .max_series = SERVE_SERIES,
                         .max_series_per_application = SERVE_SERIES_OF_ONE,
                         .window_past_ns = SERVE_PAST_NS,
                         .window_future_ns = SERVE_FUTURE_NS,
                         .upload_bytes = (size_t)384 << 20,
                         .limits = &sp_limits_own,
                         .hosts = arguments->hosts,
                         .sources = arguments->sources,
                         .scrapes = arguments->scrapes,
                         .metrics = arguments->metrics};
}

int sp_serve_arguments_read(sp_serve_arguments *arguments, int argc,
                            char **argv, FILE *out, FILE *err) {
  static const struct option known[] = {
      {"listen", required_argument, NULL, 'o'},
      {"base-path", required_argument, NULL, 'o'},
      {"otlp", required_argument, NULL, 'o'},
      {"data", required_argument, NULL, 'o'},
      {"retention", required_argument, NULL, 'o'},
      {"max-bytes", required_argument, NULL, 'o'},
      {"max-series", required_argument, NULL, 'o'},
      {"max-series-per-application", required_argument, NULL, 'o'},
      {"ingest-window", required_argument, NULL, 'o'},
      {"upload-memory", required_argument, NULL, 'o'},
      {"limits", required_argument, NULL, 'o'},
      {"scrape", required_argument, NULL, 'o'},
      {"scrape-config", required_argument, NULL, 'o'},
      {"metric", required_argument, NULL, 'o'},
      {"metrics", required_argument, NULL, 'o'},
      {"token", required_argument, NULL, 'o'},
      {"token-file", required_argument, NULL, 'o'},
      {"no-token", no_argument, NULL, 'o'},
      {"allow-host", required_argument, NULL, 'o'},
      {"source", required_argument, NULL, 'o'},
      {"open", no_argument, NULL, 'o'},
      {"help", no_argument, NULL, 'h'},
      {"version", no_argument, NULL, 'V'},
      {0},
  };
  int letter, number = 0, status = -1;

  serve_defaults(arguments);
  while (status < 0 &&
         (letter = getopt_long(argc, argv, "h", known, &number)) != -1) {
    if (letter == 'o') {
      status = serve_option(arguments, known[number].name, optarg, err);
    } else if (letter == 'V') {
      fprintf(out, "spanprof-server %s\n", spanprof_version());
      status = 0;
    } else {
      fputs(serve_usage, letter == 'h' ? out : err);
      status = letter == 'h' ? 0 : 2;
    }
  }
  if (status < 0 && optind < argc) {
    fprintf(err, "spanprof serve: unknown argument \"%.200s\"\n", argv[optind]);
    status = 2;
  }
  if (status < 0)
    status = serve_access(arguments, err);
  return status < 0 ? serve_directory(arguments, err) : status;
}
