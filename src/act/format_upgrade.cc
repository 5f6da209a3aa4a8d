// SPDX-License-Identifier: Apache-2.0
#include "act/format_upgrade.h"

#include <fmt/format.h>

#include <utility>

#include "act/metadata_change.h"

namespace firn::act {
namespace {

class FormatChange final : public MetadataChange {
 public:
  explicit FormatChange(std::int32_t format_version) : format_version_(format_version) {}

  Result<Proposal> Propose(const CommitBase& base, MetadataFiles&) override {
    const std::int32_t from = base.metadata.format_version();
    if (from < 2 || from > format_version_ || format_version_ != 3) {
      return Error{Code::kUnsupported,
                   fmt::format("the table has format version {}: only from 2 to 3 it is raised", from)};
    }
    Proposal proposal;
    proposal.updates.push_back(iceberg::UpgradeFormatVersion{format_version_});
    return proposal;
  }
  bool IsApplied(const iceberg::TableMetadata& metadata) const override {
    return metadata.format_version() >= format_version_;
  }

 private:
  std::int32_t format_version_;
};

}  // namespace

CommitReport UpgradeFormat(CommitEnvironment& environment, const CommitTarget& target, std::int32_t format_version) {
  FormatChange change(format_version);
  return Commit(environment, target, change);
}

}  // namespace firn::act
