// SPDX-License-Identifier: Apache-2.0
// Whatever is read as a reply must be written as bytes that read as an equal tree, however the bytes are cut.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "format/thrift/binary_protocol.h"

namespace {

class Pieces final : public firn::SequentialSource {
 public:
  Pieces(firn::ByteView bytes, std::size_t step) : bytes_(bytes), step_(step) {}
  const std::string& name() const override { return name_; }
  firn::Result<std::size_t> Read(std::span<std::uint8_t> out) override {
    const std::size_t count = std::min({out.size(), step_, bytes_.size()});
    std::copy_n(bytes_.begin(), count, out.begin());
    bytes_ = bytes_.subspan(count);
    return count;
  }

 private:
  std::string name_ = "fuzz";
  firn::ByteView bytes_;
  std::size_t step_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const firn::thrift::Limits limits{.bytes_max = 1 << 20, .depth_max = 32, .values_max = 10'000};
  Pieces whole({data, size}, size);
  const auto reply = firn::thrift::DecodeReply(whole, limits);
  Pieces cut({data, size}, 1);
  const auto same = firn::thrift::DecodeReply(cut, limits);
  FIRN_CHECK(reply.has_value() == same.has_value());
  if (!reply) return 0;
  FIRN_CHECK(reply->result == same->result);
  firn::Bytes bytes = firn::thrift::EncodeCall(reply->method, reply->sequence, reply->result);
  bytes[3] = 2;
  Pieces written(bytes, 7);
  const auto again = firn::thrift::DecodeReply(written, limits);
  FIRN_CHECK(again.has_value() && again->result == reply->result && again->method == reply->method);
  return 0;
}
