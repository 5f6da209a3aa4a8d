// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/service_options.h"
#include "cli/text_table.h"
#include "decide/candidate.h"
#include "format/json/json.h"
#include "ports/http.h"
#include "ports/location.h"
#include "service/fleet_rows.h"

namespace firn::cli {
namespace {

struct RequestOptions {
  CommonOptions common;
  std::string table, action, server = "http://127.0.0.1:8765", token_file, deadline;
  std::vector<std::string> partitions;
  double priority = 1;
};

Code CodeOfStatus(int status) {
  if (status == 404) return Code::kNotFound;
  if (status == 429 || status == 507) return Code::kLimit;
  return status >= 500 ? Code::kUnavailable : Code::kInvalidArgument;
}

/// The message of {"error": {"message": ...}}.
std::string MessageOf(const ports::HttpResponse& response) {
  const auto value = json::Parse(response.body);
  const json::Value* error = value ? value->Find("error") : nullptr;
  const json::Value* message = error == nullptr ? nullptr : error->Find("message");
  if (message == nullptr || message->AsString() == nullptr) return fmt::format("status {}", response.status);
  return *message->AsString();
}

Result<std::string> BodyOf(Environment& environment, const RequestOptions& options) {
  json::Value body = json::Value::Object();
  body.Set("table", options.table);
  body.Set("action", options.action);
  body.Set("priority", options.priority);
  if (!options.deadline.empty()) {
    FIRN_ASSIGN(const std::int64_t within, ParseDurationOption("--within", options.deadline));
    body.Set("deadline_ms", environment.clock.Now().value + within);
  }
  if (!options.partitions.empty()) {
    json::Value partitions = json::Value::Array();
    for (const std::string& partition : options.partitions) partitions.Append(partition);
    body.Set("partitions", std::move(partitions));
  }
  return json::Write(body);
}

Result<int> RunRequest(Environment& environment, const RequestOptions& options) {
  ports::HttpRequest request;
  request.method = "POST";
  request.url = std::string(ports::WithoutSlash(options.server)) + "/api/v1/requests";
  request.headers = {{"Content-Type", "application/json"}};
  if (!options.token_file.empty()) {
    FIRN_ASSIGN(const std::string token, ReadTokenFile(options.token_file));
    request.headers.emplace_back("Authorization", "Bearer " + token);
  }
  FIRN_ASSIGN(request.body, BodyOf(environment, options));
  FIRN_ASSIGN(const auto http, ports::MakeCurlHttp({}));
  FIRN_ASSIGN(const ports::HttpResponse response, http->Send(request).In("the service at " + options.server));
  if (response.status != 202) {
    return Error{CodeOfStatus(response.status),
                 fmt::format("the service at {}: {}", options.server, MessageOf(response))};
  }
  if (options.common.json) {
    environment.terminal.Out(response.body + "\n");
    return kExitOk;
  }
  FIRN_ASSIGN(const json::Value answer, json::Parse(response.body).In("the service's answer"));
  FIRN_ASSIGN(const std::string id, json::GetString(answer, "id").In("the service's answer"));
  environment.terminal.Out(fmt::format("Request {} is accepted.\n", Printable(id)));
  const json::Value* shadow = answer.Find("shadow");
  const bool changes_nothing =
      options.action == service::kRequestScan || options.action == ActionName(decide::Action::kAnalyze);
  if (shadow != nullptr && shadow->AsBool().value_or(false) && !changes_nothing) {
    environment.terminal.Out("The service is a shadow: it says what it would do (`firn explain`) and does nothing.\n");
  }
  return kExitOk;
}

}  // namespace

void AddRequest(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<RequestOptions>();
  CLI::App* command = app.add_subcommand("request", "Ask a running service for work on a table");
  command
      ->add_option("TABLE", options->table,
                   "A table that the service watches: db.table, catalog.db.table, catalog/db.table")
      ->required();
  command
      ->add_option("ACTION", options->action,
                   fmt::format("{}, or {} (only look)", fmt::join(decide::ActionNames(), ", "), service::kRequestScan))
      ->required()
      ->check(CLI::IsMember(service::RequestActions()));
  command->add_option("--partition", options->partitions, "Only this partition, as health shows it; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--priority", options->priority, "Times the table's own")
      ->check(CLI::Range(0.01, 100.0))
      ->capture_default_str();
  command->add_option("--within", options->deadline, "It should be finished within this time, such as 30m");
  command->add_option("--server", options->server, "Address of the service")->capture_default_str();
  command->add_option("--token-file", options->token_file, "File with the service's token");
  AddCommonOptions(*command, options->common);
  command->callback([options, &context] {
    RunCommand(context, options->common, [&] { return RunRequest(context.environment, *options); });
  });
}

}  // namespace firn::cli
