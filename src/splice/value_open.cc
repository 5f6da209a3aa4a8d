// SPDX-License-Identifier: Apache-2.0
#include "splice/value_open.h"

#include <algorithm>

#include "splice/bit_pack.h"
#include "splice/hybrid.h"

namespace firn::splice {

namespace {

using parquet::Encoding;

/// How many of the page's entries have a value.
Result<std::size_t> CountValues(ByteView definition, std::int32_t entries, std::uint32_t max_definition) {
  const auto all = static_cast<std::size_t>(entries);
  if (max_definition == 0) return all;
  HybridReader levels(definition, BitWidth(max_definition));
  std::uint32_t slice[1024];
  std::size_t count = 0;
  for (std::size_t left = all; left > 0;) {
    const std::size_t step = std::min(left, std::size(slice));
    if (levels.Read(slice, step) != step) return Error{Code::kCorrupt, "definition levels end early"};
    count += static_cast<std::size_t>(std::count(slice, slice + step, max_definition));
    left -= step;
  }
  return count;
}

}  // namespace

Result<OpenedValues> OpenValues(const OutputColumn& column, const ChunkScan& scan, std::size_t page, ByteView values,
                                std::size_t page_bytes_max, MergeBuffers& buffers) {
  switch (scan.pages[page].encoding) {
    case Encoding::kPlain:
      if (column.type == parquet::PhysicalType::kBoolean) {
        buffers.plain.OpenBits(values);
        return OpenedValues{&buffers.plain, ValueMode::kBits};
      }
      if (column.type == parquet::PhysicalType::kByteArray) {
        buffers.plain.OpenByteArrays(values);
      } else {
        buffers.plain.OpenFixed(values, column.width);
      }
      return OpenedValues{&buffers.plain};
    case Encoding::kRle:
      FIRN_TRY(buffers.plain.OpenRleBits(values));
      return OpenedValues{&buffers.plain, ValueMode::kBits};
    case Encoding::kDeltaBinaryPacked:
      FIRN_TRY(buffers.delta_integers.Open(values, column.width));
      return OpenedValues{&buffers.delta_integers};
    case Encoding::kDeltaLengthByteArray:
      FIRN_TRY(buffers.delta_lengths.Open(values));
      return OpenedValues{&buffers.delta_lengths};
    case Encoding::kDeltaByteArray:
      FIRN_TRY(buffers.delta_strings.Open(values, column.width, page_bytes_max,
                                          page > 0 && scan.source->file().quirks().delta_byte_array_broken));
      return OpenedValues{&buffers.delta_strings};
    case Encoding::kByteStreamSplit:
      FIRN_TRY(buffers.streams.Open(values, column.width));
      return OpenedValues{&buffers.streams};
    default: return Error{Code::kUnsupported, "an unknown encoding"};  // WhyDecodeChunk has sent it elsewhere
  }
}

Result<std::optional<PlainPage>> PlainValuesOf(const OutputColumn& column, const ColumnInput& input, std::size_t page,
                                               ByteView body, std::size_t bytes_max, PageOpener& opener,
                                               MergeBuffers& buffers) {
  const PageRecord& record = input.scan.pages[page];
  const std::uint32_t max_definition = input.levels->input_max_definition;
  FIRN_ASSIGN(const PageSections sections,
              opener.Open(record, body, input.scan.meta->codec, column.max_repetition > 0, max_definition > 0));
  PlainPage plain;
  FIRN_ASSIGN(plain.count, CountValues(sections.definition, record.num_values, max_definition));
  // A few bytes of deltas may stand for any number of values.
  if (plain.count > bytes_max / std::max<std::size_t>(column.width, 1)) return std::nullopt;
  FIRN_ASSIGN(const OpenedValues opened, OpenValues(column, input.scan, page, sections.values, bytes_max, buffers));
  PageValues& values = buffers.join.values;
  values.Reset(ValueMode::kPlain, 0);
  for (std::size_t left = plain.count; left > 0;) {
    const std::size_t step = std::min(left, opened.feed->StepMax());
    FIRN_TRY(opened.feed->Take(step, values));
    if (values.plain_values().size() > bytes_max) return std::nullopt;
    left -= step;
  }
  if (!opened.feed->AtEnd()) return Error{Code::kCorrupt, "values behind those that the levels tell of"};
  plain.values = values.plain_values();
  return plain;
}

}  // namespace firn::splice
