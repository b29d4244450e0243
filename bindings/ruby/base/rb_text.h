/* Conversion of any object to text for the core. */
#ifndef RB_TEXT_H
#define RB_TEXT_H

#include <ruby.h>

/* Returns the object's to_s, in UTF-8 if its encoding allows the conversion;
 * the core cleans invalid bytes. If to_s raises, the error is logged and the
 * result is "". */
VALUE rb_sp_text(VALUE object);

#endif
