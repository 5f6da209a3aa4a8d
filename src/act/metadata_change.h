// SPDX-License-Identifier: Apache-2.0
//
// A change of a table's metadata alone: properties, refs, the format version.
//
// In: as change.h. Out: metadata updates, no snapshot.
// Guarantees: it has no files of its own and no marks, so it is recognised by IsApplied alone, which every such change
//   has to say.
// Threads: one owner. Errors: as change.h.
// Source: change.h.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "act/change.h"

namespace firn::act {

class MetadataChange : public Change {
 public:
  bool IsApplied(const iceberg::TableMetadata& metadata) const override = 0;
  std::string plan_id() const final { return ""; }
  std::string fence() const final { return ""; }
  void Committed(std::size_t) final {}
  std::vector<std::string> own_files() const final { return {}; }
  std::vector<std::string> unused_files() const final { return {}; }
};

}  // namespace firn::act
