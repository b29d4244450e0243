#include "request_fields.h"

#include "query_request.h"

/* Rows of the tables: a field and the member of sp_query_request for it. */
#define FIELD(name, number, kind, repeated, message, member) \
  { name, number, kind, repeated, message, offsetof(sp_query_request, member) }
#define INT(number, name, member) \
  FIELD(name, number, SP_JSON_NUMBER, false, NULL, member)
#define TEXT(number, name, member) \
  FIELD(name, number, SP_JSON_TEXT, false, NULL, member)
#define TEXTS(number, name, member) \
  FIELD(name, number, SP_JSON_TEXT, true, NULL, member)
#define ENUM(number, name, member, names) \
  FIELD(name, number, SP_JSON_NUMBER, false, names, member)
#define INSIDE(number, name, member, message) \
  FIELD(name, number, SP_JSON_MESSAGE, false, message, member)
#define MESSAGE(variable, name, fields) \
  const sp_message variable = {name, fields}

static const sp_json_field format_names[] = {
    SP_JSON_VALUE("PROFILE_FORMAT_UNSPECIFIED", 0),
    SP_JSON_VALUE("PROFILE_FORMAT_FLAMEGRAPH", 1),
    SP_JSON_VALUE("PROFILE_FORMAT_TREE", 2),
    SP_JSON_VALUE("PROFILE_FORMAT_DOT", 3),
    SP_JSON_VALUE("PROFILE_FORMAT_PPROF", 4),
    SP_JSON_LAST};
static const sp_json_field aggregation_names[] = {
    SP_JSON_VALUE("TIME_SERIES_AGGREGATION_TYPE_SUM", 0),
    SP_JSON_VALUE("TIME_SERIES_AGGREGATION_TYPE_AVERAGE", 1), SP_JSON_LAST};
static const sp_json_field exemplar_names[] = {
    SP_JSON_VALUE("EXEMPLAR_TYPE_UNSPECIFIED", 0),
    SP_JSON_VALUE("EXEMPLAR_TYPE_NONE", 1),
    SP_JSON_VALUE("EXEMPLAR_TYPE_INDIVIDUAL", 2),
    SP_JSON_VALUE("EXEMPLAR_TYPE_SPAN", 3), SP_JSON_LAST};
static const sp_json_field heatmap_names[] = {
    SP_JSON_VALUE("HEATMAP_QUERY_TYPE_UNSPECIFIED", 0),
    SP_JSON_VALUE("HEATMAP_QUERY_TYPE_INDIVIDUAL", 1),
    SP_JSON_VALUE("HEATMAP_QUERY_TYPE_SPAN", 2), SP_JSON_LAST};

static const sp_json_field empty_fields[] = {SP_JSON_LAST};
MESSAGE(sp_message_empty, "EmptyRequest", empty_fields);

static const sp_json_field profile_types_fields[] = {
    INT(1, "start", start_ms), INT(2, "end", end_ms), SP_JSON_LAST};
MESSAGE(sp_message_profile_types, "ProfileTypesRequest", profile_types_fields);

static const sp_json_field label_values_fields[] = {
    TEXT(1, "name", name), TEXTS(2, "matchers", matchers),
    INT(3, "start", start_ms), INT(4, "end", end_ms), SP_JSON_LAST};
MESSAGE(sp_message_label_values, "LabelValuesRequest", label_values_fields);

static const sp_json_field label_names_fields[] = {
    TEXTS(1, "matchers", matchers), INT(2, "start", start_ms),
    INT(3, "end", end_ms), SP_JSON_LAST};
MESSAGE(sp_message_label_names, "LabelNamesRequest", label_names_fields);

static const sp_json_field series_fields[] = {
    TEXTS(1, "matchers", matchers), TEXTS(2, "labelNames", label_names),
    INT(3, "start", start_ms), INT(4, "end", end_ms), SP_JSON_LAST};
MESSAGE(sp_message_series, "SeriesRequest", series_fields);

static const sp_json_field go_pgo_fields[] = {
    INT(1, "keepLocations", keep_locations),
    FIELD("aggregateCallees", 2, SP_JSON_BOOL, false, NULL, aggregate_callees),
    SP_JSON_LAST};
static const sp_json_field call_site_fields[] = {
    SP_JSON_ONE("name", 1, SP_JSON_TEXT), SP_JSON_LAST};

static const sp_json_field stack_selector_fields[] = {
    FIELD("callSite", 1, SP_JSON_MESSAGE, true, call_site_fields, call_sites),
    INSIDE(2, "goPgo", has_go_pgo, go_pgo_fields), SP_JSON_LAST};
const sp_json_field sp_stacktraces_fields[] = {
    TEXT(1, "profileTypeID", profile_type),
    TEXT(2, "labelSelector", selector),
    INT(3, "start", start_ms),
    INT(4, "end", end_ms),
    INT(5, "maxNodes", max_nodes),
    ENUM(6, "format", format, format_names),
    INSIDE(7, "stackTraceSelector", has_stack_selector, stack_selector_fields),
    TEXTS(8, "profileIdSelector", profiles),
    TEXTS(10, "traceIdSelector", traces),
    TEXTS(11, "spanSelector", spans),
    SP_JSON_LAST};
MESSAGE(sp_message_stacktraces, "SelectMergeStacktracesRequest",
        sp_stacktraces_fields);

static const sp_json_field span_profile_fields[] = {
    TEXT(1, "profileTypeID", profile_type),
    TEXT(2, "labelSelector", selector),
    TEXTS(3, "spanSelector", spans),
    INT(4, "start", start_ms),
    INT(5, "end", end_ms),
    INT(6, "maxNodes", max_nodes),
    ENUM(7, "format", format, format_names),
    SP_JSON_LAST};
MESSAGE(sp_message_span_profile, "SelectMergeSpanProfileRequest",
        span_profile_fields);

static const sp_json_field profile_fields[] = {
    TEXT(1, "profileTypeID", profile_type),
    TEXT(2, "labelSelector", selector),
    INT(3, "start", start_ms),
    INT(4, "end", end_ms),
    INT(5, "maxNodes", max_nodes),
    INSIDE(6, "stackTraceSelector", has_stack_selector, stack_selector_fields),
    TEXTS(7, "profileIdSelector", profiles),
    TEXTS(8, "traceIdSelector", traces),
    SP_JSON_LAST};
MESSAGE(sp_message_profile, "SelectMergeProfileRequest", profile_fields);

static const sp_json_field select_series_fields[] = {
    TEXT(1, "profileTypeID", profile_type),
    TEXT(2, "labelSelector", selector),
    INT(3, "start", start_ms),
    INT(4, "end", end_ms),
    TEXTS(5, "groupBy", group_by),
    FIELD("step", 6, SP_JSON_DOUBLE, false, NULL, step_s),
    ENUM(7, "aggregation", aggregation, aggregation_names),
    INSIDE(8, "stackTraceSelector", has_stack_selector, stack_selector_fields),
    INT(9, "limit", limit),
    ENUM(10, "exemplarType", exemplars, exemplar_names),
    SP_JSON_LAST};
MESSAGE(sp_message_select_series, "SelectSeriesRequest", select_series_fields);

static const sp_json_field heatmap_fields[] = {
    TEXT(1, "profileTypeID", profile_type),
    TEXT(2, "labelSelector", selector),
    INT(3, "start", start_ms),
    INT(4, "end", end_ms),
    FIELD("step", 5, SP_JSON_DOUBLE, false, NULL, step_s),
    TEXTS(6, "groupBy", group_by),
    ENUM(7, "queryType", heatmap_of, heatmap_names),
    ENUM(8, "exemplarType", exemplars, exemplar_names),
    INT(9, "limit", limit),
    SP_JSON_LAST};
MESSAGE(sp_message_heatmap, "SelectHeatmapRequest", heatmap_fields);

static const sp_json_field diff_fields[] = {
    INSIDE(1, "left", left, sp_stacktraces_fields),
    INSIDE(2, "right", right, sp_stacktraces_fields), SP_JSON_LAST};
MESSAGE(sp_message_diff, "DiffRequest", diff_fields);

static const sp_json_field adhoc_upload_fields[] = {
    TEXT(1, "name", name), TEXT(2, "profile", profile),
    INT(3, "maxNodes", max_nodes), SP_JSON_LAST};
MESSAGE(sp_message_adhoc_upload, "AdHocProfilesUploadRequest",
        adhoc_upload_fields);

static const sp_json_field adhoc_get_fields[] = {
    TEXT(1, "id", id), TEXT(2, "profileType", profile_type),
    INT(3, "maxNodes", max_nodes), SP_JSON_LAST};
MESSAGE(sp_message_adhoc_get, "AdHocProfilesGetRequest", adhoc_get_fields);

static const sp_json_field adhoc_diff_fields[] = {
    TEXT(1, "leftId", left_id), TEXT(2, "rightId", right_id),
    TEXT(3, "profileType", profile_type), INT(4, "maxNodes", max_nodes),
    SP_JSON_LAST};
MESSAGE(sp_message_adhoc_diff, "AdHocProfilesDiffRequest", adhoc_diff_fields);

static const sp_json_field setting_fields[] = {
    TEXT(1, "name", name), TEXT(2, "value", value),
    INT(3, "modifiedAt", modified_ms), SP_JSON_LAST};
static const sp_json_field setting_set_fields[] = {
    INSIDE(1, "setting", has_setting, setting_fields), SP_JSON_LAST};
MESSAGE(sp_message_setting_set, "SetSettingsRequest", setting_set_fields);

static const sp_json_field name_fields[] = {TEXT(1, "name", name),
                                            SP_JSON_LAST};
MESSAGE(sp_message_name, "DeleteSettingsRequest", name_fields);
