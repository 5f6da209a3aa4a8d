// SPDX-License-Identifier: Apache-2.0
#include "act/property_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "act/metadata_change.h"

namespace firn::act {
namespace {

std::optional<std::string> ValueOf(const iceberg::TableMetadata& metadata, const std::string& key) {
  const auto& properties = metadata.properties();
  const auto found = properties.find(key);
  return found == properties.end() ? std::nullopt : std::optional(found->second);
}

class PropertiesChange final : public MetadataChange {
 public:
  explicit PropertiesChange(const std::vector<PropertyChange>& changes) : changes_(changes) {}

  Result<Proposal> Propose(const CommitBase& base, MetadataFiles&) override {
    iceberg::SetProperties set;
    for (const PropertyChange& change : changes_) {
      if (ValueOf(base.metadata, change.key) != change.before) {
        return Error{
            Code::kConflict,
            fmt::format("property `{}` has another value now than the one that this was decided upon", change.key)};
      }
      set.values.emplace_back(change.key, change.after);
    }
    Proposal proposal;
    proposal.updates.push_back(std::move(set));
    return proposal;
  }
  bool IsApplied(const iceberg::TableMetadata& metadata) const override {
    return std::ranges::all_of(
        changes_, [&](const PropertyChange& change) { return ValueOf(metadata, change.key) == change.after; });
  }

 private:
  const std::vector<PropertyChange>& changes_;
};

}  // namespace

CommitReport SetTableProperties(CommitEnvironment& environment, const CommitTarget& target,
                                const std::vector<PropertyChange>& changes) {
  PropertiesChange change(changes);
  return Commit(environment, target, change);
}

}  // namespace firn::act
