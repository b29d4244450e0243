/* The server's secret constants for ../../util/hash.h. Before the call below,
 * and in tests, they are the core's. */
#ifndef SP_HASH_SECRET_H
#define SP_HASH_SECRET_H

#include "util/base.h"

/* Read them from the system's random generator. Called once, before threads are
 * started and tables are made. SPANPROF_ERR_SYSTEM. */
spanprof_status sp_hash_secret_init(void);

#endif
