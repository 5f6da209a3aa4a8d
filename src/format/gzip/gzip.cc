// SPDX-License-Identifier: Apache-2.0
#include "format/gzip/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace firn::gzip {
namespace {

constexpr std::size_t kStepBytes = 256 << 10;
constexpr int kGzipWindowBits = 15 + 16;  // zlib's way to ask for the gzip wrapper

/// Ends the stream on every way out.
class Inflater {
 public:
  Inflater() { ready_ = inflateInit2(&stream_, kGzipWindowBits) == Z_OK; }
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  bool ready() const { return ready_; }
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

Error Broken(std::uint64_t offset, const char* reason) {
  return {Code::kCorrupt, fmt::format("gzip data is broken at byte {}: {}", offset, reason)};
}

}  // namespace

bool IsGzip(ByteView bytes) { return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b; }

Result<Bytes> Expand(ByteView bytes, std::size_t size_max_bytes) {
  Inflater inflater;
  if (!inflater.ready()) return Error{Code::kInternal, "zlib could not be started"};
  z_stream& stream = inflater.stream();
  Bytes out;
  Bytes step(kStepBytes);
  std::size_t consumed = 0;
  while (true) {  // every turn takes input or gives output, or zlib says Z_BUF_ERROR
    const ByteView rest = bytes.subspan(consumed);
    const std::size_t fed = std::min<std::size_t>(rest.size(), std::numeric_limits<uInt>::max());
    stream.next_in = const_cast<Bytef*>(rest.data());  // zlib only reads
    stream.avail_in = static_cast<uInt>(fed);
    stream.next_out = step.data();
    stream.avail_out = static_cast<uInt>(step.size());
    const int state = inflate(&stream, Z_NO_FLUSH);
    consumed += fed - stream.avail_in;
    const std::size_t made = step.size() - stream.avail_out;
    if (made > size_max_bytes - out.size()) {
      return Error{Code::kLimit, fmt::format("gzip data expands to more than {} bytes", size_max_bytes)};
    }
    out.insert(out.end(), step.begin(), step.begin() + static_cast<std::ptrdiff_t>(made));
    if (state == Z_STREAM_END) {
      // Bytes that start no member are padding, which tools ignore.
      if (!IsGzip(bytes.subspan(consumed))) return out;
      inflateReset(&stream);
    } else if (state == Z_BUF_ERROR) {
      return Broken(consumed, "it ends too early");
    } else if (state != Z_OK) {
      return Broken(consumed, stream.msg != nullptr ? stream.msg : "zlib cannot read it");
    }
  }
}

Bytes Shrink(ByteView bytes) {
  z_stream stream{};
  constexpr int kMemoryLevel = 9;
  FIRN_CHECK(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzipWindowBits, kMemoryLevel, Z_DEFAULT_STRATEGY) ==
             Z_OK);
  Bytes out(deflateBound(&stream, static_cast<uLong>(bytes.size())));
  stream.next_in = const_cast<Bytef*>(bytes.data());  // zlib only reads
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  FIRN_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace firn::gzip
