/* The names of frames, as Ruby 3.4 prints them: "Shop::Cart#total",
 * "Shop::Cart.load", "block in Shop::Cart#total", "<main>"; a class without a
 * name of its own is left out, "total". */
#ifndef RB_NAMES_H
#define RB_NAMES_H

#include <spanprof/runtime.h>

/* Once, when the extension loads. */
void rb_sp_names_init(void);

/* The `resolve` of the runtime: with the GVL, from within
 * spanprof_runtime_resolve(). Never raises. */
spanprof_status rb_sp_names_resolve(void *data, const spanprof_frame *frame,
                                    spanprof_name *out);

#endif
