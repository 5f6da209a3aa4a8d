// SPDX-License-Identifier: Apache-2.0
//
// Gives each kind of identifier its own type, so that a snapshot id cannot be passed as a sequence number.
//
// Guarantees: no implicit conversion between kinds, nor from plain integers.
// Cost: that of the integer inside. Threads: value types.
// Source: Iceberg table spec, "Table Metadata Fields", "Snapshots", "Manifest Entry Fields".
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace firn {

template <class Tag, class Rep>
struct StrongId {
  Rep value{};
  constexpr StrongId() = default;
  constexpr explicit StrongId(Rep v) : value(v) {}
  friend constexpr auto operator<=>(const StrongId&, const StrongId&) = default;
};

using SnapshotId = StrongId<struct SnapshotIdTag, std::int64_t>;
using SequenceNumber = StrongId<struct SequenceNumberTag, std::int64_t>;
using SchemaId = StrongId<struct SchemaIdTag, std::int32_t>;
using SpecId = StrongId<struct SpecIdTag, std::int32_t>;
using SortOrderId = StrongId<struct SortOrderIdTag, std::int32_t>;
/// Field ids index maps in hot loops and stay plain.
using FieldId = std::int32_t;

}  // namespace firn

template <class Tag, class Rep>
struct std::hash<firn::StrongId<Tag, Rep>> {
  std::size_t operator()(const firn::StrongId<Tag, Rep>& id) const noexcept { return std::hash<Rep>{}(id.value); }
};
