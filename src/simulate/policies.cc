// SPDX-License-Identifier: Apache-2.0
#include "simulate/policies.h"

#include <fmt/format.h>

#include <array>

#include "simulate/baselines.h"
#include "simulate/firn_policy.h"

namespace firn::simulate {
namespace {

struct Named {
  std::string_view name;
  std::unique_ptr<MergePolicy> (*make)(const PolicyOptions&);
};

constexpr std::array<Named, 6> kPolicies = {{
    {"firn", MakeFirnPolicy},
    {"every-commit", MakeEveryCommitPolicy},
    {"entropy", MakeEntropyPolicy},
    {"threshold", MakeThresholdPolicy},
    {"periodic", MakePeriodicPolicy},
    {"none", [](const PolicyOptions&) { return MakeNonePolicy(); }},
}};

}  // namespace

std::vector<std::string_view> PolicyNames() {
  std::vector<std::string_view> names;
  for (const Named& policy : kPolicies) names.push_back(policy.name);
  return names;
}

Result<std::unique_ptr<MergePolicy>> MakePolicy(std::string_view name, const PolicyOptions& options) {
  for (const Named& policy : kPolicies) {
    if (policy.name == name) return policy.make(options);
  }
  return Error{Code::kInvalidArgument,
               fmt::format("\"{}\" is no policy: there are {}", name, fmt::join(PolicyNames(), ", "))};
}

}  // namespace firn::simulate
