#pragma once
// What each operation of openapi.yaml does, by its operationId. All have the same shape, so that
// the table of routes names them.

#include "api/internal/exchange.h"

namespace api {

// handle_lists.cc
void list_workloads(Desk& desk, const ExchangePtr& exchange);
void get_workload(Desk& desk, const ExchangePtr& exchange);
void list_attempts(Desk& desk, const ExchangePtr& exchange);
void get_attempt(Desk& desk, const ExchangePtr& exchange);

// handle_cluster.cc
void list_queues(Desk& desk, const ExchangePtr& exchange);
void get_queue(Desk& desk, const ExchangePtr& exchange);
void list_pools(Desk& desk, const ExchangePtr& exchange);
void get_pool(Desk& desk, const ExchangePtr& exchange);
void list_classes(Desk& desk, const ExchangePtr& exchange);
void get_class(Desk& desk, const ExchangePtr& exchange);
void list_nodes(Desk& desk, const ExchangePtr& exchange);
void get_node(Desk& desk, const ExchangePtr& exchange);
void list_devices(Desk& desk, const ExchangePtr& exchange);
void list_policies(Desk& desk, const ExchangePtr& exchange);
void list_topologies(Desk& desk, const ExchangePtr& exchange);

// handle_apply.cc
void apply_manifests(Desk& desk, const ExchangePtr& exchange);
void create_workload(Desk& desk, const ExchangePtr& exchange);  // of any kind
void create_training_job(Desk& desk, const ExchangePtr& exchange);
void create_inference_service(Desk& desk, const ExchangePtr& exchange);
void create_notebook(Desk& desk, const ExchangePtr& exchange);
void create_batch_inference(Desk& desk, const ExchangePtr& exchange);
void apply_queue(Desk& desk, const ExchangePtr& exchange);
void apply_pool(Desk& desk, const ExchangePtr& exchange);
void apply_class(Desk& desk, const ExchangePtr& exchange);
void apply_policy(Desk& desk, const ExchangePtr& exchange);
void apply_topology(Desk& desk, const ExchangePtr& exchange);

// handle_verbs.cc
void cancel_workload(Desk& desk, const ExchangePtr& exchange);
void hold_workload(Desk& desk, const ExchangePtr& exchange);
void release_workload(Desk& desk, const ExchangePtr& exchange);
void cordon_node(Desk& desk, const ExchangePtr& exchange);
void uncordon_node(Desk& desk, const ExchangePtr& exchange);
void drain_node(Desk& desk, const ExchangePtr& exchange);

// handle_questions.cc
void why_workload(Desk& desk, const ExchangePtr& exchange);
void fits(Desk& desk, const ExchangePtr& exchange);
void describe_server(Desk& desk, const ExchangePtr& exchange);
void report_usage(Desk& desk, const ExchangePtr& exchange);
void give_metrics(Desk& desk, const ExchangePtr& exchange);
void give_openapi(Desk& desk, const ExchangePtr& exchange);

// handle_events.cc
void list_events(Desk& desk, const ExchangePtr& exchange);

// handle_logs.cc
void get_logs(Desk& desk, const ExchangePtr& exchange);

}  // namespace api
