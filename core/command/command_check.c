#include <string.h>

#include "command.h"
#include "command/check/check_grafana.h"
#include "command/check/check_list.h"
#include "command/check/check_server.h"
#include "command/check/check_stack.h"
#include "sampler/handler/signal.h"
#include "sampler/handler/timer.h"
#include "session/options.h"
#include "util/memory/buffer.h"

static const char check_usage[] =
    "usage: spanprof check\n"
    "\n"
    "Checks whether profiling works. Run it where the application runs, with\n"
    "its environment (PYROSCOPE_...). It checks options, signal, CPU timer,\n"
    "stack unwinding, function names, directories, the server with its proxy,\n"
    "TLS and credentials (by an empty upload), and whether spans and profiles\n"
    "have the same service name. Then it prints the data sources for Grafana.\n"
    "Exit status: 1 if a check failed, 2 for wrong usage.\n";

/* Print each line of the notes that sp_settings_read() wrote. */
static void check_print_notes(sp_check_list *list, sp_buffer *notes) {
  char *line, *state = NULL;

  if (notes->size == 0 || sp_buffer_status(notes))
    return;
  for (line = strtok_r(notes->data, "\n", &state); line;
       line = strtok_r(NULL, "\n", &state))
    sp_check_print(list, SP_CHECK_SKIPPED, "note", "%s", line);
}

static void check_print_options(sp_check_list *list,
                                const sp_settings *settings) {
  sp_check_print(list, SP_CHECK_OK, "options",
                 "%s, %u Hz, %zu label%s, a profile every %.1f s",
                 settings->name_open ? "named after the service of the spans"
                                     : settings->application_name,
                 (unsigned)settings->sample_rate_hz, settings->label_count,
                 settings->label_count == 1 ? "" : "s",
                 (double)settings->upload_interval_ms / 1e3);
  if (settings->output_directory)
    sp_check_print(list, SP_CHECK_OK, "output", "%s is writable",
                   settings->output_directory);
  if (settings->spool_directory)
    sp_check_print(list, SP_CHECK_OK, "spool", "%s is writable",
                   settings->spool_directory);
}

static void check_no_sample(int number, uint32_t index, uint64_t ticks,
                            void *ucontext) {
  (void)number;
  (void)index;
  (void)ticks;
  (void)ucontext;
}

/* Check the unwinding of a stack that the signal interrupts, the signal itself,
 * and the timer that sends it. */
static void check_kernel(sp_check_list *list, int wanted) {
  int number;

  if (sp_signal_choose(wanted, &number)) {
    sp_check_print(list, SP_CHECK_FAILED, "signal", "%s",
                   spanprof_last_error());
    return;
  }
  sp_check_stack(list, number);
  if (sp_signal_install(number, check_no_sample)) {
    sp_check_print(list, SP_CHECK_FAILED, "signal", "%s",
                   spanprof_last_error());
    return;
  }
  sp_check_print(list, SP_CHECK_OK, "signal", "%d", number);
  if (!sp_timer_probe(number))
    sp_check_print(list, SP_CHECK_OK, "timer", "the kernel's CPU timers work");
  else
    sp_check_print(list, SP_CHECK_FAILED, "timer", "%s", spanprof_last_error());
}

static void check_print_failures(const sp_check_list *list) {
  if (list->failed)
    fprintf(list->io->out, "%zu failed\n", list->failed);
}

static void check_run(sp_check_list *list) {
  const sp_command_io *io = list->io;
  sp_settings settings;
  sp_buffer notes;
  spanprof_status st;

  if (sp_settings_disabled(io->environment))
    sp_check_print(list, SP_CHECK_SKIPPED, "note",
                   "PYROSCOPE_AGENT_ENABLED switches profiling off");
  sp_buffer_init(&notes, io->mem);
  st = sp_settings_read(&settings, io->mem, NULL, io->environment, &notes);
  if (!st)
    check_print_options(list, &settings);
  else
    sp_check_print(list, SP_CHECK_FAILED, "options", "%s",
                   spanprof_last_error());
  check_print_notes(list, &notes);
  sp_buffer_dispose(&notes);
  sp_check_service_names(list);
  check_kernel(list, st ? 0 : (int)settings.signal_number);
  if (!st) {
    sp_check_server(list, &settings);
    check_print_failures(list);
    sp_check_print_data_sources(list, &settings);
    sp_settings_dispose(&settings);
  } else {
    sp_check_print(list, SP_CHECK_SKIPPED, "server",
                   "not checked, because an option is wrong");
    check_print_failures(list);
  }
}

int sp_command_check(const sp_command_io *io, int argc, char **argv) {
  sp_check_list list = {.io = io};
  int status = sp_command_no_arguments(io, check_usage, argc, argv);

  if (status >= 0)
    return status;
  check_run(&list);
  return list.failed ? SP_EXIT_FAILED : SP_EXIT_OK;
}
