#include "built_page.h"

#ifdef SP_PAGE_FILE
/* Embeds the page with .incbin, because an array would take five times as long
 * to compile. */
__asm__(".pushsection .rodata\n"
        ".local sp_page_begin\n"
        ".local sp_page_end\n"
        "sp_page_begin:\n"
        ".incbin \"" SP_PAGE_FILE "\"\n"
        "sp_page_end:\n"
        ".byte 0\n"
        ".popsection\n");
extern const char sp_page_begin[] __attribute__((visibility("hidden")));
extern const char sp_page_end[] __attribute__((visibility("hidden")));

const char *sp_built_page(size_t *size) {
  *size = (size_t)(sp_page_end - sp_page_begin);
  return sp_page_begin;
}
#else
const char *sp_built_page(size_t *size) {
  *size = 0;
  return "";
}
#endif
