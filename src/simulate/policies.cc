// SPDX-License-Identifier: Apache-2.0
#include "simulate/policies.h"

#include <fmt/format.h>

#include <array>

namespace firn::simulate {
namespace {

struct Named {
  std::string_view name;
  std::unique_ptr<MergePolicy> (*make)(const BaselineOptions&);
};

constexpr std::array<Named, 5> kPolicies = {{
    {"every-commit", MakeEveryCommitPolicy},
    {"entropy", MakeEntropyPolicy},
    {"threshold", MakeThresholdPolicy},
    {"periodic", MakePeriodicPolicy},
    {"none", [](const BaselineOptions&) { return MakeNonePolicy(); }},
}};

}  // namespace

std::vector<std::string_view> PolicyNames() {
  std::vector<std::string_view> names;
  for (const Named& policy : kPolicies) names.push_back(policy.name);
  return names;
}

Result<std::unique_ptr<MergePolicy>> MakePolicy(std::string_view name, const BaselineOptions& options) {
  for (const Named& policy : kPolicies) {
    if (policy.name == name) return policy.make(options);
  }
  return Error{Code::kInvalidArgument,
               fmt::format("\"{}\" is no policy: there are {}", name, fmt::join(PolicyNames(), ", "))};
}

}  // namespace firn::simulate
