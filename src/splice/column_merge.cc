// SPDX-License-Identifier: Apache-2.0
#include "splice/column_merge.h"

#include <algorithm>

#include "format/parquet/promotion.h"
#include "splice/bit_pack.h"
#include "splice/chunk_move.h"
#include "splice/chunk_statistics.h"
#include "splice/dictionary_choice.h"
#include "splice/header_rewrite.h"
#include "splice/plain_encode.h"

namespace firn::splice {

namespace {

using parquet::Encoding;
using parquet::PhysicalType;

/// Of a row group that is copied whole, pages may be smaller.
constexpr std::int64_t kCopyBytesMinAlone = 8 << 10, kCopyValuesMinAlone = 8 << 10;

bool IsKnownEncoding(PhysicalType type, Encoding encoding) {
  switch (encoding) {
    case Encoding::kPlain: return true;
    case Encoding::kPlainDictionary:
    case Encoding::kRleDictionary: return type != PhysicalType::kBoolean;
    case Encoding::kRle: return type == PhysicalType::kBoolean;
    default: return CanEncode(encoding, type);
  }
}

/// The size of the page that a byte is in, on average: writers that end pages by rows leave a tiny one at the end.
std::int64_t BytesOfTypicalPage(const ChunkScan& scan) {
  if (scan.data_bytes == 0) return 0;
  double squares = 0;
  for (const PageRecord& page : scan.pages) {
    squares += static_cast<double>(page.uncompressed_size) * static_cast<double>(page.uncompressed_size);
  }
  return static_cast<std::int64_t>(squares / static_cast<double>(scan.data_bytes));
}

/// DuckDB up to 1.5 reads DELTA_LENGTH_BYTE_ARRAY as text and binary only, not as decimals or parts of variants.
bool IsPlainText(const OutputColumn& column) {
  if (column.type != PhysicalType::kByteArray || column.in_variant) return false;
  const parquet::LogicalKind kind = parquet::EffectiveLogicalType(column.element).kind;
  return kind == parquet::LogicalKind::kNone || kind == parquet::LogicalKind::kString;
}

class ColumnMerge {
 public:
  ColumnMerge(const OutputColumn& column, std::vector<ColumnInput>& inputs, const MergeSettings& settings,
              ColumnMemory& memory, MergeBuffers& buffers, const ChunkSink& sink)
      : column_(column),
        inputs_(inputs),
        settings_(settings),
        memory_(memory),
        buffers_(buffers),
        choice_(column),
        opener_(buffers.codecs, settings.page_bytes_max),
        writer_(column, settings.chunk, memory.level, buffers.codecs, buffers.presses, sink),
        statistics_(column),
        nesting_(column),
        asked_(settings.Of(column)),
        bloom_(column, asked_.bloom) {}

  Result<ColumnResult> Run() {
    FIRN_ASSIGN(choice_, ChooseDictionary(column_, inputs_, settings_, memory_, buffers_));
    bloom_.Choose(inputs_, IsCoded());
    JoinSettings join_settings = Survey();
    plain_encoding_ = join_settings.plain_encoding;
    FIRN_TRY(WriteDictionary());
    if (exact_ && choice_.HasDictionary()) join_settings.entries = &buffers_.entries;
    PageJoin join(column_, join_settings, writer_, buffers_.join, nesting_);
    std::int64_t rows = 0;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      FIRN_TRY(AppendInput(i, join));
      rows += inputs_[i].rows;
      inputs_[i].scan = ChunkScan();
    }
    FIRN_TRY(join.Flush());
    statistics_.AddBounds(join.bounds());
    FIRN_ASSIGN(result_.chunk, writer_.Finish(rows));
    statistics_.Finish(result_.chunk.meta);
    if (!asked_.statistics) DropStatistics();
    result_.bloom = bloom_.Finish();
    return std::move(result_);
  }

 private:
  /// Whether all pages of the output will be dictionary-encoded.
  bool IsCoded() const {
    return choice_.HasDictionary() && std::ranges::all_of(inputs_, [](const ColumnInput& input) {
             return input.kind != ColumnInput::Kind::kRowIds && !input.scan.has_other_pages;
           });
  }

  void DropStatistics() {
    result_.chunk.meta.statistics.reset();
    result_.chunk.column_index.reset();
  }

  /// What the output's pages look like, from all inputs.
  JoinSettings Survey() {
    JoinSettings join;
    bool any_v1 = false, any_v2 = false, lineage = false;
    std::int64_t most = 0;
    std::array<std::int64_t, 16> values_by_encoding{};
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const ColumnInput& input = inputs_[i];
      lineage = lineage || input.lineage;
      exact_ = exact_ || input.lineage || input.filter != nullptr;
      if (input.kind != ColumnInput::Kind::kChunk) continue;
      chunks_ += 1;
      any_v1 = any_v1 || input.scan.has_v1;
      any_v2 = any_v2 || input.scan.has_v2;
      for (std::size_t p = 0; p < input.scan.pages.size(); ++p) {
        const PageRecord& page = input.scan.pages[p];
        const bool coded = IsDictionaryEncoded(page);
        if ((coded && choice_.HasDictionary()) || choice_.Folded(i, p) != nullptr) continue;
        const auto encoding = static_cast<std::size_t>(coded ? Encoding::kPlain : page.encoding);
        if (encoding < values_by_encoding.size()) values_by_encoding[encoding] += page.num_values;
      }
    }
    v2_ = join.v2 = any_v2 && !any_v1;
    join.page_size_bytes = settings_.page_size_bytes;
    join.page_rows_max = settings_.page_rows_max;
    join.index_width = std::max(1u, BitWidth(choice_.entries > 0 ? choice_.entries - 1 : 0));
    for (std::size_t e = 0; e < values_by_encoding.size(); ++e) {
      const auto encoding = static_cast<Encoding>(e);
      if (values_by_encoding[e] <= most || !CanEncode(encoding, column_.type)) continue;
      most = values_by_encoding[e];
      join.plain_encoding = encoding;
    }
    if (settings_.effort == Effort::kDense && join.plain_encoding == Encoding::kPlain) {
      const bool integers = CanEncode(Encoding::kDeltaBinaryPacked, column_.type);
      if (integers) join.plain_encoding = Encoding::kDeltaBinaryPacked;
      if (IsPlainText(column_)) join.plain_encoding = Encoding::kDeltaLengthByteArray;
    }
    // Only readers of row lineage ask for these columns, and they know the encoding.
    if (lineage) join.plain_encoding = Encoding::kDeltaBinaryPacked;
    join.exact_bounds = exact_;
    if (bloom_.wants_values()) join.bloom = &bloom_;
    return join;
  }

  Status WriteDictionary() {
    if (choice_.kind == DictionaryChoice::Kind::kUnited) {
      if (exact_) FIRN_TRY(buffers_.entries.Build(choice_.united.plain(), choice_.entries, column_.width));
      bloom_.AddDictionary(choice_.united.plain(), choice_.united.count());
      return writer_.WriteDictionary(choice_.united.plain(), choice_.united.count());
    }
    if (choice_.kind != DictionaryChoice::Kind::kShared) return Ok();
    const ColumnInput& input = inputs_[choice_.shared_input];
    const PageRecord& page = *input.scan.dictionary;
    PageFetcher fetcher = PageFetcher::ForOne(*input.scan.source);
    FIRN_ASSIGN(const ByteView bytes, fetcher.Fetch(page));
    FIRN_ASSIGN(ByteView plain, opener_.OpenDictionary(page, bytes.subspan(page.header_bytes), input.scan.meta->codec)
                                    .In(ChunkMover::Place(input, page)));
    if (exact_) {  // kept to find bounds of indices with
      buffers_.dictionary.Clear();
      buffers_.dictionary.Append(plain);
      plain = buffers_.dictionary.view();
    }
    // Nobody has looked at its entries yet, and the indices of all inputs rely on their number.
    FIRN_TRY(buffers_.entries.Build(plain, choice_.entries, column_.width).In(ChunkMover::Place(input, page)));
    bloom_.AddDictionary(plain, choice_.entries);
    if (input.scan.meta->codec == settings_.chunk.codec) return writer_.CopyDictionary(*input.scan.source, page, bytes);
    return writer_.WriteDictionary(plain, choice_.entries);
  }

  /// Whether the bodies of the input's pages may go into the output as they are stored.
  bool FitsOutput(const ColumnInput& input) const {
    const ChunkScan& scan = input.scan;
    if (scan.meta->codec != settings_.chunk.codec) return false;
    if (!input.levels->identity() && !CanPutLevelsBefore(column_, scan, *input.levels)) return false;
    return !(v2_ ? scan.has_v1 : scan.has_v2) && !scan.pages.empty();
  }

  /// Whether their headers then cannot stay.
  bool NeedsHeaders(const ColumnInput& input) const {
    return !input.levels->identity() || input.scan.headers_lie ||
           (!asked_.statistics && !input.scan.statistics.empty());
  }

  /// Whether all of them should.
  bool MayCopy(std::size_t i) {
    const ColumnInput& input = inputs_[i];
    const ChunkScan& scan = input.scan;
    if (!FitsOutput(input)) return false;
    if (scan.has_dictionary_pages && !choice_.KeepsIndices(i)) return false;
    if (choice_.FoldsAny(i)) return false;
    if (scan.has_other_pages && bloom_.wants_values()) return false;
    const std::int64_t bytes = BytesOfTypicalPage(scan);
    const std::int64_t values = scan.meta->num_values / static_cast<std::int64_t>(scan.pages.size());
    const bool alone = chunks_ == 1 && inputs_.size() == 1;
    const bool large = bytes >= CopyBytesMin(settings_.effort);
    if (!large && !(alone && (bytes >= kCopyBytesMinAlone || values >= kCopyValuesMinAlone))) return false;
    const bool broken_deltas = scan.source->file().quirks().delta_byte_array_broken;
    for (const PageRecord& page : scan.pages) {
      if (broken_deltas && page.encoding == Encoding::kDeltaByteArray) return false;
      if (page.num_values > settings_.page_rows_max) return false;
    }
    // Rows of nested pages are counted while joining; copies need an offset index that tells them.
    return !column_.nested() || SourceFacts(column_, scan, input.levels->input_max_definition).PageRows(0).has_value();
  }

  Status AppendInput(std::size_t i, PageJoin& join) {
    ColumnInput& input = inputs_[i];
    if (input.kind != ColumnInput::Kind::kChunk) return AppendConstant(i, join);
    SourceFacts facts(column_, input.scan, input.levels->input_max_definition);
    // Alone, damage stays with its own rows; beside others, a wrong level would move theirs.
    NestingCheck* const nesting = column_.nested() && inputs_.size() > 1 ? &nesting_ : nullptr;
    ChunkMover mover(column_, settings_, choice_, opener_, buffers_, writer_, join, nesting);
    nesting_.Begin();
    input.new_headers = NeedsHeaders(input);
    const bool fills = input.fill && facts.chunk_nulls() != 0;
    const bool copy = !fills && MayCopy(i);
    const bool unseen = copy && nesting == nullptr;  // levels of copied pages
    if (fills || input.filter != nullptr) {
      FIRN_TRY(FilterInput(i, mover, facts, copy));
      if (!unseen) KeepPrints(i);
      return Ok();
    }
    std::optional<std::int64_t> non_nulls;
    std::int64_t copied_bytes = 0;
    if (copy) {
      FIRN_TRY(mover.Copy(input, facts));
      if (facts.chunk_nulls()) non_nulls = input.scan.meta->num_values - *facts.chunk_nulls();
      result_.has_unchecked_indices = result_.has_unchecked_indices || input.scan.has_dictionary_pages;
    } else {
      // Exact bounds are those of pages that are made here.
      const bool some = !exact_ && FitsOutput(input);
      const Encoding copied = bloom_.wants_values() ? Encoding::kRleDictionary : plain_encoding_;
      FIRN_ASSIGN(const MovedChunk done, mover.Join(i, input, facts, some ? std::optional(copied) : std::nullopt));
      non_nulls = done.non_nulls;
      copied_bytes = done.copied_bytes;
      result_.has_unchecked_indices = result_.has_unchecked_indices || done.copied_indices;
      result_.verbatim = false;
    }
    if (!unseen) KeepPrints(i);
    statistics_.AddChunk(input, facts, non_nulls, copy || !exact_);
    TierCount& tier = result_.tiers[static_cast<std::size_t>(TierOf(i, copy))];
    tier.bytes += input.scan.meta->total_compressed_size - copied_bytes;
    ++tier.chunks;
    result_.tiers[static_cast<std::size_t>(CopyTier(input))].bytes += copied_bytes;
    if (copy && input.new_headers) result_.verbatim = false;
    return Ok();
  }

  static Tier CopyTier(const ColumnInput& input) { return input.new_headers ? Tier::kHeader : Tier::kPages; }

  void KeepPrints(std::size_t i) {
    const ColumnInput& input = inputs_[i];
    if (column_.shared_lists.empty() || input.scan.pages.empty()) return;
    result_.prints.resize(inputs_.size());
    result_.prints[i] = {ChunkMover::Place(input, input.scan.pages[0]), nesting_.TakePrints()};
  }

  /// A chunk with deleted rows, or whose nulls become values.
  Status FilterInput(std::size_t i, ChunkMover& mover, SourceFacts& facts, bool may_copy) {
    const ColumnInput& input = inputs_[i];
    FIRN_ASSIGN(const MovedChunk done, mover.Filter(i, input, facts, may_copy));
    result_.verbatim = false;
    result_.has_unchecked_indices = result_.has_unchecked_indices || done.copied_indices;
    statistics_.AddValues(done.values, done.non_nulls);
    statistics_.AddBounds(done.copied_bounds);
    const Tier tier = input.decoded ? Tier::kDecode : input.filter != nullptr ? Tier::kFilter : Tier::kReencode;
    TierCount& opened = result_.tiers[static_cast<std::size_t>(tier)];
    opened.bytes += input.scan.meta->total_compressed_size - done.copied_bytes;
    ++opened.chunks;
    result_.tiers[static_cast<std::size_t>(CopyTier(input))].bytes += done.copied_bytes;
    return Ok();
  }

  Tier TierOf(std::size_t i, bool copied) const {
    const ColumnInput& input = inputs_[i];
    if (input.decoded) return Tier::kDecode;
    if (copied) return CopyTier(input);
    if (choice_.kind == DictionaryChoice::Kind::kRefused && input.scan.has_dictionary_pages) return Tier::kReencode;
    for (const PageRecord& page : input.scan.pages) {
      if (page.encoding == Encoding::kDeltaBinaryPacked || page.encoding == Encoding::kDeltaByteArray ||
          page.encoding == Encoding::kDeltaLengthByteArray) {
        return Tier::kReencode;
      }
    }
    if (input.scan.has_dictionary_pages && !choice_.KeepsIndices(i)) return Tier::kRemap;
    return input.scan.meta->codec != settings_.chunk.codec ? Tier::kRecompress : Tier::kJoin;
  }

  Status AppendConstant(std::size_t i, PageJoin& join) {
    const ColumnInput& input = inputs_[i];
    TierCount& tier = result_.tiers[static_cast<std::size_t>(Tier::kSynthesize)];
    ++tier.chunks;
    result_.verbatim = false;
    const bool coded = choice_.HasDictionary() && choice_.codes_constant[i];
    if (input.kind == ColumnInput::Kind::kNull) {
      statistics_.AddNulls(input.rows);
      const bool bits = column_.type == PhysicalType::kBoolean;
      return join.AppendRows(input.rows, nullptr,
                             coded  ? ValueMode::kIndices
                             : bits ? ValueMode::kBits
                                    : ValueMode::kPlain,
                             {});
    }
    if (input.kind == ColumnInput::Kind::kRowIds) {
      statistics_.AddValues(input.rows, input.rows);
      RowIdFeed ids(*input.fill, input.filter);
      return join.AppendRows(input.rows, &ids, ValueMode::kPlain, {});
    }
    ConstantFeed feed(column_, input.value, coded, choice_.value_of[i]);
    const BoundsView bounds = statistics_.AddConstant(input.rows, input.value);
    return join.AppendRows(input.rows, &feed, feed.mode(), bounds);
  }

  const OutputColumn& column_;
  std::vector<ColumnInput>& inputs_;
  const MergeSettings& settings_;
  ColumnMemory& memory_;
  MergeBuffers& buffers_;
  DictionaryChoice choice_;
  PageOpener opener_;
  ChunkWriter writer_;
  ChunkStatistics statistics_;
  NestingCheck nesting_;
  const ColumnSettings& asked_;
  BloomBuild bloom_;
  ColumnResult result_;
  std::size_t chunks_ = 0;
  bool v2_ = false;
  Encoding plain_encoding_ = Encoding::kPlain;
  bool exact_ = false;  // bounds are those of the values, not of the inputs
};

}  // namespace

std::string WhyDecodeChunk(const OutputColumn& column, const ChunkScan& scan, std::uint32_t input_max_definition) {
  for (const PageRecord& page : scan.pages) {
    if (!IsKnownEncoding(column.type, page.encoding)) {
      return "encoding " + std::to_string(static_cast<int>(page.encoding));
    }
    if (page.type == parquet::PageType::kDataV2) continue;
    if ((column.max_repetition > 0 && page.repetition_encoding != Encoding::kRle) ||
        (input_max_definition > 0 && page.definition_encoding != Encoding::kRle)) {
      return "levels in the deprecated BIT_PACKED encoding";
    }
  }
  return {};
}

Result<ColumnResult> MergeColumn(const OutputColumn& column, std::vector<ColumnInput>& inputs,
                                 const MergeSettings& settings, ColumnMemory& memory, MergeBuffers& buffers,
                                 const ChunkSink& sink) {
  return ColumnMerge(column, inputs, settings, memory, buffers, sink).Run();
}

}  // namespace firn::splice
