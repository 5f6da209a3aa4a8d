// SPDX-License-Identifier: Apache-2.0
#include "act/format_upgrade.h"

#include <fmt/format.h>

#include <utility>

namespace firn::act {
namespace {

class FormatChange final : public Change {
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
  std::string plan_id() const override { return ""; }
  std::string fence() const override { return ""; }
  bool IsApplied(const iceberg::TableMetadata& metadata) const override {
    return metadata.format_version() >= format_version_;
  }
  void Committed(std::size_t) override {}
  std::vector<std::string> own_files() const override { return {}; }
  std::vector<std::string> unused_files() const override { return {}; }

 private:
  std::int32_t format_version_;
};

}  // namespace

CommitReport UpgradeFormat(CommitEnvironment& environment, const CommitTarget& target, std::int32_t format_version) {
  FormatChange change(format_version);
  return Commit(environment, target, change);
}

}  // namespace firn::act
