// SPDX-License-Identifier: Apache-2.0
#include "splice/chunk_move.h"

#include <fmt/format.h>

#include "splice/header_rewrite.h"
#include "splice/value_open.h"

namespace firn::splice {

using parquet::Encoding;

/// The input that is being moved.
struct ChunkMover::Walk {
  std::size_t index = 0;
  const ColumnInput& input;
  SourceFacts& facts;
  PageFetcher fetcher;
  bool may_copy = false;
  // With deleted rows or nulls to be filled:
  RowCursor rows{nullptr};
  const LineageFill* fill = nullptr;
  bool chained = false;    // values go on from those of the page before: none can be left unread
  bool starts_row = true;  // the next page has to
  std::int64_t copied_rows = 0;

  Walk(std::size_t at, const ColumnInput& from, SourceFacts& known)
      : index(at), input(from), facts(known), fetcher(*from.scan.source) {}
};

PageFacts ChunkMover::FactsOf(const ColumnInput& input, SourceFacts& facts, std::size_t page) const {
  PageFacts of_page;
  of_page.values = input.scan.pages[page].num_values;
  of_page.nulls = facts.PageNulls(page);
  of_page.rows = facts.PageRows(page);
  if (!of_page.nulls || *of_page.nulls < of_page.values) {
    of_page.bounds.Merge(facts.PageBounds(page), column_.order);
  }
  return of_page;
}

Status ChunkMover::CopyOne(Walk& walk, std::size_t page, PageFacts facts) {
  const PageRecord& record = walk.input.scan.pages[page];
  walk.copied_rows += facts.rows.value_or(0);
  if (record.type == parquet::PageType::kDataV2 && facts.rows && record.num_rows != *facts.rows) {
    return walk.input.scan.source->file().Corrupt(
        record.offset, fmt::format("{} rows in the header of a page of {}", record.num_rows, *facts.rows));
  }
  if (nesting_ == nullptr && !walk.input.new_headers && writer_.TakesPagesOf(*walk.input.scan.source)) {
    return writer_.CopyPage(record, {}, std::move(facts));
  }
  FIRN_ASSIGN(const ByteView bytes, walk.fetcher.Fetch(record));
  if (nesting_ != nullptr) {
    FIRN_TRY(CheckLevels(walk, page, bytes.subspan(record.header_bytes), facts.rows).In(Place(walk.input, record)));
  }
  if (!walk.input.new_headers) return writer_.CopyPage(record, bytes, std::move(facts));
  const parquet::PageHeader header = NewHeaderOf(record, column_, *walk.input.levels, levels_);
  return writer_.CopyBody(header, levels_.view(), bytes.subspan(record.header_bytes), std::move(facts));
}

/// Of a nested page that is copied.
Status ChunkMover::CheckLevels(const Walk& walk, std::size_t page, ByteView body, std::optional<std::int64_t> rows) {
  const ChunkScan& scan = walk.input.scan;
  FIRN_ASSIGN(const PageSections sections, opener_.OpenLevels(scan.pages[page], body, scan.meta->codec, true, true));
  FIRN_ASSIGN(const std::int64_t found, CountRows(column_, sections, scan.pages[page].num_values, *nesting_));
  if (rows == found) return Ok();
  return Error{Code::kCorrupt, std::to_string(found) + " rows in a page of " + std::to_string(rows.value_or(0))};
}

Status ChunkMover::Copy(const ColumnInput& input, SourceFacts& facts) {
  FIRN_TRY(join_.Flush());
  Walk walk(0, input, facts);
  for (std::size_t p = 0; p < input.scan.pages.size(); ++p) {
    PageFacts of_page = FactsOf(input, facts, p);
    FIRN_TRY(CopyOne(walk, p, std::move(of_page)));
  }
  return CheckRows(input, walk.copied_rows, input.rows);
}

Status ChunkMover::CheckRows(const ColumnInput& input, std::int64_t rows, std::int64_t wanted) const {
  if (rows == wanted) return Ok();
  return input.scan.source->file().Corrupt(
      input.scan.pages.empty() ? input.scan.source->ChunkRange(input.scan.leaf).offset : input.scan.pages[0].offset,
      "a column of " + std::to_string(rows) + " rows in a row group of " + std::to_string(wanted));
}

Result<MovedChunk> ChunkMover::Join(std::size_t index, const ColumnInput& input, SourceFacts& facts,
                                    std::optional<Encoding> copied_encoding) {
  FIRN_TRY(LoadEntries(input));
  Walk walk(index, input, facts);
  MovedChunk out;
  const std::int64_t rows = join_.appended_rows(), non_nulls = join_.appended_non_nulls();
  for (std::size_t p = 0; p < input.scan.pages.size(); ++p) {
    const bool copy = copied_encoding && PaysToCopy(walk, p, *copied_encoding);
    FIRN_TRY(copy ? CopyKept(walk, p, out) : JoinOne(walk, p, walk.starts_row, nullptr));
    walk.starts_row = copy;
  }
  FIRN_TRY(CheckRows(input, join_.appended_rows() - rows + walk.copied_rows, input.rows));
  if (out.non_nulls) *out.non_nulls += join_.appended_non_nulls() - non_nulls;
  return out;
}

/// Whether a page of a chunk that is joined goes between the pages that are made here.
bool ChunkMover::PaysToCopy(const Walk& walk, std::size_t page, Encoding encoding) const {
  const PageRecord& record = walk.input.scan.pages[page];
  if (record.uncompressed_size < CopyBytesMin(settings_.effort) || record.num_values > settings_.page_rows_max) {
    return false;
  }
  if (choice_.Folded(walk.index, page) != nullptr) return false;
  const bool keeps = IsDictionaryEncoded(record) ? choice_.KeepsIndices(walk.index) : record.encoding == encoding;
  if (!keeps || record.encoding == Encoding::kDeltaByteArray) return false;  // its values may go on from another page
  // What is waiting becomes a page of its own: better one that is large.
  const std::size_t waiting = join_.pending_bytes();
  if (waiting > 0 && waiting < static_cast<std::size_t>(CopyBytesMin(Effort::kBalanced))) return false;
  return !column_.nested() || (nesting_ != nullptr && walk.facts.PageRows(page).has_value());
}

Result<MovedChunk> ChunkMover::Filter(std::size_t index, const ColumnInput& input, SourceFacts& facts, bool may_copy) {
  FIRN_TRY(LoadEntries(input));
  Walk walk(index, input, facts);
  walk.may_copy = may_copy;
  walk.rows = RowCursor(input.filter);
  if (input.fill && facts.chunk_nulls() != 0) walk.fill = &*input.fill;
  walk.chained = input.scan.source->file().quirks().delta_byte_array_broken;
  MovedChunk out;
  const std::int64_t rows = join_.appended_rows(), values = join_.appended_values(),
                     non_nulls = join_.appended_non_nulls();
  for (std::size_t p = 0; p < input.scan.pages.size(); ++p) FIRN_TRY(FilterOne(walk, p, out));
  FIRN_TRY(CheckRows(input, walk.rows.next_row(), input.scan.source->meta().num_rows));
  FIRN_TRY(CheckRows(input, join_.appended_rows() - rows + walk.copied_rows, input.rows));
  out.values += join_.appended_values() - values;
  if (out.non_nulls) *out.non_nulls += join_.appended_non_nulls() - non_nulls;
  return out;
}

/// One page of a chunk with deleted rows or nulls to be filled.
Status ChunkMover::FilterOne(Walk& walk, std::size_t page, MovedChunk& out) {
  const PageRecord& record = walk.input.scan.pages[page];
  std::optional<std::int64_t> known = walk.facts.PageRows(page);
  if (known && *known < 1) known.reset();
  const std::int64_t first = walk.rows.next_row(), appended = join_.appended_rows();
  const bool starts_row = std::exchange(walk.starts_row, known.has_value());
  const std::int64_t deleted = known ? walk.rows.CountDeleted(*known) : -1;
  if (known && deleted == *known && !walk.chained) {
    walk.rows.Pass(*known);
    return Ok();
  }
  if (deleted != 0 || walk.fill != nullptr) {
    FIRN_TRY(JoinOne(walk, page, starts_row, &walk.rows));
    if (!known || walk.rows.next_row() - first == *known) return Ok();
  } else {
    walk.rows.Pass(*known);
    if (walk.may_copy) return CopyKept(walk, page, out);
    FIRN_TRY(JoinOne(walk, page, starts_row, nullptr));
    if (join_.appended_rows() - appended == *known) return Ok();
  }
  return walk.input.scan.source->file().Corrupt(record.offset,
                                                "a page with another number of rows than it should have");
}

/// A page without deleted rows, as it is stored.
Status ChunkMover::CopyKept(Walk& walk, std::size_t page, MovedChunk& out) {
  const ChunkScan& scan = walk.input.scan;
  const PageRecord& record = scan.pages[page];
  PageFacts of_page = FactsOf(walk.input, walk.facts, page);
  out.values += of_page.values;
  if (out.non_nulls && of_page.nulls) {
    *out.non_nulls += of_page.values - *of_page.nulls;
  } else {
    out.non_nulls.reset();
  }
  if (of_page.bounds.any()) {
    BoundsView bounds = walk.facts.PageBounds(page);
    // Those of the chunk may have been those of a row that went.
    const bool of_chunk = scan.pages.size() > 1 && bounds.min.data() == walk.facts.chunk_bounds().min.data();
    if (of_chunk) bounds.min_exact = bounds.max_exact = false;
    out.copied_bounds.Merge(bounds, column_.order);
  }
  out.copied_bytes += std::int64_t{record.header_bytes} + record.compressed_size;
  out.copied_indices = out.copied_indices || IsDictionaryEncoded(record);
  FIRN_TRY(join_.Flush());
  return CopyOne(walk, page, std::move(of_page));
}

Status ChunkMover::JoinOne(Walk& walk, std::size_t page, bool starts_row, RowCursor* rows) {
  const PageRecord& record = walk.input.scan.pages[page];
  FIRN_ASSIGN(const ByteView body, walk.fetcher.FetchBody(record));
  JoinPage joined;
  joined.starts_chunk = starts_row;
  joined.rows = rows;
  joined.fill = rows != nullptr ? walk.fill : nullptr;
  joined.fill_index = choice_.value_of[walk.index];
  Status done = OpenPage(walk, page, body, joined);
  if (done) done = join_.Append(joined);
  if (done) return Ok();
  const bool input_is_at_fault = done.error().code == Code::kCorrupt || done.error().code == Code::kUnsupported ||
                                 done.error().code == Code::kLimit;
  return input_is_at_fault ? std::move(done).In(Place(walk.input, record)) : std::move(done);
}

Status ChunkMover::OpenPage(Walk& walk, std::size_t page, ByteView body, JoinPage& joined) {
  const ColumnInput& input = walk.input;
  const PageRecord& record = input.scan.pages[page];
  FIRN_ASSIGN(joined.sections, opener_.Open(record, body, input.scan.meta->codec, column_.max_repetition > 0,
                                            input.levels->input_max_definition > 0));
  joined.num_values = record.num_values;
  joined.levels = input.levels;
  if (record.type == parquet::PageType::kDataV2) {
    joined.header_rows = record.num_rows;
    // Below lists, writers do not agree on what a null is.
    if (column_.max_repetition == 0) joined.header_nulls = record.num_nulls;
  }
  joined.bounds = walk.facts.PageBounds(page);
  return OpenFeed(walk, page, joined);
}

/// The entries of the input's dictionary, to expand indices with.
Status ChunkMover::LoadEntries(const ColumnInput& input) {
  if (choice_.kind != DictionaryChoice::Kind::kRefused || !input.scan.has_dictionary_pages) return Ok();
  const PageRecord& page = *input.scan.dictionary;
  PageFetcher fetcher = PageFetcher::ForOne(*input.scan.source);
  FIRN_ASSIGN(const ByteView body, fetcher.FetchBody(page));
  FIRN_ASSIGN(const ByteView plain, opener_.OpenDictionary(page, body, input.scan.meta->codec).In(Place(input, page)));
  buffers_.dictionary.Clear();
  buffers_.dictionary.Append(plain);
  return buffers_.entries.Build(buffers_.dictionary.view(), static_cast<std::size_t>(page.num_values), column_.width)
      .In(Place(input, page));
}

Status ChunkMover::OpenFeed(const Walk& walk, std::size_t page, JoinPage& joined) {
  const ChunkScan& scan = walk.input.scan;
  const ByteView values = joined.sections.values;
  joined.expected_bytes = values.size();
  if (const std::vector<std::uint32_t>* indices = choice_.Folded(walk.index, page)) {
    joined.feed = &buffers_.listed;
    joined.mode = ValueMode::kIndices;
    joined.expected_bytes = indices->size() * sizeof(std::uint16_t);
    buffers_.listed.Open(*indices);
    return Ok();
  }
  if (!IsDictionaryEncoded(scan.pages[page])) {
    FIRN_ASSIGN(const OpenedValues opened,
                OpenValues(column_, scan, page, values, static_cast<std::size_t>(settings_.page_bytes_max), buffers_));
    joined.feed = opened.feed;
    joined.mode = opened.mode;
    return Ok();
  }
  joined.feed = &buffers_.indices;
  if (choice_.kind == DictionaryChoice::Kind::kRefused) {
    joined.mode = ValueMode::kPlain;
    joined.expected_bytes = 0;
    return buffers_.indices.OpenExpand(values, buffers_.entries);
  }
  joined.mode = ValueMode::kIndices;
  if (choice_.KeepsIndices(walk.index)) {
    return buffers_.indices.OpenRemap(values, nullptr, static_cast<std::size_t>(scan.dictionary->num_values));
  }
  const auto& mapping = choice_.mappings[static_cast<std::size_t>(choice_.mapping_of[walk.index])].entries;
  return buffers_.indices.OpenRemap(values, mapping.data(), mapping.size());
}

std::string ChunkMover::Place(const ColumnInput& input, const PageRecord& page) {
  return input.scan.source->file().name() + ": offset " + std::to_string(page.offset);
}

}  // namespace firn::splice
