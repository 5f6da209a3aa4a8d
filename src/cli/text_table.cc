// SPDX-License-Identifier: Apache-2.0
#include "cli/text_table.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/check.h"
#include "base/text_parts.h"

namespace firn::cli {
namespace {

void AppendLine(const std::vector<TextTable::Column>& columns, const std::vector<std::size_t>& widths,
                const std::vector<std::string>& cells, std::string& out) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string padding(widths[i] - DisplayWidth(cells[i]), ' ');
    line += "  ";
    line += columns[i].align == TextTable::Align::kRight ? padding + cells[i] : cells[i] + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

}  // namespace

std::size_t DisplayWidth(std::string_view text) {
  // Bytes 10xxxxxx continue a character.
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string Printable(std::string_view text) {
  std::string printable(text);
  for (std::size_t i = 0; i < printable.size(); ++i) {
    const auto c = static_cast<unsigned char>(printable[i]);
    const auto next = i + 1 < printable.size() ? static_cast<unsigned char>(printable[i + 1]) : 0;
    if (c < 0x20 || c == 0x7F) {
      printable[i] = '?';
    } else if (c == 0xC2 && next >= 0x80 && next < 0xA0) {  // U+0080 to U+009F control terminals, too
      printable.replace(i, 2, "?");
    }
  }
  return printable;
}

std::string Wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::string_view word = NextPart(text, ' ');
    const std::size_t length = DisplayWidth(word);
    if (used > 0 && used + 1 + length > width) {
      out += "\n" + std::string(indent, ' ');
      used = indent;
    } else if (used > 0) {
      out += ' ';
      ++used;
    }
    out += word;
    used += length;
  }
  return out;
}

void TextTable::AddRow(std::vector<std::string> cells) {
  FIRN_CHECK(cells.size() == columns_.size());
  for (auto& cell : cells) cell = Printable(cell);
  rows_.push_back(std::move(cells));
}

std::string TextTable::Print() const {
  std::vector<std::string> titles;
  std::vector<std::size_t> widths;
  for (const auto& column : columns_) {
    titles.push_back(AsciiUpper(column.title));
    widths.push_back(DisplayWidth(column.title));
  }
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  }
  std::string out;
  AppendLine(columns_, widths, titles, out);
  for (const auto& row : rows_) AppendLine(columns_, widths, row, out);
  return out;
}

}  // namespace firn::cli
