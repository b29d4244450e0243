/* A server that takes every upload, in a process of its own, so that neither
 * its CPU time nor its memory is counted as the library's. */
#ifndef BENCH_SINK_H
#define BENCH_SINK_H

/* Start it; returns its address, "http://127.0.0.1:12345". It ends with the
 * calling process. To be called before any thread is started. */
const char *bench_sink_start(void);

#endif
