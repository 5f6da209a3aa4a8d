// SPDX-License-Identifier: Apache-2.0
//
// Shows one row group of an input as a Parquet file of its own, so that the fallback decodes just that.
//
// In: an opened input. Out: a source with the input's bytes and another footer.
// Guarantees: offsets stay valid: the bytes before the footer are those of the input.
// Cost: a footer. Threads: as RandomAccessSource.
#pragma once

#include <memory>

#include "splice/input_file.h"

namespace firn::splice {

class SingleGroupSource final : public RandomAccessSource {
 public:
  SingleGroupSource(std::shared_ptr<const InputFile> file, std::size_t row_group);

  const std::string& name() const override { return file_->name(); }
  std::uint64_t size() const override { return file_->data_end() + footer_.size(); }
  Status ReadAt(std::uint64_t offset, std::span<std::uint8_t> out) override;

 private:
  std::shared_ptr<const InputFile> file_;
  Bytes footer_;
};

}  // namespace firn::splice
