/* A server that accepts every upload. It is a process of its own, so that its
 * CPU time and memory do not count as the library's. */
#ifndef BENCH_SINK_H
#define BENCH_SINK_H

/* Start the server and return its address, "http://127.0.0.1:12345". It stops
 * with the calling process. Call this before any thread is started. */
const char *bench_sink_start(void);

#endif
