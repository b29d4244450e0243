/* The part of `spanprof check` about links from spans to profiles in Grafana.
 * It checks that both have the same service name, and prints settings of the
 * data sources. */
#ifndef SP_CHECK_GRAFANA_H
#define SP_CHECK_GRAFANA_H

#include "check_list.h"
#include "settings/settings.h"

/* Print the result "service". Reads only environment variables:
 * PYROSCOPE_APPLICATION_NAME, OTEL_SERVICE_NAME, and service.name of
 * OTEL_RESOURCE_ATTRIBUTES. */
void sp_check_service_names(sp_check_list *list);

/* Print Grafana's provisioning file for the data sources, if a server is
 * configured. The file contains names of variables instead of secrets. */
void sp_check_print_data_sources(const sp_check_list *list,
                                 const sp_settings *settings);

#endif
