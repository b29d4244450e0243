#include "otlp_json.h"

static const sp_json_field otlp_json_value[];

static const sp_json_field otlp_json_array[] = {
    SP_JSON_LIST("values", 1, otlp_json_value), SP_JSON_LAST};

const sp_json_field sp_otlp_json_key_value[] = {
    SP_JSON_ONE("key", 1, SP_JSON_TEXT),
    SP_JSON_INSIDE("value", 2, otlp_json_value),
    SP_JSON_ONE("keyStrindex", 3, SP_JSON_NUMBER), SP_JSON_LAST};

static const sp_json_field otlp_json_list[] = {
    SP_JSON_LIST("values", 1, sp_otlp_json_key_value), SP_JSON_LAST};

static const sp_json_field otlp_json_value[] = {
    SP_JSON_ONE("stringValue", 1, SP_JSON_TEXT),
    SP_JSON_ONE("boolValue", 2, SP_JSON_BOOL),
    SP_JSON_ONE("intValue", 3, SP_JSON_NUMBER),
    SP_JSON_ONE("doubleValue", 4, SP_JSON_DOUBLE),
    SP_JSON_INSIDE("arrayValue", 5, otlp_json_array),
    SP_JSON_INSIDE("kvlistValue", 6, otlp_json_list),
    SP_JSON_ONE("bytesValue", 7, SP_JSON_BASE64),
    SP_JSON_ONE("stringValueStrindex", 8, SP_JSON_NUMBER),
    SP_JSON_LAST};

const sp_json_field sp_otlp_json_resource[] = {
    SP_JSON_LIST("attributes", 1, sp_otlp_json_key_value),
    SP_JSON_ONE("droppedAttributesCount", 2, SP_JSON_NUMBER), SP_JSON_LAST};

const sp_json_field sp_otlp_json_scope[] = {
    SP_JSON_ONE("name", 1, SP_JSON_TEXT),
    SP_JSON_ONE("version", 2, SP_JSON_TEXT),
    SP_JSON_LIST("attributes", 3, sp_otlp_json_key_value),
    SP_JSON_ONE("droppedAttributesCount", 4, SP_JSON_NUMBER), SP_JSON_LAST};

static const sp_json_field otlp_json_type[] = {
    SP_JSON_ONE("typeStrindex", 1, SP_JSON_NUMBER),
    SP_JSON_ONE("unitStrindex", 2, SP_JSON_NUMBER), SP_JSON_LAST};

static const sp_json_field otlp_json_sample[] = {
    SP_JSON_ONE("stackIndex", 1, SP_JSON_NUMBER),
    SP_JSON_MANY("attributeIndices", 2, SP_JSON_NUMBER),
    SP_JSON_ONE("linkIndex", 3, SP_JSON_NUMBER),
    SP_JSON_MANY("values", 4, SP_JSON_NUMBER),
    SP_JSON_MANY("timestampsUnixNano", 5, SP_JSON_FIXED64),
    SP_JSON_LAST};

static const sp_json_field otlp_json_profile[] = {
    SP_JSON_INSIDE("sampleType", 1, otlp_json_type),
    SP_JSON_LIST("samples", 2, otlp_json_sample),
    SP_JSON_ONE("timeUnixNano", 3, SP_JSON_FIXED64),
    SP_JSON_ONE("durationNano", 4, SP_JSON_NUMBER),
    SP_JSON_INSIDE("periodType", 5, otlp_json_type),
    SP_JSON_ONE("period", 6, SP_JSON_NUMBER),
    SP_JSON_ONE("profileId", 7, SP_JSON_BASE64),
    SP_JSON_ONE("droppedAttributesCount", 8, SP_JSON_NUMBER),
    SP_JSON_ONE("originalPayloadFormat", 9, SP_JSON_TEXT),
    SP_JSON_ONE("originalPayload", 10, SP_JSON_BASE64),
    SP_JSON_MANY("attributeIndices", 11, SP_JSON_NUMBER),
    SP_JSON_LAST};

static const sp_json_field otlp_json_scope_profiles[] = {
    SP_JSON_INSIDE("scope", 1, sp_otlp_json_scope),
    SP_JSON_LIST("profiles", 2, otlp_json_profile),
    SP_JSON_ONE("schemaUrl", 3, SP_JSON_TEXT), SP_JSON_LAST};

static const sp_json_field otlp_json_resource_profiles[] = {
    SP_JSON_INSIDE("resource", 1, sp_otlp_json_resource),
    SP_JSON_LIST("scopeProfiles", 2, otlp_json_scope_profiles),
    SP_JSON_ONE("schemaUrl", 3, SP_JSON_TEXT), SP_JSON_LAST};

static const sp_json_field otlp_json_mapping[] = {
    SP_JSON_ONE("memoryStart", 1, SP_JSON_NUMBER),
    SP_JSON_ONE("memoryLimit", 2, SP_JSON_NUMBER),
    SP_JSON_ONE("fileOffset", 3, SP_JSON_NUMBER),
    SP_JSON_ONE("filenameStrindex", 4, SP_JSON_NUMBER),
    SP_JSON_MANY("attributeIndices", 5, SP_JSON_NUMBER),
    SP_JSON_LAST};

static const sp_json_field otlp_json_line[] = {
    SP_JSON_ONE("functionIndex", 1, SP_JSON_NUMBER),
    SP_JSON_ONE("line", 2, SP_JSON_NUMBER),
    SP_JSON_ONE("column", 3, SP_JSON_NUMBER), SP_JSON_LAST};

static const sp_json_field otlp_json_location[] = {
    SP_JSON_ONE("mappingIndex", 1, SP_JSON_NUMBER),
    SP_JSON_ONE("address", 2, SP_JSON_NUMBER),
    SP_JSON_LIST("lines", 3, otlp_json_line),
    SP_JSON_MANY("attributeIndices", 4, SP_JSON_NUMBER), SP_JSON_LAST};

static const sp_json_field otlp_json_function[] = {
    SP_JSON_ONE("nameStrindex", 1, SP_JSON_NUMBER),
    SP_JSON_ONE("systemNameStrindex", 2, SP_JSON_NUMBER),
    SP_JSON_ONE("filenameStrindex", 3, SP_JSON_NUMBER),
    SP_JSON_ONE("startLine", 4, SP_JSON_NUMBER), SP_JSON_LAST};

static const sp_json_field otlp_json_link[] = {
    SP_JSON_ONE("traceId", 1, SP_JSON_BASE64),
    SP_JSON_ONE("spanId", 2, SP_JSON_BASE64), SP_JSON_LAST};

static const sp_json_field otlp_json_attribute[] = {
    SP_JSON_ONE("keyStrindex", 1, SP_JSON_NUMBER),
    SP_JSON_INSIDE("value", 2, otlp_json_value),
    SP_JSON_ONE("unitStrindex", 3, SP_JSON_NUMBER), SP_JSON_LAST};

static const sp_json_field otlp_json_stack[] = {
    SP_JSON_MANY("locationIndices", 1, SP_JSON_NUMBER), SP_JSON_LAST};

static const sp_json_field otlp_json_dictionary[] = {
    SP_JSON_LIST("mappingTable", 1, otlp_json_mapping),
    SP_JSON_LIST("locationTable", 2, otlp_json_location),
    SP_JSON_LIST("functionTable", 3, otlp_json_function),
    SP_JSON_LIST("linkTable", 4, otlp_json_link),
    SP_JSON_MANY("stringTable", 5, SP_JSON_TEXT),
    SP_JSON_LIST("attributeTable", 6, otlp_json_attribute),
    SP_JSON_LIST("stackTable", 7, otlp_json_stack),
    SP_JSON_LAST};

const sp_json_field sp_otlp_json_profiles[] = {
    SP_JSON_LIST("resourceProfiles", 1, otlp_json_resource_profiles),
    SP_JSON_INSIDE("dictionary", 2, otlp_json_dictionary), SP_JSON_LAST};
