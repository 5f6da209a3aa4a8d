// SPDX-License-Identifier: Apache-2.0
//
// Bloom filters of a whole output file: what is asked for each column, their place, and which were lost.
//
// In: options; row groups that have been written. Out: settings a column; filters behind their row group, so that those
//   of one row group are all that is held; notes.
// Guarantees: notes name every reason once, with the first columns that it holds for.
// Cost: the bytes of the filters. Errors: those of the sink. Threads: one owner.
// Source: BloomFilter.md "File Format".
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/byte_io.h"
#include "splice/column_merge.h"
#include "splice/row_group_merge.h"

namespace firn::splice {

std::vector<ColumnSettings> SettingsOf(const std::vector<OutputColumn>& columns, const Options& options);

class BloomLosses {
 public:
  void Add(std::size_t column, std::string reason) { columns_[std::move(reason)].insert(column); }
  void Report(const std::vector<OutputColumn>& columns, std::vector<std::string>& notes) const;

 private:
  std::map<std::string, std::set<std::size_t>> columns_;  // by reason
};

/// Writes the filters of the row group that `report` counts next, and enters their places into its metadata.
Status WriteBlooms(WrittenGroup& group, ByteSink& sink, Report& report, BloomLosses& losses);

}  // namespace firn::splice
