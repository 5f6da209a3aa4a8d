// SPDX-License-Identifier: Apache-2.0
//
// Reads tables that were moved: locations below FROM are looked up below TO.
//
// In: rules in order, the first match wins. A rule matches whole path components: "/a" is not "/ab".
// Out: the FileIO below, seen through the rules; List answers in the terms of its prefix.
// Guarantees: nothing is created or deleted through a rule, because the table would then be written in a place that
//   other readers do not look at; unless both sides of the rule name the same place (s3a and s3, file:/a and /a).
// Errors: kUnsupported for writing, with the rule. Threads: as the FileIO below.
#pragma once

#include <memory>

#include "ports/file_io.h"

namespace firn::ports {

struct LocationRule {
  std::string from;
  std::string to;
};

/// "FROM=TO", divided at the first equals sign; kInvalidArgument when a side is missing.
Result<LocationRule> ParseLocationRule(std::string_view text);

class MappedFileIO final : public FileIO {
 public:
  MappedFileIO(std::shared_ptr<FileIO> below, std::vector<LocationRule> rules);

  Result<std::unique_ptr<RandomAccessSource>> Open(
      const std::string& location, std::optional<std::uint64_t> known_size_bytes = std::nullopt) override;
  Result<std::unique_ptr<OutputFile>> Create(const std::string& location) override;
  Status CheckCreate(const std::string& location) override;
  Status Delete(const std::string& location) override;
  Result<bool> Exists(const std::string& location) override;
  Result<ListPage> List(const std::string& prefix, const std::string& page) override;
  Status CheckExclusive(const std::string& location) override;
  Status Replace(const std::string& location, ByteView bytes) override;

 private:
  const LocationRule* Match(std::string_view location) const;
  std::string Map(const std::string& location) const;
  Result<std::string> MapForWriting(const std::string& location) const;

  std::shared_ptr<FileIO> below_;
  std::vector<LocationRule> rules_;
};

}  // namespace firn::ports
