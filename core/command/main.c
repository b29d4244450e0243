#include "command.h"

int main(int argc, char **argv) {
  return sp_command_main(argc, argv);
}
