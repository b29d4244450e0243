#include "interpreter.h"

#include <string.h>

bool sp_interpreter_has(const spanprof_runtime *runtime,
                        const sp_unwinder *unwinder, uint32_t module) {
  const char *directory = runtime->library_directory;
  const sp_module *view = sp_unwinder_module(unwinder, module);
  const size_t bytes = directory ? strlen(directory) : 0;

  if (runtime->eval_range_count > 0 &&
      sp_unwinder_module_at(unwinder, runtime->eval_ranges[0].start) == module)
    return true;
  return view && bytes > 0 && strncmp(view->path, directory, bytes) == 0 &&
         view->path[bytes] == '/';
}
