// SPDX-License-Identifier: Apache-2.0
#include "splice/row_filter.h"

#include <algorithm>
#include <bit>
#include <string>

namespace firn::splice {

DeletedRowList::DeletedRowList(std::vector<std::int64_t> positions) : positions_(std::move(positions)) {
  std::ranges::sort(positions_);
  positions_.erase(std::ranges::unique(positions_).begin(), positions_.end());
}

std::int64_t DeletedRowList::CountDeleted(std::int64_t begin, std::int64_t end) const {
  if (begin >= end) return 0;
  return std::ranges::lower_bound(positions_, end) - std::ranges::lower_bound(positions_, begin);
}

void DeletedRowList::VisitDeleted(std::int64_t begin, std::int64_t end, const RowRangeVisitor& visit) const {
  if (begin >= end) return;
  auto at = std::ranges::lower_bound(positions_, begin);
  const auto stop = std::ranges::lower_bound(positions_, end);
  while (at != stop) {
    const std::int64_t first = *at;
    std::int64_t next = first;
    for (; at != stop && *at == next; ++at) ++next;
    visit(first, next);
  }
}

Result<std::shared_ptr<const RowFilter>> RowFilter::Make(const DeletedRows& deleted, std::int64_t first_row,
                                                         std::int64_t rows, std::int64_t bytes_max) {
  const std::int64_t count = rows > 0 ? deleted.CountDeleted(first_row, first_row + rows) : 0;
  if (count == 0) return std::shared_ptr<const RowFilter>();
  if (rows / 8 > bytes_max) {
    return Error{Code::kLimit, "a row group of " + std::to_string(rows) +
                                   " rows with deleted ones is more than the memory limit allows"};
  }
  std::shared_ptr<RowFilter> filter(new RowFilter());
  filter->rows_ = rows;
  filter->words_.resize(static_cast<std::size_t>((rows + 63) / 64));
  bool ordered = true;
  std::int64_t last = first_row;
  deleted.VisitDeleted(first_row, first_row + rows, [&](std::int64_t begin, std::int64_t end) {
    ordered = ordered && begin >= last && end > begin && end <= first_row + rows;
    if (!ordered) return;
    last = end;
    filter->Delete(begin - first_row, end - first_row);
  });
  if (!ordered || filter->deleted_ != count) {
    return Error{Code::kInternal, "a set of deleted rows that contradicts itself"};
  }
  return std::shared_ptr<const RowFilter>(std::move(filter));
}

void RowFilter::Delete(std::int64_t begin, std::int64_t end) {
  deleted_ += end - begin;
  for (std::int64_t at = begin; at < end;) {
    const auto shift = static_cast<unsigned>(at % 64);
    const std::int64_t count = std::min<std::int64_t>(end - at, 64 - shift);
    const std::uint64_t bits = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    words_[static_cast<std::size_t>(at / 64)] |= bits << shift;
    at += count;
  }
}

std::int64_t RowFilter::CountDeleted(std::int64_t begin, std::int64_t end) const {
  end = std::min(end, rows_);
  std::int64_t count = 0;
  for (std::int64_t at = begin; at < end;) {
    const auto shift = static_cast<unsigned>(at % 64);
    const std::int64_t size = std::min<std::int64_t>(end - at, 64 - shift);
    const std::uint64_t bits = size == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1;
    count += std::popcount(words_[static_cast<std::size_t>(at / 64)] >> shift & bits);
    at += size;
  }
  return count;
}

std::int64_t RowFilter::RunEnd(std::int64_t row, std::int64_t end) const {
  if (row >= rows_) return end;
  const std::uint64_t flip = IsDeleted(row) ? ~std::uint64_t{0} : 0;
  auto word = static_cast<std::size_t>(row / 64);
  // Set bits are rows that differ from `row`; those before it do not count.
  std::uint64_t differ = (words_[word] ^ flip) >> (row % 64) << (row % 64);
  while (differ == 0 && ++word < words_.size() && static_cast<std::int64_t>(word * 64) < end) {
    differ = words_[word] ^ flip;
  }
  if (differ != 0) return std::min(end, static_cast<std::int64_t>(word * 64) + std::countr_zero(differ));
  return flip != 0 ? std::min(end, rows_) : end;
}

std::int64_t RowCursor::CountDeleted(std::int64_t rows) const {
  return filter_ == nullptr ? 0 : filter_->CountDeleted(next_row_, next_row_ + rows);
}

RowCursor::Run RowCursor::PassRun(std::int64_t rows_max) {
  Run run;
  run.kept = next_stays();
  run.rows = filter_ == nullptr ? rows_max : filter_->RunEnd(next_row_, next_row_ + rows_max) - next_row_;
  next_row_ += run.rows;
  return run;
}

}  // namespace firn::splice
