// SPDX-License-Identifier: Apache-2.0
#include "splice/single_group_source.h"

#include <algorithm>

#include "format/parquet/footer.h"

namespace firn::splice {

SingleGroupSource::SingleGroupSource(std::shared_ptr<const InputFile> file, std::size_t row_group)
    : file_(std::move(file)) {
  parquet::FileMetaData footer = file_->footer();
  parquet::RowGroup group = std::move(footer.row_groups[row_group]);
  group.ordinal.reset();
  footer.num_rows = group.num_rows;
  footer.row_groups.clear();
  footer.row_groups.push_back(std::move(group));
  footer_ = parquet::WriteFooter(footer);
}

Status SingleGroupSource::ReadAt(std::uint64_t offset, std::span<std::uint8_t> out) {
  if (offset > size() || out.size() > size() - offset) return file_->Corrupt(offset, "read past the end");
  if (offset < file_->data_end()) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), file_->data_end() - offset));
    FIRN_TRY(file_->Read(offset, out.first(count)));
    offset += count;
    out = out.subspan(count);
  }
  std::copy_n(footer_.begin() + static_cast<std::ptrdiff_t>(offset - file_->data_end()), out.size(), out.begin());
  return Ok();
}

}  // namespace firn::splice
