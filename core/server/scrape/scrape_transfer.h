/* One request to a target through libcurl, bounded in bytes and time. */
#ifndef SP_SCRAPE_TRANSFER_H
#define SP_SCRAPE_TRANSFER_H

#include <curl/curl.h>

#include "scrape_plan.h"
#include "util/memory/buffer.h"

/* A profile has at most 2 MiB unpacked (receive/profile/batch.h). A larger body
 * is refused, compressed or not. Headers have a bound of their own, because
 * libcurl keeps them. */
#define SP_SCRAPE_BODY_MAX   ((size_t)2 << 20)
#define SP_SCRAPE_HEADER_MAX ((size_t)64 << 10)
#define SP_SCRAPE_ERROR_SIZE 256

typedef struct sp_scrape_transfer {
  CURL *easy; /* NULL: none is under way */
  sp_buffer body;
  size_t header_bytes;
  bool large; /* ended here: one of the bounds was passed */
  char reason[CURL_ERROR_SIZE];
} sp_scrape_transfer;

void sp_scrape_transfer_init(sp_scrape_transfer *transfer, const sp_mem *mem);

/* Begin; `multi` drives it. SPANPROF_ERR_NOMEM, SPANPROF_ERR_IO: a file of the
 * access cannot be used. */
spanprof_status sp_scrape_transfer_begin(sp_scrape_transfer *transfer,
                                         const sp_scrape_probe *probe,
                                         CURLM *multi, void *owner);

/* What came of it. SPANPROF_OK: the body is an answer of 200. Otherwise
 * `error` says why not; *absent: the target has no such profile. */
spanprof_status sp_scrape_transfer_result(sp_scrape_transfer *transfer,
                                          CURLcode code, bool *absent,
                                          char error[SP_SCRAPE_ERROR_SIZE]);

/* End it, whether it is done or not, and give its memory back. */
void sp_scrape_transfer_end(sp_scrape_transfer *transfer, CURLM *multi);

#endif
