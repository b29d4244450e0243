#include "request_fields.h"

#define PLACE(member) offsetof(sp_query_request, member)
#define INT(number, name, member) \
  { number, SP_FIELD_INT, name, PLACE(member), NULL, NULL }
#define TEXT(number, name, member) \
  { number, SP_FIELD_TEXT, name, PLACE(member), NULL, NULL }
#define TEXTS(number, name, member) \
  { number, SP_FIELD_TEXTS, name, PLACE(member), NULL, NULL }
#define ENUM(number, name, member, names) \
  { number, SP_FIELD_ENUM, name, PLACE(member), names, NULL }
#define INSIDE(number, name, member, message) \
  { number, SP_FIELD_INSIDE, name, PLACE(member), NULL, &message }
#define REQUEST(number, name, member, message) \
  { number, SP_FIELD_REQUEST, name, PLACE(member), NULL, &message }
#define MESSAGE(variable, name, fields) \
  const sp_message variable = {name, fields, SP_COUNT_OF(fields)}

static const char *const format_names[] = {
    "PROFILE_FORMAT_UNSPECIFIED", "PROFILE_FORMAT_FLAMEGRAPH",
    "PROFILE_FORMAT_TREE",        "PROFILE_FORMAT_DOT",
    "PROFILE_FORMAT_PPROF",       NULL};
static const char *const aggregation_names[] = {
    "TIME_SERIES_AGGREGATION_TYPE_SUM", "TIME_SERIES_AGGREGATION_TYPE_AVERAGE",
    NULL};
static const char *const exemplar_names[] = {
    "EXEMPLAR_TYPE_UNSPECIFIED", "EXEMPLAR_TYPE_NONE",
    "EXEMPLAR_TYPE_INDIVIDUAL", "EXEMPLAR_TYPE_SPAN", NULL};
static const char *const heatmap_names[] = {"HEATMAP_QUERY_TYPE_UNSPECIFIED",
                                            "HEATMAP_QUERY_TYPE_INDIVIDUAL",
                                            "HEATMAP_QUERY_TYPE_SPAN", NULL};

const sp_message sp_message_empty = {"EmptyRequest", NULL, 0};

static const sp_request_field profile_types_fields[] = {
    INT(1, "start", start_ms), INT(2, "end", end_ms)};
MESSAGE(sp_message_profile_types, "ProfileTypesRequest", profile_types_fields);

static const sp_request_field label_values_fields[] = {
    TEXT(1, "name", name), TEXTS(2, "matchers", matchers),
    INT(3, "start", start_ms), INT(4, "end", end_ms)};
MESSAGE(sp_message_label_values, "LabelValuesRequest", label_values_fields);

static const sp_request_field label_names_fields[] = {
    TEXTS(1, "matchers", matchers), INT(2, "start", start_ms),
    INT(3, "end", end_ms)};
MESSAGE(sp_message_label_names, "LabelNamesRequest", label_names_fields);

static const sp_request_field series_fields[] = {
    TEXTS(1, "matchers", matchers), TEXTS(2, "labelNames", label_names),
    INT(3, "start", start_ms), INT(4, "end", end_ms)};
MESSAGE(sp_message_series, "SeriesRequest", series_fields);

static const sp_request_field go_pgo_fields[] = {
    INT(1, "keepLocations", keep_locations),
    {2, SP_FIELD_BOOL, "aggregateCallees", PLACE(aggregate_callees), NULL,
     NULL}};
static MESSAGE(message_go_pgo, "GoPGO", go_pgo_fields);

static const sp_request_field stack_selector_fields[] = {
    {1, SP_FIELD_NAMED, "callSite", PLACE(call_sites), NULL, NULL},
    INSIDE(2, "goPgo", has_go_pgo, message_go_pgo)};
static MESSAGE(message_stack_selector, "StackTraceSelector",
               stack_selector_fields);

static const sp_request_field stacktraces_fields[] = {
    TEXT(1, "profileTypeID", profile_type),
    TEXT(2, "labelSelector", selector),
    INT(3, "start", start_ms),
    INT(4, "end", end_ms),
    INT(5, "maxNodes", max_nodes),
    ENUM(6, "format", format, format_names),
    INSIDE(7, "stackTraceSelector", has_stack_selector, message_stack_selector),
    TEXTS(8, "profileIdSelector", profiles),
    TEXTS(10, "traceIdSelector", traces),
    TEXTS(11, "spanSelector", spans)};
MESSAGE(sp_message_stacktraces, "SelectMergeStacktracesRequest",
        stacktraces_fields);

static const sp_request_field span_profile_fields[] = {
    TEXT(1, "profileTypeID", profile_type),
    TEXT(2, "labelSelector", selector),
    TEXTS(3, "spanSelector", spans),
    INT(4, "start", start_ms),
    INT(5, "end", end_ms),
    INT(6, "maxNodes", max_nodes),
    ENUM(7, "format", format, format_names)};
MESSAGE(sp_message_span_profile, "SelectMergeSpanProfileRequest",
        span_profile_fields);

static const sp_request_field profile_fields[] = {
    TEXT(1, "profileTypeID", profile_type),
    TEXT(2, "labelSelector", selector),
    INT(3, "start", start_ms),
    INT(4, "end", end_ms),
    INT(5, "maxNodes", max_nodes),
    INSIDE(6, "stackTraceSelector", has_stack_selector, message_stack_selector),
    TEXTS(7, "profileIdSelector", profiles),
    TEXTS(8, "traceIdSelector", traces)};
MESSAGE(sp_message_profile, "SelectMergeProfileRequest", profile_fields);

static const sp_request_field select_series_fields[] = {
    TEXT(1, "profileTypeID", profile_type),
    TEXT(2, "labelSelector", selector),
    INT(3, "start", start_ms),
    INT(4, "end", end_ms),
    TEXTS(5, "groupBy", group_by),
    {6, SP_FIELD_DOUBLE, "step", PLACE(step_s), NULL, NULL},
    ENUM(7, "aggregation", aggregation, aggregation_names),
    INSIDE(8, "stackTraceSelector", has_stack_selector, message_stack_selector),
    INT(9, "limit", limit),
    ENUM(10, "exemplarType", exemplars, exemplar_names)};
MESSAGE(sp_message_select_series, "SelectSeriesRequest", select_series_fields);

static const sp_request_field heatmap_fields[] = {
    TEXT(1, "profileTypeID", profile_type),
    TEXT(2, "labelSelector", selector),
    INT(3, "start", start_ms),
    INT(4, "end", end_ms),
    {5, SP_FIELD_DOUBLE, "step", PLACE(step_s), NULL, NULL},
    TEXTS(6, "groupBy", group_by),
    ENUM(7, "queryType", heatmap_of, heatmap_names),
    ENUM(8, "exemplarType", exemplars, exemplar_names),
    INT(9, "limit", limit)};
MESSAGE(sp_message_heatmap, "SelectHeatmapRequest", heatmap_fields);

static const sp_request_field diff_fields[] = {
    REQUEST(1, "left", left, sp_message_stacktraces),
    REQUEST(2, "right", right, sp_message_stacktraces)};
MESSAGE(sp_message_diff, "DiffRequest", diff_fields);

static const sp_request_field adhoc_upload_fields[] = {
    TEXT(1, "name", name), TEXT(2, "profile", profile),
    INT(3, "maxNodes", max_nodes)};
MESSAGE(sp_message_adhoc_upload, "AdHocProfilesUploadRequest",
        adhoc_upload_fields);

static const sp_request_field adhoc_get_fields[] = {
    TEXT(1, "id", id), TEXT(2, "profileType", profile_type),
    INT(3, "maxNodes", max_nodes)};
MESSAGE(sp_message_adhoc_get, "AdHocProfilesGetRequest", adhoc_get_fields);

static const sp_request_field adhoc_diff_fields[] = {
    TEXT(1, "leftId", left_id), TEXT(2, "rightId", right_id),
    TEXT(3, "profileType", profile_type), INT(4, "maxNodes", max_nodes)};
MESSAGE(sp_message_adhoc_diff, "AdHocProfilesDiffRequest", adhoc_diff_fields);

static const sp_request_field setting_fields[] = {
    TEXT(1, "name", name), TEXT(2, "value", value),
    INT(3, "modifiedAt", modified_ms)};
static MESSAGE(message_setting, "Setting", setting_fields);

static const sp_request_field setting_set_fields[] = {
    INSIDE(1, "setting", has_setting, message_setting)};
MESSAGE(sp_message_setting_set, "SetSettingsRequest", setting_set_fields);

static const sp_request_field name_fields[] = {TEXT(1, "name", name)};
MESSAGE(sp_message_name, "DeleteSettingsRequest", name_fields);
