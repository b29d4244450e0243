/* Any object as text for the core. */
#ifndef RB_TEXT_H
#define RB_TEXT_H

#include <ruby.h>

/* The object's to_s, as UTF-8 where its encoding tells how; the core cleans
 * what is left. Where to_s raises it is "", and logged. */
VALUE rb_sp_text(VALUE object);

#endif
