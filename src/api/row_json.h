// SPDX-License-Identifier: Apache-2.0
//
// Writes rows of the fleet as JSON.
//
// In: rows. Out: objects whose members are those of openapi.json.
// Guarantees: a time that never was is null; snapshot ids are strings, because JavaScript rounds integers above 2^53;
//   values of settings whose name sounds like a secret are "(hidden)", and user names and passwords in addresses are
//   left out.
// Threads: pure. Source: docs/api.md.
#pragma once

#include <string>
#include <string_view>

#include "format/json/json.h"
#include "service/fleet_rows.h"

namespace firn::api {

json::Value ToJson(const service::TableRow& row);
json::Value ToJson(const service::TableDetail& table);
json::Value ToJson(const service::AnalysisRow& row);
json::Value ToJson(const service::PartitionRow& row);
json::Value ToJson(const service::DecisionRow& row);
json::Value ToJson(const service::QueueRow& row);
json::Value ToJson(const service::JobRow& row);
json::Value ToJson(const service::OutcomeRow& row);
json::Value ToJson(const service::RequestRow& row);
json::Value ToJson(const service::PolicyRow& row);
json::Value ToJson(const service::SettingRow& row);
json::Value ToJson(const service::FleetSummary& summary);

/// The value, or what may be shown instead.
std::string ShownValue(std::string_view key, std::string_view value);

}  // namespace firn::api
