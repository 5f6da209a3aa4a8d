// SPDX-License-Identifier: Apache-2.0
//
// Writes sizes, counts and durations for people: "110 KiB", "1,998", "2 min 5 s".
//
// Guarantees: no locale; three significant digits for sizes, units are powers of 1024.
// Threads: any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace firn {

/// "0 B", "110 KiB", "1.42 GiB".
std::string HumanBytes(std::int64_t bytes);
/// "1,234,567".
std::string HumanCount(std::int64_t count);
/// "1 file", "1,998 files".
std::string HumanCount(std::int64_t count, std::string_view noun);
/// "85 ms", "3.2 s", "2 min 5 s", "1 h 3 min".
std::string HumanSeconds(double seconds);
/// "128MB", "1.5 GiB", "4096": letters without regard to case, powers of 1024 with and without the "i".
/// nullopt for anything else, negative numbers and numbers above 2^62.
std::optional<std::int64_t> ParseHumanBytes(std::string_view text);

}  // namespace firn
