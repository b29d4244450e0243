#include "rb_text.h"

#include <ruby/encoding.h>

VALUE rb_sp_text(VALUE object) {
  int encoding;

  if (RB_SYMBOL_P(object))
    object = rb_sym2str(object);
  else if (!RB_TYPE_P(object, T_STRING))
    object =
        rb_funcall(rb_path2class("Spanprof::Text"), rb_intern("of"), 1, object);
  encoding = rb_enc_get_index(object);
  if (encoding == rb_utf8_encindex() || encoding == rb_usascii_encindex() ||
      encoding == rb_ascii8bit_encindex())
    return object;
  /* Returns the text unchanged if it cannot be converted. */
  return rb_str_export_to_enc(object, rb_utf8_encoding());
}
