/* Ruby methods that change the labels of the running fiber. */
#ifndef RB_LABEL_H
#define RB_LABEL_H

#include "base/rb_base.h"

/* Defines Native.labels, labels_restore, label_push, tag_add and tag_remove. */
void rb_sp_label_init(void);

#endif
