// SPDX-License-Identifier: Apache-2.0
#include "format/avro/schema.h"

namespace firn::avro {
namespace {

void SkipItems(const Schema& item, std::uint64_t count, Cursor& cursor) {
  switch (item.skip_shape) {
    case SkipShape::kFixedSize:
      // The count times the size was bounded by the bytes that are left when the run's header was read.
      cursor.Skip(count * item.size_min);
      return;
    case SkipShape::kVarints: cursor.SkipLongs(count * item.skip_count); return;
    case SkipShape::kVarintAndBytes:
      for (; count > 0 && cursor.ok(); --count) {
        (void)cursor.ReadLong();
        (void)cursor.ReadBytes();
      }
      return;
    case SkipShape::kOther:
      for (; count > 0 && cursor.ok(); --count) Skip(item, cursor);
      return;
  }
}

void SkipArray(const Schema& item, Cursor& cursor) {
  while (true) {
    const Cursor::ItemBlock block = cursor.ReadItemBlock(item.size_min);
    if (block.count == 0) return;
    if (block.size_bytes > 0) {
      cursor.Skip(block.size_bytes);
    } else if (item.size_min > 0) {
      SkipItems(item, block.count, cursor);
    }
  }
}

void SkipMap(const Schema& value, Cursor& cursor) {
  while (true) {
    const Cursor::ItemBlock block = cursor.ReadItemBlock(value.size_min + 1);
    if (block.count == 0) return;
    if (block.size_bytes > 0) {
      cursor.Skip(block.size_bytes);
      continue;
    }
    for (std::uint64_t i = 0; i < block.count && cursor.ok(); ++i) {
      (void)cursor.ReadBytes();
      Skip(value, cursor);
    }
  }
}

}  // namespace

void Skip(const Schema& schema, Cursor& cursor) {
  if (schema.skip_shape == SkipShape::kFixedSize) return cursor.Skip(schema.size_min);
  switch (schema.kind) {
    case Kind::kNull:
    case Kind::kBoolean:
    case Kind::kFloat:
    case Kind::kDouble:
    case Kind::kFixed: return;  // of fixed size
    case Kind::kInt:
    case Kind::kLong:
    case Kind::kEnum: (void)cursor.ReadLong(); return;
    case Kind::kBytes:
    case Kind::kString: (void)cursor.ReadBytes(); return;
    case Kind::kArray: SkipArray(*schema.items, cursor); return;
    case Kind::kMap: SkipMap(*schema.items, cursor); return;
    case Kind::kUnion: {
      const std::int64_t branch = cursor.ReadLong();
      if (branch < 0 || static_cast<std::uint64_t>(branch) >= schema.branches.size()) {
        cursor.Fail("no such branch of a union");
        return;
      }
      Skip(*schema.branches[static_cast<std::size_t>(branch)], cursor);
      return;
    }
    case Kind::kRecord:
      for (const Field& field : schema.fields) Skip(*field.type, cursor);
      return;
  }
}

}  // namespace firn::avro
