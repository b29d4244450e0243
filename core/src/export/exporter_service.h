/* Which service the profiles are of, and for how long they wait to be told.
 *
 * Where nobody gave a name (settings->name_open), what is pushed waits for that
 * of a tracer's Resource: at most 30 s from the first push on, and while it
 * takes no more than half of queue_bytes. A flush and a stop wait for nothing.
 * A name that comes later counts from then on. */
#ifndef SP_EXPORTER_SERVICE_H
#define SP_EXPORTER_SERVICE_H

#include "exporter_steps.h"

#define SP_EXPORTER_HOLD_NS (30 * SP_NS_PER_S)

/* All with the lock held. Something is pushed. */
void sp_exporter_hold(sp_exporter *exporter);

/* Does what callback and directory have not had wait for a name? */
bool sp_exporter_holds(const sp_exporter *exporter);

/* What the uploading thread does with news: what leaves from now on is labelled
 * and named by them. */
void sp_exporter_service_adopt(sp_exporter *exporter);

/* What there is to say of them, for sp_exporter_service_say(), which is called
 * without the lock. False: nothing. */
typedef struct sp_service_news {
  char *name;  /* adopted; NULL: none */
  char *mine;  /* of profiles, where spans have another */
  char *other; /* of spans; NULL: they have the same */
} sp_service_news;

bool sp_exporter_service_news(sp_exporter *exporter, sp_service_news *out);
void sp_exporter_service_say(const sp_exporter *exporter,
                             sp_service_news *news);

/* In a forked child, whose spans may be of another service; until they say so
 * it has the parent's name. */
void sp_exporter_service_after_fork_child(sp_exporter *exporter);

void sp_exporter_service_dispose(sp_exporter *exporter);

#endif
