// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "iceberg/manifest.h"

namespace firn::iceberg {
namespace {

struct NamedFormat {
  std::string_view name;
  FileFormat format;
};

/// Writers spell formats in upper case; readers take any case.
constexpr std::array kFormats = {
    NamedFormat{"PARQUET", FileFormat::kParquet},
    NamedFormat{"AVRO", FileFormat::kAvro},
    NamedFormat{"ORC", FileFormat::kOrc},
    NamedFormat{"PUFFIN", FileFormat::kPuffin},
};

bool SameLetters(std::string_view upper, std::string_view text) {
  return std::equal(upper.begin(), upper.end(), text.begin(), text.end(),
                    [](char a, char b) { return a == (b >= 'a' && b <= 'z' ? static_cast<char>(b - 'a' + 'A') : b); });
}

}  // namespace

std::string_view FormatName(FileFormat format) {
  for (const NamedFormat& named : kFormats) {
    if (named.format == format) return named.name;
  }
  return "UNKNOWN";
}

FileFormat ParseFileFormat(std::string_view text) {
  for (const NamedFormat& named : kFormats) {
    if (SameLetters(named.name, text)) return named.format;
  }
  return FileFormat::kUnknown;
}

}  // namespace firn::iceberg
