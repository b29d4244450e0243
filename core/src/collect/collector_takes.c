#include "collector_takes.h"

#include "collector_work.h"
#include "comments.h"

spanprof_status sp_collector_take(sp_collector *collector, sp_take *take) {
  spanprof_status st = SPANPROF_OK;

  sp_take_hold(take);
  pthread_mutex_lock(&collector->request_lock);
  if (collector->take_count == SP_TAKES_MAX) {
    st = SPANPROF_ERR_LIMIT;
  } else {
    take->next = collector->takes_asked;
    collector->takes_asked = take;
    collector->take_count++;
  }
  pthread_mutex_unlock(&collector->request_lock);
  if (st)
    sp_take_release(take);
  else
    sp_wake_call(sp_ring_wake(collector->ring));
  return st;
}

/* What was asked for since the last round begins here. */
static void takes_begin(sp_collector *collector) {
  sp_take *take, *next;

  pthread_mutex_lock(&collector->request_lock);
  next = collector->takes_asked;
  collector->takes_asked = NULL;
  pthread_mutex_unlock(&collector->request_lock);
  while ((take = next)) {
    next = take->next;
    take->begun_ns = sp_clock_monotonic_ns(collector->config.clock);
    take->unix_ns = sp_clock_unix_ns(collector->config.clock);
    if (sp_fold_side_open(collector->fold, &take->side))
      take->side = NULL; /* told at its end */
    take->next = collector->takes;
    collector->takes = take;
    sp_take_begin(take);
  }
}

static void take_emit(void *data, sp_encoded *part) {
  sp_encoded *out = data;

  *out = *part;
}

static spanprof_status take_encode(sp_collector *collector, sp_take *take,
                                   sp_encoded *out) {
  uint64_t lost_samples, lost_ticks;
  sp_comments comments;
  sp_window window;

  *out = (sp_encoded){0};
  if (!take->side)
    return SPANPROF_ERR_NOMEM;
  if (take->side->st)
    return take->side->st;
  sp_comments_write(&comments);
  window = (sp_window){
      .time_ns = take->unix_ns,
      .duration_ns =
          sp_clock_monotonic_ns(collector->config.clock) - take->begun_ns,
      .period_ns = collector->base.interval_ns,
      .comments = comments.lines,
      .comment_count = SP_COMMENT_COUNT,
      .whole = true,
  };
  return sp_profile_encode(take->side->profile, &window, take_emit, out,
                           &lost_samples, &lost_ticks);
}

/* `take` is out of the list. */
static void take_end(sp_collector *collector, sp_take *take) {
  spanprof_status st = SPANPROF_ERR_STATE;
  sp_encoded profile = {0};

  if (sp_take_is_held(take) && !atomic_load(&collector->left)) {
    sp_collector_names_wait(collector);
    st = take_encode(collector, take, &profile);
  }
  if (take->side)
    sp_fold_side_close(collector->fold, take->side);
  pthread_mutex_lock(&collector->request_lock);
  collector->take_count--;
  pthread_mutex_unlock(&collector->request_lock);
  sp_take_end(take, st, &profile);
  sp_take_release(take);
}

/* End those that are over, that nobody waits for, or all; returns when the
 * first of the others ends. */
static uint64_t takes_end(sp_collector *collector, bool all) {
  sp_take **at = &collector->takes, *take;
  uint64_t first_ns = UINT64_MAX;

  while ((take = *at)) {
    const uint64_t now_ns = sp_clock_monotonic_ns(collector->config.clock);
    const uint64_t end_ns = take->begun_ns + take->duration_ns;

    if (all || now_ns >= end_ns || !sp_take_is_held(take)) {
      *at = take->next;
      take_end(collector, take);
    } else {
      first_ns = sp_min_u64(first_ns, end_ns);
      at = &take->next;
    }
  }
  return first_ns;
}

uint64_t sp_collector_takes_round(sp_collector *collector) {
  takes_begin(collector);
  return takes_end(collector, false);
}

void sp_collector_takes_end(sp_collector *collector) {
  takes_begin(collector);
  takes_end(collector, true);
}

void sp_collector_takes_forget(sp_collector *collector) {
  /* Their own locks may be taken for ever: the takes are left as they are. One
   * that was about to end is in no list any more. */
  if (collector->forking_in_step)
    sp_fold_sides_close(collector->fold);
  collector->takes = collector->takes_asked = NULL;
  collector->take_count = 0;
}
