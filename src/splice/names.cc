// SPDX-License-Identifier: Apache-2.0
#include "splice/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/ascii.h"

namespace firn::splice {
namespace {

using parquet::Codec;

}  // namespace

Result<Effort> ParseEffort(std::string_view text) {
  const std::string word = AsciiLower(text);
  if (word == "fast") return Effort::kFast;
  if (word == "balanced") return Effort::kBalanced;
  if (word == "dense") return Effort::kDense;
  return Error{Code::kInvalidArgument, fmt::format("effort `{}`: it is fast, balanced or dense", text)};
}

Result<Codec> ParseCodec(std::string_view text) {
  static constexpr std::pair<std::string_view, Codec> kCodecs[] = {
      {"zstd", Codec::kZstd},         {"snappy", Codec::kSnappy},
      {"gzip", Codec::kGzip},         {"uncompressed", Codec::kUncompressed},
      {"none", Codec::kUncompressed}, {"brotli", Codec::kBrotli},
      {"lz4", Codec::kLz4Raw},        {"lz4_raw", Codec::kLz4Raw}};
  const auto found = std::ranges::find(kCodecs, AsciiLower(text), &std::pair<std::string_view, Codec>::first);
  if (found != std::end(kCodecs)) return found->second;
  return Error{Code::kUnsupported, fmt::format("codec `{}` cannot be written", text)};
}

}  // namespace firn::splice
