/* One request to a target through libcurl, bounded in bytes and time. */
#ifndef SP_SCRAPE_TRANSFER_H
#define SP_SCRAPE_TRANSFER_H

#include <curl/curl.h>

#include "scrape_plan.h"
#include "util/memory/buffer.h"

/* Largest body, compressed or not; larger bodies are refused. Headers have a
 * limit of their own, because libcurl stores them. */
#define SP_SCRAPE_BODY_MAX   ((size_t)2 << 20)
#define SP_SCRAPE_HEADER_MAX ((size_t)64 << 10)
#define SP_SCRAPE_ERROR_SIZE 256

typedef struct sp_scrape_transfer {
  CURL *easy; /* NULL if there is no request */
  sp_buffer body;
  size_t header_bytes;
  bool large; /* stopped, because a limit was exceeded */
  char reason[CURL_ERROR_SIZE];
} sp_scrape_transfer;

void sp_scrape_transfer_init(sp_scrape_transfer *transfer, const sp_mem *mem);

/* Start the request; `multi` drives it. SPANPROF_ERR_NOMEM, SPANPROF_ERR_IO: a
 * file of the access settings cannot be used. */
spanprof_status sp_scrape_transfer_begin(sp_scrape_transfer *transfer,
                                         const sp_scrape_probe *probe,
                                         CURLM *multi, void *owner);

/* Get the result. SPANPROF_OK: the body is the answer, with status 200.
 * Otherwise `error` has a message. *absent: the target does not have this
 * profile. */
spanprof_status sp_scrape_transfer_result(sp_scrape_transfer *transfer,
                                          CURLcode code, bool *absent,
                                          char error[SP_SCRAPE_ERROR_SIZE]);

/* End the request, complete or not, and free its memory. */
void sp_scrape_transfer_end(sp_scrape_transfer *transfer, CURLM *multi);

#endif
