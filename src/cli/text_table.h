// SPDX-License-Identifier: Apache-2.0
//
// Lays out rows as aligned columns for people.
//
// Guarantees: numbers (right) and text (left) line up by characters, not bytes; control characters of foreign text
//   appear as '?', so that a name in a table cannot drive the terminal; no trailing blanks.
// Cost: holds all rows. Threads: one owner.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace firn::cli {

class TextTable {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// As many cells as there are columns.
  void AddRow(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  /// Title line in capitals and the rows, each indented by two blanks and ended by a newline.
  std::string Print() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Characters (code points) of UTF-8 text.
std::size_t DisplayWidth(std::string_view text);
/// Control characters replaced by '?'.
std::string Printable(std::string_view text);
/// `text` broken at blanks into lines of at most `width` characters; later lines begin with `indent` blanks.
std::string Wrap(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace firn::cli
