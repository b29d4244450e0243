/* The request message of a query call. One struct has the fields of the
 * requests of all calls. A missing field is 0, NULL or an empty list. Field
 * numbers and names are Pyroscope's (querier/v1/querier.proto,
 * types/v1/types.proto, adhocprofiles/v1/adhocprofiles.proto,
 * settings/v1/setting.proto). */
#ifndef SP_QUERY_REQUEST_H
#define SP_QUERY_REQUEST_H

#include "profile/tables/arena.h"
#include "server/query/selector/query_fault.h"

typedef enum sp_profile_format {
  SP_FORMAT_UNSPECIFIED,
  SP_FORMAT_FLAMEGRAPH,
  SP_FORMAT_TREE,
  SP_FORMAT_DOT,
  SP_FORMAT_PPROF,
} sp_profile_format;

typedef enum sp_exemplars {
  SP_EXEMPLARS_UNSPECIFIED,
  SP_EXEMPLARS_NONE,
  SP_EXEMPLARS_INDIVIDUAL,
  SP_EXEMPLARS_SPAN,
} sp_exemplars;

typedef enum sp_heatmap_of {
  SP_HEATMAP_UNSPECIFIED,
  SP_HEATMAP_INDIVIDUAL,
  SP_HEATMAP_SPAN,
} sp_heatmap_of;

typedef struct sp_texts {
  const char **texts;
  size_t count;
  size_t capacity;
} sp_texts;

typedef struct sp_query_request sp_query_request;

struct sp_query_request {
  int64_t start_ms;
  int64_t end_ms;
  const char *profile_type;
  const char *selector;
  int64_t max_nodes;
  int64_t format; /* an sp_profile_format or an unknown number */
  sp_texts spans;
  sp_texts traces;
  sp_texts profiles;
  sp_texts call_sites;
  int64_t keep_locations;
  int64_t aggregate_callees; /* 0 or 1 */
  sp_texts group_by;
  double step_s;
  int64_t aggregation; /* 0: sum; 1: average */
  int64_t limit;
  int64_t exemplars;
  int64_t heatmap_of;
  sp_texts matchers;
  sp_texts label_names;
  const char *name;
  const char *id;
  const char *left_id;
  const char *right_id;
  const char *profile; /* base64 */
  const char *value;
  int64_t modified_ms;
  /* Whether a nested message is present. */
  bool has_stack_selector;
  bool has_go_pgo;
  bool has_setting;
  sp_query_request *left; /* never NULL in a Diff request */
  sp_query_request *right;
};

/* The message types of the calls. */
typedef struct sp_message sp_message;
extern const sp_message sp_message_empty, sp_message_profile_types,
    sp_message_label_values, sp_message_label_names, sp_message_series,
    sp_message_stacktraces, sp_message_span_profile, sp_message_profile,
    sp_message_select_series, sp_message_heatmap, sp_message_diff,
    sp_message_adhoc_upload, sp_message_adhoc_get, sp_message_adhoc_diff,
    sp_message_setting_set, sp_message_name;

/* Read the body of a request. Everything that *out points to is in the arena.
 * Unknown fields and names are skipped. Returns SPANPROF_ERR_ARGUMENT and sets
 * *fault if the body is malformed, or the status of the arena if an allocation
 * fails. */
spanprof_status sp_query_request_proto(sp_query_request *out,
                                       const sp_message *message,
                                       sp_arena *arena, const void *bytes,
                                       size_t size, sp_query_fault *fault);
spanprof_status sp_query_request_json(sp_query_request *out,
                                      const sp_message *message,
                                      sp_arena *arena, const char *text,
                                      size_t size, sp_query_fault *fault);

/* Add a copy of a text to a list. */
spanprof_status sp_texts_add(sp_texts *texts, sp_arena *arena, const char *text,
                             size_t bytes);

#endif
