/* One request to a target through libcurl, with limits for bytes and time. */
#ifndef SP_SCRAPE_TRANSFER_H
#define SP_SCRAPE_TRANSFER_H

#include <curl/curl.h>

#include "scrape_plan.h"
#include "util/memory/buffer.h"

/* Largest body as it is sent, compressed or not; a request with a larger body
 * fails. Headers have a limit of their own, because libcurl stores them. */
#define SP_SCRAPE_BODY_MAX   ((size_t)2 << 20)
#define SP_SCRAPE_HEADER_MAX ((size_t)64 << 10)
#define SP_SCRAPE_ERROR_SIZE 256

typedef struct sp_scrape_transfer {
  CURL *easy; /* NULL if no request runs */
  sp_buffer body;
  size_t header_bytes;
  bool large; /* the request was stopped because it exceeded a limit */
  char reason[CURL_ERROR_SIZE];
} sp_scrape_transfer;

void sp_scrape_transfer_init(sp_scrape_transfer *transfer, const sp_mem *mem);

/* Start a request, which `multi` then drives. Returns SPANPROF_ERR_IO if the
 * request cannot be made, for example because a file of the access settings
 * cannot be used. Can return SPANPROF_ERR_NOMEM. */
spanprof_status sp_scrape_transfer_begin(sp_scrape_transfer *transfer,
                                         const sp_scrape_probe *probe,
                                         CURLM *multi, void *owner);

/* Get the result of a request that has ended. Returns SPANPROF_OK if the status
 * is 200; transfer->body is then the answer. Otherwise, sets `error` to a
 * message, and *absent to whether the target does not have this profile. */
spanprof_status sp_scrape_transfer_result(sp_scrape_transfer *transfer,
                                          CURLcode code, bool *absent,
                                          char error[SP_SCRAPE_ERROR_SIZE]);

/* End a request, which need not be complete, and free its memory. */
void sp_scrape_transfer_end(sp_scrape_transfer *transfer, CURLM *multi);

#endif
