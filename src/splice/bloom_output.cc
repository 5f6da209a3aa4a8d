// SPDX-License-Identifier: Apache-2.0
#include "splice/bloom_output.h"

namespace firn::splice {

std::vector<ColumnSettings> SettingsOf(const std::vector<OutputColumn>& columns, const Options& options) {
  std::vector<ColumnSettings> settings(columns.size());
  for (const OutputColumn& column : columns) {
    ColumnSettings& of_column = settings[static_cast<std::size_t>(column.index)];
    const auto found = options.columns.find(column.element.field_id.value_or(-1));
    if (found == options.columns.end()) continue;
    const ColumnOptions& asked = found->second;
    of_column = {
        {asked.bloom_filter, asked.bloom_filter_fpp, asked.bloom_filter_distinct}, asked.dictionary, asked.statistics};
  }
  return settings;
}

void BloomLosses::Report(const std::vector<OutputColumn>& columns, std::vector<std::string>& notes) const {
  constexpr std::size_t kNamesMax = 8, kReasonsMax = 4;
  std::size_t reasons = 0;
  for (const auto& [reason, lost] : columns_) {
    if (reasons++ == kReasonsMax) break;
    std::string note = "Bloom filters are not kept (" + reason + "): ";
    std::size_t named = 0;
    for (const std::size_t c : lost) {
      if (named == kNamesMax) {
        note += " and " + std::to_string(lost.size() - kNamesMax) + " more columns";
        break;
      }
      if (named++ > 0) note += ", ";
      for (std::size_t i = 0; i < columns[c].path.size(); ++i) note += (i > 0 ? "." : "") + columns[c].path[i];
    }
    notes.insert(notes.begin(), std::move(note));
  }
}

Status WriteBlooms(WrittenGroup& group, ByteSink& sink, Report& report, BloomLosses& losses) {
  for (std::size_t c = 0; c < group.blooms.size(); ++c) {
    BuiltBloom bloom = std::move(group.blooms[c]);
    if (!bloom.lost.empty()) losses.Add(c, std::move(bloom.lost));
    if (bloom.filter.empty()) continue;
    parquet::ColumnMetaData& meta = *group.meta.columns[c].meta;
    meta.bloom_filter_offset = static_cast<std::int64_t>(sink.position());
    meta.bloom_filter_length = static_cast<std::int32_t>(bloom.filter.size());
    FIRN_TRY(sink.Write(bloom.filter));
    ++report.bloom_filters;
    if (bloom.of_values && meta.dictionary_page_offset) report.filtered_dictionaries.emplace_back(report.row_groups, c);
  }
  return Ok();
}

}  // namespace firn::splice
