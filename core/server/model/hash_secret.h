/* The server's secret constants for util/memory/hash.h. Until
 * sp_hash_secret_init() is called, and in tests, the library's fixed constants
 * are used. */
#ifndef SP_HASH_SECRET_H
#define SP_HASH_SECRET_H

#include "util/base.h"

/* Read the constants from the system's random generator. Called once, before
 * threads are started and hash tables are created. Returns SPANPROF_ERR_SYSTEM
 * on failure. */
spanprof_status sp_hash_secret_init(void);

#endif
