#include "limits.h"

const sp_limits sp_limits_own = {.profile_bytes = SIZE_MAX,
                                 .pushed_bytes = SIZE_MAX,
                                 .samples = SIZE_MAX,
                                 .frames = SIZE_MAX,
                                 .sample_labels = SP_LIMITS_LABELS_MAX,
                                 .series_labels = SP_LIMITS_LABELS_MAX,
                                 .label_value_bytes = 65535,
                                 .part_bytes = (size_t)48 << 20};

const sp_limits sp_limits_pyroscope = {.profile_bytes = (size_t)4 << 20,
                                       .pushed_bytes = (size_t)2 << 20,
                                       .samples = 16000,
                                       .frames = 1000,
                                       .sample_labels = 100,
                                       .series_labels = 30,
                                       .label_value_bytes = 2048,
                                       .part_bytes = (size_t)48 << 20};
