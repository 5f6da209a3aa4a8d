// SPDX-License-Identifier: Apache-2.0
#include "splice/fallback_pages.h"

#include <arrow/buffer.h>
#include <parquet/column_page.h>
#include <parquet/column_reader.h>
#include <parquet/exception.h>
#include <parquet/schema.h>

#include <cstring>
#include <utility>

#include "splice/bit_pack.h"
#include "splice/bit_packed_levels.h"

namespace firn::splice {

namespace {

namespace pq = ::parquet;

/// Takes one kind of levels off `body` and gives them with their length.
Bytes TakeLevels(ByteView& body, pq::Encoding::type encoding, std::int16_t max_level, std::int32_t values) {
  if (max_level == 0) return {};
  if (encoding == pq::Encoding::BIT_PACKED) {
    const auto width = BitWidth(static_cast<std::uint64_t>(max_level));
    Result<Bytes> runs = LevelsAsRuns(body, static_cast<std::size_t>(values), width);
    if (!runs) throw pq::ParquetException(runs.error().message);
    return std::move(*runs);
  }
  if (body.size() < sizeof(std::uint32_t)) throw pq::ParquetException("levels without a length");
  const std::size_t size = std::size_t{LoadLittle<std::uint32_t>(body.data())} + sizeof(std::uint32_t);
  if (size > body.size()) throw pq::ParquetException("levels are longer than their page");
  Bytes levels(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(size));
  body = body.subspan(size);
  return levels;
}

class RunLevelPages final : public pq::PageReader {
 public:
  RunLevelPages(std::unique_ptr<pq::PageReader> pages, const pq::ColumnDescriptor& column, ::arrow::MemoryPool* pool)
      : pages_(std::move(pages)),
        pool_(pool),
        max_repetition_(column.max_repetition_level()),
        max_definition_(column.max_definition_level()) {}

  std::shared_ptr<pq::Page> NextPage() override {
    std::shared_ptr<pq::Page> page = pages_->NextPage();
    if (page == nullptr || page->type() != pq::PageType::DATA_PAGE) return page;
    const auto& data = static_cast<const pq::DataPageV1&>(*page);
    const auto old = [](pq::Encoding::type encoding, std::int16_t max) {
      return max > 0 && encoding == pq::Encoding::BIT_PACKED;
    };
    if (!old(data.repetition_level_encoding(), max_repetition_) &&
        !old(data.definition_level_encoding(), max_definition_)) {
      return page;
    }
    return Changed(data);
  }
  void set_max_page_header_size(std::uint32_t size) override { pages_->set_max_page_header_size(size); }

 private:
  std::shared_ptr<pq::Page> Changed(const pq::DataPageV1& page) const {
    if (page.num_values() < 0) throw pq::ParquetException("a negative number of values");
    ByteView body(page.data(), static_cast<std::size_t>(page.size()));
    Bytes levels = TakeLevels(body, page.repetition_level_encoding(), max_repetition_, page.num_values());
    const Bytes more = TakeLevels(body, page.definition_level_encoding(), max_definition_, page.num_values());
    levels.insert(levels.end(), more.begin(), more.end());
    const auto size = static_cast<std::int64_t>(levels.size() + body.size());
    PARQUET_ASSIGN_OR_THROW(std::shared_ptr<::arrow::Buffer> changed, ::arrow::AllocateBuffer(size, pool_));
    std::memcpy(changed->mutable_data(), levels.data(), levels.size());
    if (!body.empty()) std::memcpy(changed->mutable_data() + levels.size(), body.data(), body.size());
    return std::make_shared<pq::DataPageV1>(changed, page.num_values(), page.encoding(), pq::Encoding::RLE,
                                            pq::Encoding::RLE, size, page.statistics());
  }

  std::unique_ptr<pq::PageReader> pages_;
  ::arrow::MemoryPool* pool_;
  std::int16_t max_repetition_, max_definition_;
};

}  // namespace

std::unique_ptr<pq::PageReader> WithRunLevels(std::unique_ptr<pq::PageReader> pages, const pq::ColumnDescriptor& column,
                                              ::arrow::MemoryPool* pool) {
  return std::make_unique<RunLevelPages>(std::move(pages), column, pool);
}

}  // namespace firn::splice
