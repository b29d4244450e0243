/* The core's subcommands. */
#ifndef RB_COMMAND_H
#define RB_COMMAND_H

#include "rb_spanprof.h"

/* Defines Native.command. */
void rb_sp_command_init(void);

#endif
