#include "command.h"

#include <unistd.h>

int main(int argc, char **argv) {
  const sp_command_io io = {.mem = &sp_mem_default,
                            .environment = environ,
                            .out = stdout,
                            .err = stderr};

  return sp_command_run(&io, argc, argv);
}
