#include "otlp_json.h"

/* name, its other spelling, number, kind, repeated, message */
#define OTLP_END \
  { NULL, NULL, 0, SP_JSON_END, false, NULL }
#define OTLP_ONE(name, snake, number, kind) \
  { name, snake, number, kind, false, NULL }
#define OTLP_MANY(name, snake, number, kind) \
  { name, snake, number, kind, true, NULL }
#define OTLP_MESSAGE(name, snake, number, message) \
  { name, snake, number, SP_JSON_MESSAGE, false, message }
#define OTLP_MESSAGES(name, snake, number, message) \
  { name, snake, number, SP_JSON_MESSAGE, true, message }

static const sp_json_field otlp_json_value[];

static const sp_json_field otlp_json_array[] = {
    OTLP_MESSAGES("values", NULL, 1, otlp_json_value), OTLP_END};

const sp_json_field sp_otlp_json_key_value[] = {
    OTLP_ONE("key", NULL, 1, SP_JSON_TEXT),
    OTLP_MESSAGE("value", NULL, 2, otlp_json_value),
    OTLP_ONE("keyStrindex", "key_strindex", 3, SP_JSON_NUMBER), OTLP_END};

static const sp_json_field otlp_json_list[] = {
    OTLP_MESSAGES("values", NULL, 1, sp_otlp_json_key_value), OTLP_END};

static const sp_json_field otlp_json_value[] = {
    OTLP_ONE("stringValue", "string_value", 1, SP_JSON_TEXT),
    OTLP_ONE("boolValue", "bool_value", 2, SP_JSON_BOOL),
    OTLP_ONE("intValue", "int_value", 3, SP_JSON_NUMBER),
    OTLP_ONE("doubleValue", "double_value", 4, SP_JSON_DOUBLE),
    OTLP_MESSAGE("arrayValue", "array_value", 5, otlp_json_array),
    OTLP_MESSAGE("kvlistValue", "kvlist_value", 6, otlp_json_list),
    OTLP_ONE("bytesValue", "bytes_value", 7, SP_JSON_BASE64),
    OTLP_ONE("stringValueStrindex", "string_value_strindex", 8, SP_JSON_NUMBER),
    OTLP_END};

const sp_json_field sp_otlp_json_resource[] = {
    OTLP_MESSAGES("attributes", NULL, 1, sp_otlp_json_key_value),
    OTLP_ONE("droppedAttributesCount", "dropped_attributes_count", 2,
             SP_JSON_NUMBER),
    OTLP_END};

const sp_json_field sp_otlp_json_scope[] = {
    OTLP_ONE("name", NULL, 1, SP_JSON_TEXT),
    OTLP_ONE("version", NULL, 2, SP_JSON_TEXT),
    OTLP_MESSAGES("attributes", NULL, 3, sp_otlp_json_key_value),
    OTLP_ONE("droppedAttributesCount", "dropped_attributes_count", 4,
             SP_JSON_NUMBER),
    OTLP_END};

static const sp_json_field otlp_json_type[] = {
    OTLP_ONE("typeStrindex", "type_strindex", 1, SP_JSON_NUMBER),
    OTLP_ONE("unitStrindex", "unit_strindex", 2, SP_JSON_NUMBER), OTLP_END};

static const sp_json_field otlp_json_sample[] = {
    OTLP_ONE("stackIndex", "stack_index", 1, SP_JSON_NUMBER),
    OTLP_MANY("attributeIndices", "attribute_indices", 2, SP_JSON_NUMBER),
    OTLP_ONE("linkIndex", "link_index", 3, SP_JSON_NUMBER),
    OTLP_MANY("values", NULL, 4, SP_JSON_NUMBER),
    OTLP_MANY("timestampsUnixNano", "timestamps_unix_nano", 5, SP_JSON_FIXED64),
    OTLP_END};

static const sp_json_field otlp_json_profile[] = {
    OTLP_MESSAGE("sampleType", "sample_type", 1, otlp_json_type),
    OTLP_MESSAGES("samples", NULL, 2, otlp_json_sample),
    OTLP_ONE("timeUnixNano", "time_unix_nano", 3, SP_JSON_FIXED64),
    OTLP_ONE("durationNano", "duration_nano", 4, SP_JSON_NUMBER),
    OTLP_MESSAGE("periodType", "period_type", 5, otlp_json_type),
    OTLP_ONE("period", NULL, 6, SP_JSON_NUMBER),
    OTLP_ONE("profileId", "profile_id", 7, SP_JSON_BASE64),
    OTLP_ONE("droppedAttributesCount", "dropped_attributes_count", 8,
             SP_JSON_NUMBER),
    OTLP_ONE("originalPayloadFormat", "original_payload_format", 9,
             SP_JSON_TEXT),
    OTLP_ONE("originalPayload", "original_payload", 10, SP_JSON_BASE64),
    OTLP_MANY("attributeIndices", "attribute_indices", 11, SP_JSON_NUMBER),
    OTLP_END};

static const sp_json_field otlp_json_scope_profiles[] = {
    OTLP_MESSAGE("scope", NULL, 1, sp_otlp_json_scope),
    OTLP_MESSAGES("profiles", NULL, 2, otlp_json_profile),
    OTLP_ONE("schemaUrl", "schema_url", 3, SP_JSON_TEXT), OTLP_END};

static const sp_json_field otlp_json_resource_profiles[] = {
    OTLP_MESSAGE("resource", NULL, 1, sp_otlp_json_resource),
    OTLP_MESSAGES("scopeProfiles", "scope_profiles", 2,
                  otlp_json_scope_profiles),
    OTLP_ONE("schemaUrl", "schema_url", 3, SP_JSON_TEXT), OTLP_END};

static const sp_json_field otlp_json_mapping[] = {
    OTLP_ONE("memoryStart", "memory_start", 1, SP_JSON_NUMBER),
    OTLP_ONE("memoryLimit", "memory_limit", 2, SP_JSON_NUMBER),
    OTLP_ONE("fileOffset", "file_offset", 3, SP_JSON_NUMBER),
    OTLP_ONE("filenameStrindex", "filename_strindex", 4, SP_JSON_NUMBER),
    OTLP_MANY("attributeIndices", "attribute_indices", 5, SP_JSON_NUMBER),
    OTLP_END};

static const sp_json_field otlp_json_line[] = {
    OTLP_ONE("functionIndex", "function_index", 1, SP_JSON_NUMBER),
    OTLP_ONE("line", NULL, 2, SP_JSON_NUMBER),
    OTLP_ONE("column", NULL, 3, SP_JSON_NUMBER), OTLP_END};

static const sp_json_field otlp_json_location[] = {
    OTLP_ONE("mappingIndex", "mapping_index", 1, SP_JSON_NUMBER),
    OTLP_ONE("address", NULL, 2, SP_JSON_NUMBER),
    OTLP_MESSAGES("lines", NULL, 3, otlp_json_line),
    OTLP_MANY("attributeIndices", "attribute_indices", 4, SP_JSON_NUMBER),
    OTLP_END};

static const sp_json_field otlp_json_function[] = {
    OTLP_ONE("nameStrindex", "name_strindex", 1, SP_JSON_NUMBER),
    OTLP_ONE("systemNameStrindex", "system_name_strindex", 2, SP_JSON_NUMBER),
    OTLP_ONE("filenameStrindex", "filename_strindex", 3, SP_JSON_NUMBER),
    OTLP_ONE("startLine", "start_line", 4, SP_JSON_NUMBER), OTLP_END};

static const sp_json_field otlp_json_link[] = {
    OTLP_ONE("traceId", "trace_id", 1, SP_JSON_BASE64),
    OTLP_ONE("spanId", "span_id", 2, SP_JSON_BASE64), OTLP_END};

static const sp_json_field otlp_json_attribute[] = {
    OTLP_ONE("keyStrindex", "key_strindex", 1, SP_JSON_NUMBER),
    OTLP_MESSAGE("value", NULL, 2, otlp_json_value),
    OTLP_ONE("unitStrindex", "unit_strindex", 3, SP_JSON_NUMBER), OTLP_END};

static const sp_json_field otlp_json_stack[] = {
    OTLP_MANY("locationIndices", "location_indices", 1, SP_JSON_NUMBER),
    OTLP_END};

static const sp_json_field otlp_json_dictionary[] = {
    OTLP_MESSAGES("mappingTable", "mapping_table", 1, otlp_json_mapping),
    OTLP_MESSAGES("locationTable", "location_table", 2, otlp_json_location),
    OTLP_MESSAGES("functionTable", "function_table", 3, otlp_json_function),
    OTLP_MESSAGES("linkTable", "link_table", 4, otlp_json_link),
    OTLP_MANY("stringTable", "string_table", 5, SP_JSON_TEXT),
    OTLP_MESSAGES("attributeTable", "attribute_table", 6, otlp_json_attribute),
    OTLP_MESSAGES("stackTable", "stack_table", 7, otlp_json_stack),
    OTLP_END};

const sp_json_field sp_otlp_json_profiles[] = {
    OTLP_MESSAGES("resourceProfiles", "resource_profiles", 1,
                  otlp_json_resource_profiles),
    OTLP_MESSAGE("dictionary", NULL, 2, otlp_json_dictionary), OTLP_END};
