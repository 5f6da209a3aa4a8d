// SPDX-License-Identifier: Apache-2.0
#include "splice/input_file.h"

#include <algorithm>
#include <limits>

#include "format/parquet/footer.h"
#include "splice/bounds.h"
#include "splice/splice.h"

namespace firn::splice {

namespace {

constexpr std::uint64_t kTailBytes = 8;  // length of the footer, magic

bool SizeStatisticsFit(const parquet::SizeStatistics& sizes, const parquet::Leaf& leaf, parquet::PhysicalType type) {
  const auto fits = [](const std::vector<std::int64_t>& histogram, std::int16_t max_level) {
    return histogram.empty() || histogram.size() == static_cast<std::size_t>(max_level) + 1;
  };
  return fits(sizes.repetition_level_histogram, leaf.max_repetition_level) &&
         fits(sizes.definition_level_histogram, leaf.max_definition_level) &&
         (!sizes.unencoded_byte_array_data_bytes || type == parquet::PhysicalType::kByteArray);
}

}  // namespace

Result<std::shared_ptr<InputFile>> InputFile::Open(RandomAccessSource& source, std::shared_ptr<void> keep_alive,
                                                   std::uint64_t footer_bytes_max, RangeCopies* copies) {
  std::shared_ptr<InputFile> file(new InputFile());
  if (copies != nullptr && source.size() >= kRangeFileBytesMin)
    file->mark_ = copies->Mark(source.name(), source.size());
  file->name_ = source.name();
  file->source_ = &source;
  file->keep_alive_ = std::move(keep_alive);
  file->size_bytes_ = source.size();
  if (source.size() <= kWholeFileBytes && source.size() > 0) {
    file->whole_.Resize(static_cast<std::size_t>(source.size()));
    FIRN_TRY(source.ReadAt(0, file->whole_.span()));
  }
  FIRN_TRY(file->ReadFooter(footer_bytes_max));
  return file;
}

Result<std::shared_ptr<InputFile>> InputFile::FromBytes(std::string name, ByteView bytes) {
  std::shared_ptr<InputFile> file(new InputFile());
  file->name_ = std::move(name);
  file->size_bytes_ = bytes.size();
  file->whole_.Append(bytes);
  FIRN_TRY(file->ReadFooter(parquet::kFooterBytesMax));
  return file;
}

/// Nothing is read behind the pages and their indexes any more: the footer's bytes are let go.
Status InputFile::ParseWhole(std::uint64_t footer_bytes_max) {
  const ByteView bytes = whole_.view();
  constexpr std::string_view kMagic = "PAR1";
  if (bytes.size() < kTailBytes + kMagic.size() || AsText(bytes.last(4)) != kMagic) {
    if (bytes.size() >= 4 && AsText(bytes.last(4)) == "PARE") {
      return Error{Code::kUnsupported, name_ + ": the footer is encrypted"};
    }
    return Corrupt(bytes.size() - std::min<std::size_t>(4, bytes.size()), "not a Parquet file: no PAR1 at the end");
  }
  const std::uint64_t size = LoadLittle<std::uint32_t>(bytes.data() + bytes.size() - kTailBytes);
  if (size > bytes.size() - kTailBytes - kMagic.size()) {
    return Corrupt(bytes.size() - kTailBytes, "the footer is longer than the file");
  }
  if (size > footer_bytes_max) {
    return Error{Code::kLimit,
                 name_ + ": its footer of " + std::to_string(size) + " bytes is more than the memory limit allows"};
  }
  data_end_ = bytes.size() - kTailBytes - size;
  FIRN_ASSIGN(footer_,
              parquet::ParseFooter(bytes.subspan(static_cast<std::size_t>(data_end_), static_cast<std::size_t>(size)),
                                   bytes.size())
                  .In(name_));
  whole_.ShrinkTo(static_cast<std::size_t>(data_end_));
  return Ok();
}

Status InputFile::ReadFooter(std::uint64_t footer_bytes_max) {
  if (whole()) {
    FIRN_TRY(ParseWhole(footer_bytes_max));
  } else {
    constexpr std::uint64_t kFirstReadBytes = 64 << 10;
    FIRN_ASSIGN(footer_, parquet::ReadFooter(*source_, kFirstReadBytes, footer_bytes_max));
    data_end_ = size_bytes_ - kTailBytes;  // not exact, but no chunk reaches beyond: ParseFooter has checked
  }
  if (footer_.encrypted) return Error{Code::kUnsupported, name_ + ": the file is encrypted"};
  leaves_ = parquet::LeavesOf(footer_.schema);
  quirks_ = parquet::QuirksOf(footer_.created_by);
  for (const parquet::RowGroup& group : footer_.row_groups) {
    if (group.columns.size() != leaves_.size()) return Corrupt(data_end_, "a row group lacks columns");
    for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
      const parquet::ColumnChunk& chunk = group.columns[leaf];
      if (chunk.encrypted) return Error{Code::kUnsupported, name_ + ": a column is encrypted"};
      if (chunk.file_path && !chunk.file_path->empty()) {
        return Error{Code::kUnsupported, name_ + ": a column lies in another file"};
      }
      if (!chunk.meta) return Corrupt(data_end_, "a column chunk has no metadata");
      // Not needed here, but readers refuse a file where these do not fit.
      if (chunk.meta->size_statistics &&
          !SizeStatisticsFit(*chunk.meta->size_statistics, leaves_[leaf], chunk.meta->type)) {
        return Corrupt(data_end_, "size statistics of a column chunk do not fit its column");
      }
      if (chunk.meta->statistics && !BoundsAreValues(*chunk.meta->statistics, ElementOf(leaf))) {
        return Corrupt(data_end_, "bounds of a column chunk are no values of its type");
      }
    }
  }
  memory_bytes_ = parquet::MemoryBytesOf(footer_) + static_cast<std::int64_t>(whole_.capacity());
  for (const parquet::Leaf& leaf : leaves_) {
    memory_bytes_ += static_cast<std::int64_t>(sizeof leaf + leaf.path.size() * (2 * sizeof(std::string)));
  }
  return Ok();
}

parquet::ColumnOrder InputFile::OrderOf(std::size_t leaf) const {
  return leaf < footer_.column_orders.size() ? footer_.column_orders[leaf] : parquet::ColumnOrder::kUndefined;
}

Result<ByteView> InputFile::View(std::uint64_t offset, std::uint64_t size, RawBuffer& scratch) const {
  const std::uint64_t end = whole() ? whole_.size() : size_bytes_;
  if (offset > end || size > end - offset) return Corrupt(offset, "bytes beyond the end of the file");
  const auto count = static_cast<std::size_t>(size);
  if (whole()) return whole_.view().subspan(static_cast<std::size_t>(offset), count);
  scratch.Resize(count);
  if (count > 0) FIRN_TRY(source_->ReadAt(offset, scratch.span()));
  return scratch.view();
}

Status InputFile::Read(std::uint64_t offset, std::span<std::uint8_t> out) const {
  if (!whole()) return source_->ReadAt(offset, out);
  if (offset > whole_.size() || out.size() > whole_.size() - offset)
    return Corrupt(offset, "bytes beyond the end of the file");
  std::copy_n(whole_.data() + offset, out.size(), out.begin());
  return Ok();
}

Error InputFile::Corrupt(std::uint64_t offset, std::string_view what) const {
  return Error{Code::kCorrupt, name_ + ": offset " + std::to_string(offset) + ": " + std::string(what)};
}

parquet::ByteRange SourceGroup::ChunkRange(std::size_t leaf) const {
  parquet::ByteRange range = parquet::ChunkRange(chunk(leaf), file_->quirks(), file_->data_end());
  // ParseFooter has checked the offsets; what is wrong in spite of that must not reach beyond the pages.
  range.offset = std::min(range.offset, file_->data_end());
  range.size = std::min(range.size, file_->data_end() - range.offset);
  return range;
}

parquet::ByteRange SourceGroup::SpanOf(const std::vector<std::int32_t>& leaves) const {
  std::uint64_t begin = std::numeric_limits<std::uint64_t>::max(), end = 0;
  for (const std::int32_t leaf : leaves) {
    const parquet::ByteRange range = ChunkRange(static_cast<std::size_t>(leaf));
    begin = std::min(begin, range.offset);
    end = std::max(end, range.offset + range.size);
  }
  return end < begin ? parquet::ByteRange() : parquet::ByteRange{begin, end - begin};
}

Status SourceGroup::Hold(const std::vector<std::int32_t>& leaves) {
  if (file_->whole() || leaves.empty()) return Ok();
  const parquet::ByteRange span = SpanOf(leaves);
  held_.offset = span.offset;
  FIRN_TRY(file_->View(span.offset, span.size, held_.bytes));
  return Ok();
}

void SourceGroup::HoldIndexes(const std::vector<std::int32_t>& leaves) {
  constexpr std::uint64_t kSpanBytesMax = 1 << 20;
  const auto hold = [&](auto place_of, Held& held) {
    std::uint64_t begin = std::numeric_limits<std::uint64_t>::max(), end = 0;
    for (const std::int32_t leaf : leaves) {
      const auto [offset, length] = place_of(meta().columns[static_cast<std::size_t>(leaf)]);
      if (!offset || !length || *offset < 0 || *length <= 0) continue;
      begin = std::min(begin, static_cast<std::uint64_t>(*offset));
      end = std::max(end, static_cast<std::uint64_t>(*offset) + static_cast<std::uint64_t>(*length));
    }
    if (end <= begin || end - begin > kSpanBytesMax) return;
    held.offset = begin;
    if (!file_->View(begin, end - begin, held.bytes)) held.bytes.Clear();  // it is tried again for each
  };
  using Place = std::pair<std::optional<std::int64_t>, std::optional<std::int32_t>>;
  hold([](const auto& chunk) { return Place(chunk.column_index_offset, chunk.column_index_length); }, column_indexes_);
  hold([](const auto& chunk) { return Place(chunk.offset_index_offset, chunk.offset_index_length); }, offset_indexes_);
}

Result<ByteView> SourceGroup::View(std::uint64_t offset, std::uint64_t size, RawBuffer& scratch) const {
  for (const Held* held : {&held_, &column_indexes_, &offset_indexes_}) {
    if (!file_->whole() && !held->bytes.empty() && held->Has(offset, size)) return held->View(offset, size);
  }
  return file_->View(offset, size, scratch);
}

}  // namespace firn::splice
