/* Moved. */
#include "../util/hash_index.h"
