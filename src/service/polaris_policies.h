// SPDX-License-Identifier: Apache-2.0
//
// Policies that an Apache Polaris catalog has for a table: `system.data-compaction` and its siblings.
//
// In: properties of the REST catalog (uri, prefix or warehouse, authorization), a table's name. Out: the policies that
//   apply to it, own and inherited, and what they mean as settings.
// Guarantees: read only. A policy of a type that firn does not act upon is kept and shown, never guessed at. Answers
//   are bounded: pages, policies and bytes.
// Threads: any (the HTTP client's). Errors: kUnsupported when the catalog has no such API, kNotFound when it has no
//   such table, kInvalidArgument naming the policy and the member of its content, kUnavailable.
// Source: Polaris spec/polaris-catalog-service.yaml, schemas/policies/system/*/2025-02-03.json.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "ports/clock.h"
#include "ports/http.h"
#include "ports/properties.h"
#include "ports/rest_session.h"
#include "service/fleet_policy.h"

namespace firn::service {

/// Property of a REST catalog: "auto" (asked if it lists the endpoint in its configuration), "true", "false".
inline constexpr std::string_view kPolarisPoliciesProperty = "firn.polaris-policies";
inline constexpr std::string_view kPolarisEndpoint = "GET /polaris/v1/{prefix}/applicable-policies";

inline constexpr std::string_view kPolarisDataCompaction = "system.data-compaction";
inline constexpr std::string_view kPolarisMetadataCompaction = "system.metadata-compaction";
inline constexpr std::string_view kPolarisSnapshotExpiry = "system.snapshot-expiry";
inline constexpr std::string_view kPolarisOrphanFileRemoval = "system.orphan-file-removal";

struct PolarisPolicy {
  std::string type;
  std::string name;
  std::string content;  // JSON
  std::int64_t version = 0;
  bool inherited = false;               // from a namespace or the catalog
  std::vector<std::string> name_space;  // where it is defined
};

/// Settings that the data compaction policy stands for: `enabled`, `target-file-size-bytes`, and each `firn.*` key of
/// its `config`. Of several of one type the table's own wins, then the one of the deepest namespace; two that are
/// equally near contradict each other. Siblings are checked, and have no settings of firn.
Result<PolicyValues> PolarisValues(const std::vector<PolarisPolicy>& policies);

/// An answer of `applicable-policies`, added to `policies`; the token of the next page, or empty.
Result<std::string> ParseApplicablePolicies(const std::string& body, std::vector<PolarisPolicy>& policies);

/// Something that has policies for tables.
class PolicySource {
 public:
  virtual ~PolicySource() = default;
  /// kNotFound: there is no such table; kUnsupported: no such API.
  virtual Result<std::vector<PolarisPolicy>> Applicable(const std::vector<std::string>& name_space,
                                                        const std::string& table) = 0;
};

class PolarisPolicies final : public PolicySource {
 public:
  /// Asks the catalog for its configuration; kUnsupported when it has to list the endpoint and does not. `clock` must
  /// live longer.
  static Result<std::unique_ptr<PolarisPolicies>> Make(const ports::Properties& properties,
                                                       std::shared_ptr<ports::Http> http, ports::Clock& clock,
                                                       bool has_to_list = false);

  Result<std::vector<PolarisPolicy>> Applicable(const std::vector<std::string>& name_space,
                                                const std::string& table) override;

 private:
  PolarisPolicies() = default;

  std::string url_;         // ".../polaris/v1/prefix/applicable-policies"
  bool is_listed_ = false;  // the catalog says that it has the endpoint
  std::unique_ptr<ports::RestSession> session_;
};

}  // namespace firn::service
