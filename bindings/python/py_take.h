/* A profile of the next seconds (spanprof_take_begin()), for the answers of
 * spanprof.wsgi_app and spanprof.asgi_app. */
#ifndef PY_TAKE_H
#define PY_TAKE_H

#include "py_spanprof.h"

/* py_sp_take_init() of py_spanprof.h adds, each giving up the GIL:
 * take_begin(ms): an object for take_end(); who drops it gives the take up.
 * take_end(take, timeout_ms): bytes, pprof in gzip, or None where it is not
 * over, and given up. */

#endif
