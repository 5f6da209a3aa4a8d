// SPDX-License-Identifier: Apache-2.0
#include "cli/listing.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/human_text.h"
#include "cli/facts_text.h"
#include "format/json/json.h"

namespace firn::cli {
namespace {

struct HumanCell {
  std::string operator()(std::monostate) const { return "-"; }
  std::string operator()(bool value) const { return value ? "yes" : "no"; }
  std::string operator()(std::int64_t value) const { return HumanCount(value); }
  std::string operator()(ByteCount value) const { return HumanBytes(value.value); }
  std::string operator()(TimestampMs value) const { return UtcText(value); }
  std::string operator()(SnapshotId value) const { return fmt::format("{}", value.value); }
  std::string operator()(const std::string& value) const { return value; }
};

struct JsonCell {
  json::Value operator()(std::monostate) const { return {}; }
  json::Value operator()(bool value) const { return value; }
  json::Value operator()(std::int64_t value) const { return value; }
  json::Value operator()(ByteCount value) const { return value.value; }
  json::Value operator()(TimestampMs value) const { return value.value; }
  json::Value operator()(SnapshotId value) const { return value.value; }
  json::Value operator()(const std::string& value) const { return value; }
};

bool IsNumber(const Cell& cell) {
  return std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<ByteCount>(cell) ||
         std::holds_alternative<SnapshotId>(cell);
}

}  // namespace

Listing::Listing(Terminal& terminal, Options options, std::vector<std::string> columns)
    : terminal_(terminal), options_(options), columns_(std::move(columns)) {}

void Listing::AddRow(std::vector<Cell> cells) {
  FIRN_CHECK(cells.size() == columns_.size());
  ++row_count_;
  if (options_.json) {
    WriteJson(cells);
  } else if (rows_.size() < options_.rows_max) {
    rows_.push_back(std::move(cells));
  }
}

void Listing::WriteJson(const std::vector<Cell>& cells) {
  json::Value row = json::Value::Object();
  for (std::size_t i = 0; i < cells.size(); ++i) row.Set(columns_[i], std::visit(JsonCell{}, cells[i]));
  terminal_.Out((row_count_ == 1 ? "[\n" : ",\n") + json::Write(row));
}

void Listing::Finish() {
  if (options_.json) {
    terminal_.Out(row_count_ == 0 ? "[]\n" : "\n]\n");
    return;
  }
  if (rows_.empty()) {
    terminal_.Out("  (none)\n");
    return;
  }
  std::vector<TextTable::Column> columns;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::string title = columns_[i];
    std::replace(title.begin(), title.end(), '_', ' ');
    const bool number = std::ranges::any_of(rows_, [&](const auto& row) { return IsNumber(row[i]); });
    columns.push_back({std::move(title), number ? TextTable::Align::kRight : TextTable::Align::kLeft});
  }
  TextTable table(std::move(columns));
  for (const auto& row : rows_) {
    std::vector<std::string> cells;
    for (const auto& cell : row) cells.push_back(std::visit(HumanCell{}, cell));
    table.AddRow(std::move(cells));
  }
  std::string text = table.Print();
  const auto left_off = row_count_ - static_cast<std::int64_t>(rows_.size());
  if (left_off > 0) text += fmt::format("  ... and {} (--limit N shows more)\n", HumanCount(left_off, "more row"));
  terminal_.Out(text);
}

}  // namespace firn::cli
