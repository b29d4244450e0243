/* The constants of ../../util/hash.h in the server. Before the call below they
 * are those of the core, as in tests. */
#ifndef SP_HASH_SECRET_H
#define SP_HASH_SECRET_H

#include "../../util/base.h"

/* Read them from the system's generator. Once, before there are threads and
 * tables. SPANPROF_ERR_SYSTEM. */
spanprof_status sp_hash_secret_init(void);

#endif
