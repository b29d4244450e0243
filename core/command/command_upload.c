#include <string.h>
#include <time.h>

#include "command.h"
#include "command/shared/arguments.h"
#include "command/shared/command_client.h"
#include "command/shared/profile_list.h"
#include "command/shared/progress.h"
#include "export/pyroscope.h"
#include "export/upload/retry.h"
#include "export/upload/series_comments.h"
#include "profile/pprof/gunzip.h"
#include "profile/pprof/gzip_stream.h"
#include "profile/pprof/pprof_reader.h"
#include "util/system/status.h"

/* Largest number of attempts to send one profile, and the longest wait between
 * two attempts. */
#define UPLOAD_TRIES       5
#define UPLOAD_WAIT_MAX_NS (10 * SP_NS_PER_S)

/* Additional time limit of a request per MiB, because a server processes the
 * whole profile before it answers. */
#define UPLOAD_NS_PER_MIB (5 * SP_NS_PER_S)

static const char upload_usage[] =
    "usage: spanprof upload [--server URL] FILE|DIRECTORY...\n"
    "\n"
    "Uploads pprof profiles, compressed or not, to Pyroscope. Profiles from "
    "an\n"
    "output directory of spanprof contain their application name and labels.\n"
    "All other profiles get the name and labels of the environment\n"
    "(PYROSCOPE_...). A directory stands for the files named *.pb.gz, *.pb,\n"
    "*.pprof and *.prof in it and its subdirectories; - stands for standard\n"
    "input.\n"
    "\n";

static const sp_argument upload_arguments[] = {
    {"server", "URL",
     "address of the server; default: PYROSCOPE_SERVER_ADDRESS"},
};

static const char upload_more[] =
    "\n"
    "Credentials and all other options come from the environment, as in a\n"
    "profiled program. The files are not deleted. The server stores a profile\n"
    "only once, and refuses profiles that are older than an hour. Exit "
    "status:\n"
    "1 if a file was not accepted, 2 for wrong usage.\n";

typedef struct upload_job {
  const sp_command_io *io;
  const char *server;
  bool help;
  sp_profile_list files;
  sp_command_client client;
  sp_progress progress;
  size_t seen;
  size_t accepted;
  /* No attempt to send a certain file got an answer. The remaining files are
   * not sent, because each would wait as long. */
  bool unanswered;
  int status;
} upload_job;

static void upload_complain(upload_job *job, const char *path,
                            const char *why) {
  job->status = SP_EXIT_FAILED;
  sp_progress_clear(&job->progress);
  sp_command_error(job->io, "upload", path, why);
}

static void upload_print_help(FILE *out) {
  fputs(upload_usage, out);
  sp_arguments_help(upload_arguments, SP_COUNT_OF(upload_arguments), out);
  fputs(upload_more, out);
}

static bool upload_read_arguments(upload_job *job, int argc, char **argv) {
  sp_arguments arguments;
  bool any = false;
  const char *value;
  int found;

  sp_arguments_init(&arguments, upload_arguments, SP_COUNT_OF(upload_arguments),
                    argc, argv);
  while ((found = sp_arguments_next(&arguments, &value)) != SP_ARGUMENT_END) {
    any = any || found == SP_ARGUMENT_OPERAND;
    if (found == SP_ARGUMENT_WRONG) {
      upload_complain(job, NULL, spanprof_last_error());
      return false;
    }
    if (found == 0)
      job->server = value;
    else if (found == SP_ARGUMENT_HELP)
      job->help = true;
    else if (sp_profile_list_add(&job->files, value))
      upload_complain(job, NULL, spanprof_last_error());
  }
  if (any || job->help)
    return true;
  upload_print_help(job->io->err);
  return false;
}

/* Read the time of a profile into `part`, and its application name and labels
 * into `series`, which the caller disposes of. */
static spanprof_status upload_describe(const upload_job *job, sp_encoded *part,
                                       sp_series *series) {
  sp_pprof *profile;
  spanprof_status st =
      sp_pprof_read_head(&profile, job->io->mem, part->bytes, part->size);

  if (st)
    return st;
  part->time_ns = profile->time_ns > 0 ? (uint64_t)profile->time_ns : 0;
  part->duration_ns =
      profile->duration_ns > 0 ? (uint64_t)profile->duration_ns : 0;
  st = sp_series_comments_read(profile->comments, profile->comment_count,
                               job->io->mem, series);
  if (st == SPANPROF_ERR_FORMAT)
    st = sp_series_init(series, job->io->mem, &job->client.settings, NULL);
  sp_pprof_free(profile);
  return st ? sp_fail(st, "out of memory") : SPANPROF_OK;
}

static void upload_sleep(uint64_t ns) {
  struct timespec left = {(time_t)(ns / SP_NS_PER_S), (long)(ns % SP_NS_PER_S)};

  while (nanosleep(&left, &left) != 0)
    ;
}

/* Wait `ns` before the next attempt. On a terminal, show the reason. */
static void upload_wait(upload_job *job, const sp_http_answer *answer,
                        uint64_t ns) {
  const double seconds = (double)ns / (double)SP_NS_PER_S;
  char why[80];

  if (answer->status)
    snprintf(why, sizeof why, "the server answered %ld, retry in %.0f s",
             answer->status, seconds);
  else
    snprintf(why, sizeof why, "no answer, retry in %.0f s", seconds);
  sp_progress_sent(&job->progress, job->seen, job->files.count, why);
  upload_sleep(ns);
}

/* Returns true if there must be no further attempt. Otherwise waits until the
 * next attempt may start, and returns false. */
static bool upload_is_final(upload_job *job, const sp_http_answer *answer,
                            uint32_t tries, bool *accepted) {
  sp_retry_case asked = {.status = answer->status,
                         .not_pyroscope = answer->not_pyroscope,
                         .failures = tries,
                         .refusals = tries - 1,
                         .retry_after_given = answer->retry_after_given,
                         .retry_after_ns = answer->retry_after_ns,
                         .max_age_ns = UINT64_MAX,
                         .now_ns = sp_monotonic_ns(),
                         .random = sp_retry_random()};
  sp_retry retry;

  sp_retry_decide(&retry, &asked);
  *accepted = retry.verdict == SP_RETRY_ACCEPTED;
  if (retry.verdict != SP_RETRY_AGAIN || retry.is_repairable ||
      tries == UPLOAD_TRIES)
    return true;
  upload_wait(job, answer,
              sp_min_u64(retry.at_ns - asked.now_ns, UPLOAD_WAIT_MAX_NS));
  return false;
}

/* Returns SPANPROF_ERR_IO and sets the error message if the server did not
 * accept the profile. */
static spanprof_status upload_send(upload_job *job, const sp_encoded *part,
                                   const sp_series *series) {
  sp_pyroscope_request request;
  sp_http_answer answer;
  bool accepted = false;
  uint32_t tries = 0;

  if (sp_pyroscope_request_init(&request, job->io->mem, &job->client.settings,
                                series, part))
    return sp_fail(SPANPROF_ERR_NOMEM, "out of memory");
  request.http.time_max_ns =
      SP_HTTP_REQUEST_NS + (request.http.size >> 20) * UPLOAD_NS_PER_MIB;
  do
    sp_http_client_post(job->client.http, &request.http, &answer);
  while (!upload_is_final(job, &answer, ++tries, &accepted));
  sp_pyroscope_request_dispose(&request);
  if (accepted)
    return SPANPROF_OK;
  job->unanswered = !answer.status;
  if (!answer.status)
    return sp_fail(SPANPROF_ERR_IO, "cannot upload to %s: %s",
                   job->client.settings.server_address, answer.message);
  return sp_fail(SPANPROF_ERR_IO, "%s answered %ld%s%s%s",
                 job->client.settings.server_address, answer.status,
                 answer.not_pyroscope ? ", but is not a Pyroscope server" : "",
                 answer.message[0] ? ": " : "", answer.message);
}

/* Compress an uncompressed profile, because servers limit the size of request
 * bodies. */
static spanprof_status upload_compress(const upload_job *job, char **bytes,
                                       size_t *size) {
  sp_gzip gzip = {0};
  void *packed = NULL;
  spanprof_status st;

  if (sp_gunzip_is(*bytes, *size))
    return SPANPROF_OK;
  st = sp_gzip_open(&gzip, job->io->mem);
  if (!st)
    st = sp_gzip_write(&gzip, *bytes, *size);
  if (!st)
    st = sp_gzip_finish(&gzip, &packed, size);
  sp_gzip_dispose(&gzip);
  if (st)
    return sp_fail(st, "out of memory");
  sp_mem_free(job->io->mem, *bytes);
  *bytes = packed;
  return SPANPROF_OK;
}

static void upload_file(upload_job *job, const char *path) {
  sp_encoded part = {.mem = job->io->mem};
  sp_series series = {0};
  char *bytes = NULL;
  spanprof_status st =
      sp_profile_file_read(path, job->io->mem, &bytes, &part.size);

  if (!st)
    st = upload_compress(job, &bytes, &part.size);
  part.bytes = bytes;
  if (!st)
    st = upload_describe(job, &part, &series);
  if (!st) {
    st = upload_send(job, &part, &series);
    sp_series_dispose(&series);
  }
  sp_mem_free(job->io->mem, bytes);
  if (!st)
    job->accepted++;
  else
    upload_complain(job, path, spanprof_last_error());
}

static void upload_run(upload_job *job) {
  char message[80];
  size_t i;

  if (sp_command_client_open(&job->client, job->io, job->server, NULL)) {
    upload_complain(job, NULL, spanprof_last_error());
    return;
  }
  sp_progress_init(&job->progress, job->io->err);
  for (i = 0; i < job->files.count && !job->unanswered; i++) {
    job->seen = i;
    sp_progress_sent(&job->progress, i, job->files.count, NULL);
    upload_file(job, job->files.paths[i]);
  }
  sp_progress_clear(&job->progress);
  if (i < job->files.count) {
    snprintf(message, sizeof message,
             "the server does not answer; files not sent: %zu",
             job->files.count - i);
    upload_complain(job, NULL, message);
  }
  fprintf(job->io->out, "%zu of %zu profiles accepted by %s\n", job->accepted,
          job->files.count, job->client.settings.server_address);
}

int sp_command_upload(const sp_command_io *io, int argc, char **argv) {
  upload_job job = {.io = io, .status = SP_EXIT_OK};

  sp_profile_list_init(&job.files, io->mem);
  if (!upload_read_arguments(&job, argc, argv))
    job.status = SP_EXIT_USAGE;
  else if (job.help)
    upload_print_help(io->out);
  else
    upload_run(&job);
  sp_command_client_dispose(&job.client);
  sp_profile_list_dispose(&job.files);
  return job.status;
}
