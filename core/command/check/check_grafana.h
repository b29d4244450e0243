/* What `spanprof check` says of the way from a span to its profile in Grafana:
 * whether both are of one service, and how the data sources are set up. */
#ifndef SP_CHECK_GRAFANA_H
#define SP_CHECK_GRAFANA_H

#include "check_list.h"
#include "settings/settings.h"

/* By the environment alone: PYROSCOPE_APPLICATION_NAME, OTEL_SERVICE_NAME and
 * service.name of OTEL_RESOURCE_ATTRIBUTES. */
void sp_check_service_names(sp_check_list *list);

/* Print the provisioning of the data sources, where there is a server. Secrets
 * are named by their variables. */
void sp_check_print_data_sources(const sp_check_list *list,
                                 const sp_settings *settings);

#endif
