/* Names of frames in the format of Ruby 3.4: "Shop::Cart#total",
 * "Shop::Cart.load", "block in Shop::Cart#total", "<main>". The name of an
 * anonymous class is omitted: "total". */
#ifndef RB_NAMES_H
#define RB_NAMES_H

#include <spanprof/runtime.h>

/* Called once, when the extension loads. */
void rb_sp_names_init(void);

/* The function `resolve` of the spanprof_runtime. spanprof_runtime_resolve()
 * calls it with the GVL. Never raises. */
spanprof_status rb_sp_names_resolve(void *data, const spanprof_frame *frame,
                                    spanprof_name *out);

#endif
