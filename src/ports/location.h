// SPDX-License-Identifier: Apache-2.0
//
// Takes locations apart without ever changing them.
//
// In: locations as metadata records them. Out: parts of the same text.
// Guarantees: nothing is decoded, encoded or normalised: "%20" and "//" stay what they are.
// Threads: pure.
// Source: RFC 3986; Java and PyIceberg do not agree on s3, s3a and s3n, nor on encoded characters.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace firn::ports {

/// "s3a" of "s3a://b/k", "file" of "file:/a" and "file:///a", as it is written; empty for a plain path.
std::string_view SchemeOf(std::string_view location);
/// Path in the local file system of "/a", "a/b", "file:/a", "file:///a", "file://localhost/a"; nullopt otherwise.
std::optional<std::string> LocalPathOf(std::string_view location);
/// Files to open at the same time: where requests cross a network, more of them overlap.
int ReadersOf(std::string_view location);
/// The text after the last '/'.
std::string_view FileNameOf(std::string_view location);
/// The text before the last '/', without it; empty if there is none. "/" stays for "/a".
std::string_view ParentOf(std::string_view location);
/// Ends with exactly the slashes it has, or one when it has none: "/ns/t" never stands for "/ns/t_2".
std::string AsPrefix(std::string_view location);
/// Without slashes at the end; "/" stays.
std::string_view WithoutSlash(std::string_view location);
/// parent + "/" + name, with one slash between them.
std::string Join(std::string_view parent, std::string_view name);
/// Whether both name the same directory when written differently ("file:/a", "file:///a/", "/a"; s3a and s3).
bool SamePlace(std::string_view a, std::string_view b);

}  // namespace firn::ports
