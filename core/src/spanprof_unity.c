/* The whole core as one translation unit, room by room in the order in which
 * they depend on each other: what gem and wheel compile, so that their build
 * scripts hold no list of sources. tests/unity compares it with CMake's. */
#include "profile.pb-c.c"
#include "push.pb-c.c"

#include "util/buffer.c"
#include "util/clock.c"
#include "util/counters.c"
#include "util/log.c"
#include "util/mem.c"
#include "util/own_thread.c"
#include "util/status.c"
#include "util/utf8.c"

#include "session/duration.c"
#include "session/environment.c"
#include "session/given.c"
#include "session/header_json.c"
#include "session/http_headers.c"
#include "session/identity.c"
#include "session/label_list.c"
#include "session/option_path.c"
#include "session/option_table.c"
#include "session/options.c"
#include "session/proxy_choice.c"
#include "session/server_address.c"
#include "session/server_settings.c"
