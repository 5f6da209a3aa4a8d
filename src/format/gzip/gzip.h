// SPDX-License-Identifier: Apache-2.0
//
// Expands gzip bytes whose expanded size is not known, and makes such bytes.
//
// In: one or more gzip members, or any bytes. Out: the bytes of all of them; one member.
// Guarantees: memory grows with what was really expanded and never above the limit, whatever the header says.
// Errors: kCorrupt for broken or truncated data; kLimit above `size_max_bytes`.
// Threads: pure. Source: RFC 1952; zlib.
#pragma once

#include <cstddef>

#include "base/bytes.h"
#include "base/result.h"

namespace firn::gzip {

/// True if the bytes start like a gzip file.
bool IsGzip(ByteView bytes);
Result<Bytes> Expand(ByteView bytes, std::size_t size_max_bytes);
/// One member, as small as zlib makes it, without a time: equal bytes give equal members.
Bytes Shrink(ByteView bytes);

}  // namespace firn::gzip
