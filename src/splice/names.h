// SPDX-License-Identifier: Apache-2.0
//
// The words by which users and table properties name efforts and codecs.
//
// Guarantees: case does not matter. Codecs are those that firn writes, by the names of write.parquet.compression-codec
//   and of Parquet.
// Errors: kInvalidArgument for a word that names no effort, kUnsupported for a codec that cannot be written; callers
//   say where it stood.
// Threads: pure.
#pragma once

#include <string_view>

#include "base/result.h"
#include "format/parquet/metadata.h"
#include "splice/splice.h"

namespace firn::splice {

Result<Effort> ParseEffort(std::string_view text);
Result<parquet::Codec> ParseCodec(std::string_view text);

}  // namespace firn::splice
