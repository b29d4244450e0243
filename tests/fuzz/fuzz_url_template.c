/* Parses URL templates. Any text is either refused with a message, or gives a
 * link without placeholders. The first line of the input is the template, the
 * remainder is the span's name. */
#include <stdlib.h>
#include <string.h>

#include "span/url_template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const sp_url_labels no_labels = {NULL, 0};
  static const sp_url_place place = {"app.cpu", "http://h/p", &no_labels,
                                     &no_labels};
  const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
  size_t bytes = end ? (size_t)(end - data) : size;
  sp_url_span span = {"d6a1f0c2b3948576", "4bf92f3577b34da6a3ce929d0e0e4736",
                      (const char *)data + bytes, size - bytes};
  char *text = sp_mem_text(&sp_mem_default, (const char *)data, bytes);
  sp_url_template *url_template = NULL;
  sp_buffer out;

  if (!text)
    return 0;
  sp_buffer_init(&out, &sp_mem_default);
  if (!sp_url_template_new(text, &sp_mem_default, &url_template)) {
    sp_url_template_write(url_template, &place, &span, 1700000000, &out);
    /* The link is empty only if the span's name is: a template is never empty,
     * and no other placeholder has an empty value. */
    if (out.size == 0 && !strstr(text, "{span_name}") && !out.failed)
      abort();
    if (memchr(text, '{', strlen(text)) == NULL && strcmp(text, out.data) != 0)
      abort();
  } else if (url_template || !strstr(spanprof_last_error(), "url_template")) {
    abort();
  }
  sp_url_template_free(url_template);
  sp_buffer_dispose(&out);
  sp_mem_free(&sp_mem_default, text);
  return 0;
}
