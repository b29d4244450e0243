/* Uses only the header for language bindings. */
#include <spanprof/runtime.h>

static spanprof_status resolve(void *data, const spanprof_frame *frame,
                               spanprof_name *out) {
  (void)data;
  out->function = "main";
  out->function_bytes = 4;
  return frame->code ? SPANPROF_OK : SPANPROF_ERR_STATE;
}

int main(void) {
  static spanprof_runtime runtime;

  runtime.struct_size = sizeof runtime;
  runtime.name = "alone";
  runtime.resolve = resolve;
  return spanprof_runtime_register(&runtime) == SPANPROF_OK;
}
