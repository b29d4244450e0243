#include "build_text.h"

uint32_t sp_build_text(sp_received *profile, sp_view text) {
  uint32_t number;
  char *copy;
  size_t i;

  if (!text.size || !memchr(text.bytes, '\0', text.size))
    return sp_received_add_text(profile, text.bytes, text.size);
  copy = sp_mem_new(profile->mem, text.size);
  if (!copy) {
    profile->st = SPANPROF_ERR_NOMEM;
    return 0;
  }
  for (i = 0; i < text.size; i++)
    copy[i] = text.bytes[i] ? text.bytes[i] : '?';
  number = sp_received_add_text(profile, copy, text.size);
  sp_mem_free(profile->mem, copy);
  return number;
}
