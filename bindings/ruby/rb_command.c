#include "rb_command.h"

#include <command/command.h>

/* call-seq: command(arguments) -> Integer
 *
 * What the program `spanprof` does with these arguments, on the process's own
 * streams; returns its exit status. Keeps the GVL: it is all the process
 * does. */
static VALUE native_command(VALUE self, VALUE arguments) {
  const long count = RARRAY_LEN(arguments);
  VALUE holder;
  char **argv = ALLOCV_N(char *, holder, count + 2);
  int status;
  long i;

  (void)self;
  argv[0] = (char[]){"spanprof"};
  for (i = 0; i < count; i++) {
    VALUE argument = rb_ary_entry(arguments, i);

    argv[i + 1] = StringValueCStr(argument);
  }
  argv[count + 1] = NULL;
  status = sp_command_main((int)count + 1, argv);
  RB_GC_GUARD(arguments);
  ALLOCV_END(holder);
  return INT2FIX(status);
}

void rb_sp_command_init(void) {
  rb_define_singleton_method(rb_sp_native, "command", native_command, 1);
}
