#include "check.h"
#include "failing_mem.h"
#include "settings/identity.h"

static sp_identity identity;
static sp_label_list labels;
static sp_buffer notes;

static void identity_start(char *const *environment) {
  sp_buffer_init(&notes, &sp_mem_default);
  sp_label_list_init(&labels, &sp_mem_default);
  CHECK_EQUAL(sp_identity_read(&identity, &sp_mem_default, environment, &notes),
              SPANPROF_OK);
}

static void identity_end(void) {
  sp_identity_dispose(&identity);
  sp_label_list_dispose(&labels);
  sp_buffer_dispose(&notes);
}

static void identity_reads_percent_encoded_attributes(void) {
  char *const environment[] = {
      "OTEL_RESOURCE_ATTRIBUTES= service.name = shop%2Cfront ,"
      "host%3Dname=a%20b,service.namespace=gr%C3%B6%c3%9fe,x=,x=2,",
      NULL};

  identity_start(environment);
  CHECK_EQUAL(identity.count, 4);
  CHECK_TEXT(sp_identity_attribute(&identity, "service.name"), "shop,front");
  CHECK_TEXT(sp_identity_attribute(&identity, "host=name"), "a b");
  CHECK_TEXT(sp_identity_attribute(&identity, "service.namespace"), "größe");
  CHECK_TEXT(sp_identity_attribute(&identity, "x"), "2");
  CHECK(!sp_identity_attribute(&identity, "y"));
  CHECK_EQUAL(notes.size, 0);
  identity_end();
}

static void identity_that_does_not_parse_is_discarded(void) {
  static char *const table[] = {
      "OTEL_RESOURCE_ATTRIBUTES=service.name=a,b",
      "OTEL_RESOURCE_ATTRIBUTES=service.name=a,=b",
      "OTEL_RESOURCE_ATTRIBUTES=service.name=a,b=%4",
      "OTEL_RESOURCE_ATTRIBUTES=service.name=a,b=%4g",
      "OTEL_RESOURCE_ATTRIBUTES=service.name=a,b=%ff",
      "OTEL_RESOURCE_ATTRIBUTES=service.name=a,b=\xc3",
      "OTEL_RESOURCE_ATTRIBUTES=service.name=a,b=%00",
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    char *const environment[] = {table[i], NULL};

    identity_start(environment);
    CHECK_EQUAL(identity.count, 0);
    CHECK(strstr(notes.data, "OTEL_RESOURCE_ATTRIBUTES is ignored"));
    identity_end();
  }
}

static void identity_sources_of_the_service_name_have_an_order(void) {
  char *const both[] = {"OTEL_RESOURCE_ATTRIBUTES=service.name=attribute",
                        "OTEL_SERVICE_NAME=variable", NULL};
  char *const attribute[] = {"OTEL_RESOURCE_ATTRIBUTES=service.name=attribute",
                             "OTEL_SERVICE_NAME=", NULL};
  char *const none[] = {"OTEL_RESOURCE_ATTRIBUTES=service.name=", NULL};
  sp_option_value given = {.option = "application_name"};

  identity_start(both);
  sp_identity_service_name(&identity, both, &given);
  CHECK_TEXT(given.text, "variable");
  CHECK_TEXT(given.variable, "OTEL_SERVICE_NAME");
  identity_end();
  identity_start(attribute);
  sp_identity_service_name(&identity, attribute, &given);
  CHECK_TEXT(given.text, "attribute");
  CHECK_TEXT(given.variable, "OTEL_RESOURCE_ATTRIBUTES");
  identity_end();
  given.text = NULL;
  identity_start(none);
  sp_identity_service_name(&identity, none, &given);
  CHECK(!given.text);
  identity_end();
}

static void identity_adds_requested_labels(void) {
  char *const environment[] = {
      "OTEL_RESOURCE_ATTRIBUTES=service.namespace=shop,k8s.pod.name=web-1,"
      "host-name=h,unasked=x",
      NULL};
  const sp_option_value given = {.option = "resource_labels",
                                 .text = "k8s.pod.name, host-name,,missing"};

  identity_start(environment);
  CHECK_EQUAL(sp_identity_labels(&identity, &given, &labels, &notes),
              SPANPROF_OK);
  CHECK_EQUAL(labels.count, 3);
  CHECK_TEXT(labels.pairs[0].name, "service_namespace");
  CHECK_TEXT(labels.pairs[0].value, "shop");
  CHECK_TEXT(labels.pairs[1].name, "k8s_pod_name");
  CHECK_TEXT(labels.pairs[1].value, "web-1");
  CHECK_TEXT(labels.pairs[2].name, "host_name");
  CHECK_TEXT(notes.data,
             "resource_labels: attribute \"host-name\" becomes label "
             "\"host_name\"\n"
             "resource_labels: OTEL_RESOURCE_ATTRIBUTES has no \"missing\"\n");
  identity_end();
}

static void identity_read_with(const sp_mem *mem) {
  char *const environment[] = {
      "OTEL_RESOURCE_ATTRIBUTES=service.namespace=shop,a-b=1,a-b=2", NULL};
  const sp_option_value given = {.option = "resource_labels", .text = "a-b,c"};
  spanprof_status st;

  sp_buffer_init(&notes, mem);
  sp_label_list_init(&labels, mem);
  st = sp_identity_read(&identity, mem, environment, &notes);
  if (st == SPANPROF_OK)
    st = sp_identity_labels(&identity, &given, &labels, &notes);
  CHECK(st == SPANPROF_OK || st == SPANPROF_ERR_NOMEM);
  identity_end();
}

static void identity_survives_every_failed_allocation(void) {
  failing_mem_sweep(identity_read_with);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"percent-encoded attributes are read",
       identity_reads_percent_encoded_attributes},
      {"attributes that do not parse are discarded as a whole",
       identity_that_does_not_parse_is_discarded},
      {"the sources of the service's name have an order",
       identity_sources_of_the_service_name_have_an_order},
      {"requested attributes become labels", identity_adds_requested_labels},
      {"every failed allocation is survived",
       identity_survives_every_failed_allocation},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
