/* Makes uploads for the server's benchmarks, as a client of an application
 * sends them. The profile is generated, or a real one from a file. Each upload
 * has one span that no other upload has, so that a query can search for it. */
#ifndef SHOP_H
#define SHOP_H

#include <util/memory/buffer.h>

typedef struct shop_shape {
  uint32_t functions;
  uint32_t stacks;
  uint32_t depth; /* frames of a stack, more than 4 */
  uint32_t samples;
  uint32_t spans; /* 0: no spans; more than `samples`: one span for each
                   * sample */
} shop_shape;

/* RUBY is like 10 s of the Ruby example: 300 stacks, 100 spans. */
#define SHOP_RUBY      ((shop_shape){470, 300, 30, 600, 100})
#define SHOP_PLAIN     ((shop_shape){470, 300, 30, 600, 0})
#define SHOP_SPAN_EACH ((shop_shape){470, 300, 30, 800, 801})
/* The shape with which Pyroscope 2.2 was measured: 470 functions, 700 spans, 40
 * KB. */
#define SHOP_LARGE ((shop_shape){470, 600, 30, 1100, 700})

/* Append an uncompressed pprof without its time. Calls with equal arguments
 * append equal bytes. Applications have no names in common, and the variants of
 * an application have the same stacks. */
void shop_profile(sp_buffer *out, const shop_shape *shape, uint32_t application,
                  uint32_t variant);

/* The part that an upload appends to a profile: its time, and a sample of the
 * upload's own span. This is valid, because the fields of pprof may be in any
 * order, and the last time counts. */
typedef struct shop_end {
  int64_t time_ns;
  int64_t value_ns;
  uint64_t span_id;
} shop_end;

/* A compressed profile, from which many uploads are made. */
typedef struct shop_template {
  sp_buffer packed; /* the gzip data without its last block and its checksum */
  uint32_t crc;
  size_t size;
  uint64_t location; /* location of the additional sample */
  uint64_t texts;
  size_t type_count;
} shop_template;

/* Compress a profile. Returns false if it is not a pprof. */
bool shop_template_make(shop_template *out, const void *pprof, size_t size);
void shop_template_dispose(shop_template *made);

/* Append the gzipped profile of an upload. */
void shop_upload(sp_buffer *out, const shop_template *from,
                 const shop_end *end);

/* Write a request of PusherService/Push with this profile. */
void shop_push(sp_buffer *out, const char *service, const sp_buffer *gzipped);

/* Append fields of protobuf. */
void shop_field(sp_buffer *out, uint32_t field, const void *bytes, size_t size);
void shop_number(sp_buffer *out, uint32_t field, uint64_t number);

/* Read a file, and decompress it if it is gzipped. If that fails, prints a
 * message to stderr and returns false. */
bool shop_read(const char *path, sp_buffer *out);

#endif
