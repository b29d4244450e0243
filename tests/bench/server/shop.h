/* Profiles as a client of an application uploads them, for the server's
 * benchmarks: generated, or a real one from a file. Each upload has one span of
 * its own, which is queried afterwards. */
#ifndef SHOP_H
#define SHOP_H

#include <util/memory/buffer.h>

typedef struct shop_shape {
  uint32_t functions;
  uint32_t stacks;
  uint32_t depth; /* more than 4 */
  uint32_t samples;
  uint32_t spans; /* 0: none; more than samples: one for each sample */
} shop_shape;

/* 10 s of the Ruby example: 300 stacks, 100 spans. */
#define SHOP_RUBY      ((shop_shape){470, 300, 30, 600, 100})
#define SHOP_PLAIN     ((shop_shape){470, 300, 30, 600, 0})
#define SHOP_SPAN_EACH ((shop_shape){470, 300, 30, 800, 801})
/* The shape that a Pyroscope 2.2 was measured with: 470 functions, 700 spans,
 * 40 KB. */
#define SHOP_LARGE ((shop_shape){470, 600, 30, 1100, 700})

/* Append an uncompressed pprof without its time. Equal numbers make equal
 * bytes. Applications have no names in common, and variants of one have the
 * same stacks. */
void shop_profile(sp_buffer *out, const shop_shape *shape, uint32_t application,
                  uint32_t variant);

/* The part that an upload adds to a profile: its time, and a sample of its own
 * span. The fields of pprof may be in any order, and the last time counts. */
typedef struct shop_end {
  int64_t time_ns;
  int64_t value_ns;
  uint64_t span_id;
} shop_end;

/* A profile that many uploads are made of. */
typedef struct shop_template {
  sp_buffer packed; /* gzip without its last block and its checksums */
  uint32_t crc;
  size_t size;
  uint64_t location; /* location of the additional sample */
  uint64_t texts;
  size_t type_count;
} shop_template;

/* Compress a profile. Returns false if it is not a pprof. */
bool shop_template_make(shop_template *out, const void *pprof, size_t size);
void shop_template_dispose(shop_template *made);

/* Append the gzip of an upload's profile. */
void shop_upload(sp_buffer *out, const shop_template *from,
                 const shop_end *end);

/* Write a request of PusherService/Push with this profile. */
void shop_push(sp_buffer *out, const char *service, const sp_buffer *gzipped);

/* Append fields of protobuf. */
void shop_field(sp_buffer *out, uint32_t field, const void *bytes, size_t size);
void shop_number(sp_buffer *out, uint32_t field, uint64_t number);

/* Read a file, gzip or not. Returns false after a message on stderr. */
bool shop_read(const char *path, sp_buffer *out);

#endif
