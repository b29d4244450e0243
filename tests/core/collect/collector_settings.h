/* The settings of collectors in tests. No limit is reached, and a window ends
 * only if the test ends it. */
#ifndef COLLECTOR_SETTINGS_H
#define COLLECTOR_SETTINGS_H

#include <settings/settings.h>
#include <util/system/clock.h>

static const sp_settings collector_settings = {
    .application_name = (char *)"collector",
    .sample_rate_hz = 1000,
    .native_frames = SPANPROF_NATIVE_FRAMES_LIBRARIES,
    .stack_depth_max = 512,
    .window_max_bytes = 64 << 20,
    .upload_interval_ms = 3600 * 1000,
    .span_names_max = 500,
    .label_values_max = 1024,
};

#endif
