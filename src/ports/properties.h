// SPDX-License-Identifier: Apache-2.0
//
// Names and values of configuration, as catalogs and FileIOs take them ("s3.endpoint", "uri", "token").
//
// Guarantees: values may be secrets; messages name keys only, never values, unless IsSecret says no.
// Threads: value types.
// Source: property names of PyIceberg and of the Java catalogs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firn::ports {

using Properties = std::map<std::string, std::string, std::less<>>;

/// Null when the key is missing.
const std::string* FindProperty(const Properties& properties, std::string_view key);
/// The first of `keys` that is there and not empty; null if there is none.
const std::string* FindFirstProperty(const Properties& properties, std::initializer_list<std::string_view> keys);
std::string PropertyOr(const Properties& properties, std::string_view key, std::string_view fallback);
/// "true" or "false" in any case (also 1/0, yes/no, on/off); kInvalidArgument for anything else.
Result<bool> BoolProperty(const Properties& properties, std::string_view key, bool fallback);
/// kInvalidArgument when the value is no integer of [min, max].
Result<std::int64_t> IntProperty(const Properties& properties, std::string_view key, std::int64_t fallback,
                                 std::int64_t min, std::int64_t max);
/// Properties of `above` replace those of `below`.
Properties Merged(Properties below, const Properties& above);

/// Whether the value must not be shown (tokens, keys, passwords, authorization headers).
bool IsSecret(std::string_view key);
/// The text with the user part of a URI ("//user:password@") replaced by "//***@", and the values of parameters that
/// IsSecret knows ("?password=...") by "***".
std::string WithoutCredentials(std::string_view uri);

}  // namespace firn::ports
