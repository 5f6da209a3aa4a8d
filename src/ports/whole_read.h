// SPDX-License-Identifier: Apache-2.0
//
// Reads a range with a client that says that it read everything when the store's answer was shorter.
//
// In: a function that reads a range and tells how much it believes to have read, and one that looks whether the object
//   has so many bytes. Out: the bytes.
// Guarantees: Ok means that the last bytes of the range, and so all before them, came from the store. An answer that
//   is too short is asked for again, three times in all.
// Cost: one read; of one in 256 the last 16 bytes are read twice, as they may be those that were there before.
// Threads: any. Errors: those of `read`; those of `check_size` when the answer was short; kUnavailable if it stays so.
// Source: Arrow's S3 client takes the count from the buffer that it was given, not from the answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/result.h"

namespace firn::ports {

using RangeRead = std::function<Result<std::size_t>(std::uint64_t offset, std::span<std::uint8_t> out)>;

/// `check_size`: kCorrupt, kNotFound if the object does not reach to the end of the range.
Status ReadWhole(const std::string& name, const RangeRead& read, const std::function<Status()>& check_size,
                 std::uint64_t offset, std::span<std::uint8_t> out);

}  // namespace firn::ports
