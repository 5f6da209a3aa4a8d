// SPDX-License-Identifier: Apache-2.0
#include "cli/next_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "act/plan_base.h"
#include "base/ascii.h"
#include "cli/text_table.h"
#include "ports/hadoop_catalog.h"

namespace firn::cli {
namespace {

/// `text` as one word of a shell.
std::string ShellWord(const std::string& text) {
  const auto is_plain = [](char c) {
    return IsAsciiAlphanumeric(c) || std::string_view("_-./:@%+,=").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return Printable(word + "'");
}

void Add(std::string& words, std::string_view option, const std::string& value) {
  if (!value.empty()) words += fmt::format(" {} {}", option, ShellWord(value));
}

/// What a catalog of directories would try out in a store is left to the command that writes.
Status CheckCatalog(const ports::Catalog& catalog, const ports::LoadedTable& table) {
  if (const auto* directories = dynamic_cast<const ports::HadoopCatalog*>(&catalog)) {
    return directories->CheckUnmoved(table);
  }
  return catalog.CheckWritable(table);
}

}  // namespace

std::string TableWords(const TableOptions& options) {
  const TableRequest& request = options.request;
  std::string words = ShellWord(request.table);
  Add(words, "--catalog", request.catalog);
  Add(words, "--config", request.config_file);
  for (const std::string& property : request.properties) {
    Add(words, "--property", property.substr(0, property.find('=')) + "=...");
  }
  for (const std::string& map : request.maps) Add(words, "--map", map);
  if (options.ref != "main") Add(words, "--branch", options.ref);
  return words;
}

std::string SelectedWords(const TableOptions& table, const SelectionOptions& selection) {
  std::string words = TableWords(table);
  Add(words, "--where", selection.where);
  for (const std::string& partition : selection.partitions) Add(words, "--partition", partition);
  Add(words, "--target-file-size", selection.target_file_size);
  if (selection.min_input_files) Add(words, "--min-input-files", std::to_string(*selection.min_input_files));
  return words;
}

std::string MaxBytesWords(const std::string& max_bytes) {
  std::string words;
  Add(words, "--max-bytes", max_bytes);
  return words;
}

std::string WhyReadOnly(const OpenedTable& opened, const std::string& ref) {
  Status changeable = CheckCatalog(*opened.catalog, opened.table);
  if (changeable) changeable = act::CheckChangeable(*opened.io, opened.table, ref);
  if (changeable) return "";
  const Error& error = changeable.error();
  // Anything else, such as storage that does not answer, says nothing about the table.
  return error.code == Code::kUnsupported || error.code == Code::kInvalidArgument ? error.message : "";
}

std::string ReadOnlyLine(const std::string& reason) {
  return reason.empty() ? "" : fmt::format("Read only: {}.\n", Printable(reason));
}

}  // namespace firn::cli
