/* A server that accepts every upload. It is a separate process, so that its CPU
 * time and memory are not measured as those of the library. */
#ifndef BENCH_SINK_H
#define BENCH_SINK_H

/* Start the server and return its address, "http://127.0.0.1:12345". The server
 * stops with the calling process. Call this function before any thread is
 * started. */
const char *bench_sink_start(void);

#endif
