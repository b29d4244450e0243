#include "progress.h"

#include <unistd.h>

#include "util/system/clock.h"

#define PROGRESS_FIRST_NS (500 * SP_NS_PER_MS)
#define PROGRESS_EVERY_NS (200 * SP_NS_PER_MS)

static uint64_t progress_now_ns(void) {
  return sp_clock_monotonic_ns(sp_clock_system());
}

void sp_progress_init(sp_progress *progress, FILE *out) {
  const bool terminal = fileno(out) >= 0 && isatty(fileno(out));

  *progress = (sp_progress){.out = terminal ? out : NULL,
                            .next_ns = progress_now_ns() + PROGRESS_FIRST_NS};
}

static void progress_print(sp_progress *progress, size_t done, size_t all,
                           const char *what, const char *why) {
  if (!progress->out || (!why && progress_now_ns() < progress->next_ns))
    return;
  /* "\033[K" erases the rest of the line (ECMA-48: EL). */
  fprintf(progress->out, "\r%zu of %zu files %s%s%s\033[K", done, all, what,
          why ? "; " : "", why ? why : "");
  fflush(progress->out);
  progress->shown = true;
  progress->next_ns = progress_now_ns() + PROGRESS_EVERY_NS;
}

void sp_progress_step(sp_progress *progress, size_t done, size_t all) {
  progress_print(progress, done, all, "read", NULL);
}

void sp_progress_sent(sp_progress *progress, size_t done, size_t all,
                      const char *why) {
  progress_print(progress, done, all, "sent", why);
}

void sp_progress_clear(sp_progress *progress) {
  if (!progress->shown)
    return;
  fputs("\r\033[K", progress->out);
  fflush(progress->out);
  progress->shown = false;
}
