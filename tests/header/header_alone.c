/* Uses only the public header. */
#include <spanprof/spanprof.h>

static void scoped(void) {
  SPANPROF_SPAN_SCOPE("scoped");
  SPANPROF_SPAN_SCOPE("inner");
}

int main(void) {
  spanprof_options options;
  spanprof_session *session;

  if (spanprof_options_init(&options, sizeof options) != SPANPROF_OK)
    return 1;
  scoped();
  options.application_name = SPANPROF_VERSION;
  return spanprof_session_start(&options, &session) == SPANPROF_OK;
}
