// SPDX-License-Identifier: Apache-2.0
#include "format/thrift/binary_protocol.h"

#include <fmt/format.h>

#include <algorithm>

namespace firn::thrift {
namespace {

constexpr std::uint32_t kVersion1 = 0x8001'0000;
constexpr std::uint32_t kCall = 1;
constexpr std::uint8_t kStop = 0;
constexpr std::size_t kUuidBytes = 16;

/// Of a number, 0 for other types.
int WidthOf(Type type) {
  switch (type) {
    case Type::kBool:
    case Type::kByte: return 1;
    case Type::kI16: return 2;
    case Type::kI32: return 4;
    case Type::kI64:
    case Type::kDouble: return 8;
    default: return 0;
  }
}

bool IsKnown(std::uint8_t type) {
  return WidthOf(Type{type}) > 0 ||
         (type >= static_cast<std::uint8_t>(Type::kString) && type <= static_cast<std::uint8_t>(Type::kUuid));
}

void PutNumber(Bytes& out, std::int64_t number, int width) {
  for (int shift = (width - 1) * 8; shift >= 0; shift -= 8) {
    out.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(number) >> shift));
  }
}

void PutText(Bytes& out, std::string_view text) {
  PutNumber(out, static_cast<std::int64_t>(text.size()), 4);
  out.insert(out.end(), text.begin(), text.end());
}

void PutValue(Bytes& out, const Value& value) {
  switch (value.type) {
    case Type::kString: return PutText(out, value.text);
    case Type::kUuid: out.insert(out.end(), value.text.begin(), value.text.end()); return;
    case Type::kStruct:
      for (const Field& field : value.fields) {
        out.push_back(static_cast<std::uint8_t>(field.value.type));
        PutNumber(out, field.id, 2);
        PutValue(out, field.value);
      }
      out.push_back(kStop);
      return;
    case Type::kMap:
      out.push_back(static_cast<std::uint8_t>(value.key_type));
      out.push_back(static_cast<std::uint8_t>(value.element_type));
      PutNumber(out, static_cast<std::int64_t>(value.elements.size() / 2), 4);
      for (const Value& element : value.elements) PutValue(out, element);
      return;
    case Type::kSet:
    case Type::kList:
      out.push_back(static_cast<std::uint8_t>(value.element_type));
      PutNumber(out, static_cast<std::int64_t>(value.elements.size()), 4);
      for (const Value& element : value.elements) PutValue(out, element);
      return;
    default: return PutNumber(out, value.number, WidthOf(value.type));
  }
}

class Decoder {
 public:
  Decoder(SequentialSource& source, Limits limits) : source_(source), limits_(limits) {}

  Result<std::int64_t> Number(int width) {
    FIRN_TRY(Need(static_cast<std::size_t>(width)));
    std::uint64_t number = 0;
    for (int i = 0; i < width; ++i) number = number << 8 | buffer_[at_++];
    const int unused = 64 - width * 8;
    return static_cast<std::int64_t>(number << unused) >> unused;
  }

  Result<std::string> Text(std::uint64_t size) {
    std::string text;
    while (text.size() < size) {  // no more at a time than came
      FIRN_TRY(Need(1));
      const std::size_t part = std::min<std::uint64_t>(size - text.size(), end_ - at_);
      text.append(AsText(ByteView(buffer_).subspan(at_, part)));
      at_ += part;
    }
    return text;
  }

  Result<std::string> Text() {
    FIRN_ASSIGN(const std::uint64_t size, Count("a string"));
    return Text(size);
  }

  Result<Value> Read(Type type, int depth) {
    if (++values_ > limits_.values_max) return Error{Code::kLimit, Where("too many values")};
    if (depth > limits_.depth_max) return Error{Code::kLimit, Where("values are nested too deeply")};
    Value value;
    value.type = type;
    if (const int width = WidthOf(type); width > 0) {
      FIRN_ASSIGN(value.number, Number(width));
      return value;
    }
    if (type == Type::kString) {
      FIRN_ASSIGN(value.text, Text());
    } else if (type == Type::kUuid) {
      FIRN_ASSIGN(value.text, Text(kUuidBytes));
    } else if (type == Type::kStruct) {
      FIRN_TRY(ReadFields(value, depth));
    } else {
      FIRN_TRY(ReadElements(value, depth));
    }
    return value;
  }

  bool has_leftovers() const { return at_ < end_; }
  std::string Where(std::string_view what) const {
    return fmt::format("{}: {} at byte {} of the answer", source_.name(), what, read_ - (end_ - at_));
  }

 private:
  Status ReadFields(Value& value, int depth) {
    while (true) {
      FIRN_ASSIGN(const std::int64_t type, Number(1));
      if (type == kStop) return Ok();
      FIRN_TRY(CheckType(type));
      FIRN_ASSIGN(const std::int64_t id, Number(2));
      FIRN_ASSIGN(Value read, Read(Type{static_cast<std::uint8_t>(type)}, depth + 1));
      value.fields.push_back({static_cast<std::int16_t>(id), std::move(read)});
    }
  }

  Status ReadElements(Value& value, int depth) {
    const bool is_map = value.type == Type::kMap;
    std::int64_t key = 0;
    if (is_map) {
      FIRN_ASSIGN(key, Number(1));
    }
    FIRN_ASSIGN(const std::int64_t element, Number(1));
    FIRN_ASSIGN(const std::uint64_t count, Count("a list"));
    if (is_map) value.key_type = Type{static_cast<std::uint8_t>(key)};
    value.element_type = Type{static_cast<std::uint8_t>(element)};
    if (count == 0) return Ok();  // some senders give no types then
    FIRN_TRY(CheckType(element));
    if (is_map) FIRN_TRY(CheckType(key));
    for (std::uint64_t i = 0; i < count; ++i) {
      if (is_map) {
        FIRN_ASSIGN(Value read, Read(value.key_type, depth + 1));
        value.elements.push_back(std::move(read));
      }
      FIRN_ASSIGN(Value read, Read(value.element_type, depth + 1));
      value.elements.push_back(std::move(read));
    }
    return Ok();
  }

  Status CheckType(std::int64_t type) const {
    if (type > 0 && IsKnown(static_cast<std::uint8_t>(type))) return Ok();
    return Error{Code::kCorrupt, Where(fmt::format("unknown type {}", type))};
  }

  Result<std::uint64_t> Count(std::string_view what) {
    FIRN_ASSIGN(const std::int64_t count, Number(4));
    if (count < 0) return Error{Code::kCorrupt, Where(fmt::format("negative size of {}", what))};
    if (static_cast<std::uint64_t>(count) > limits_.bytes_max) {
      return Error{Code::kLimit, Where(fmt::format("{} of size {}", what, count))};
    }
    return static_cast<std::uint64_t>(count);
  }

  /// At least `size` bytes in the buffer, which is larger than any number.
  Status Need(std::size_t size) {
    if (end_ - at_ >= size) return Ok();
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(at_), buffer_.begin() + static_cast<std::ptrdiff_t>(end_),
              buffer_.begin());
    end_ -= at_;
    at_ = 0;
    while (end_ < size) {
      FIRN_ASSIGN(const std::size_t count, source_.Read(std::span(buffer_).subspan(end_)));
      if (count == 0) return Error{Code::kUnavailable, Where("the bytes end")};
      end_ += count;
      read_ += count;
      if (read_ > limits_.bytes_max) {
        return Error{Code::kLimit, Where(fmt::format("more than {} bytes", limits_.bytes_max))};
      }
    }
    return Ok();
  }

  SequentialSource& source_;
  Limits limits_;
  Bytes buffer_ = Bytes(64 * 1024);
  std::size_t at_ = 0, end_ = 0;
  std::uint64_t read_ = 0, values_ = 0;
};

}  // namespace

Bytes EncodeCall(std::string_view method, std::int32_t sequence, const Value& arguments) {
  Bytes out;
  PutNumber(out, kVersion1 | kCall, 4);
  PutText(out, method);
  PutNumber(out, sequence, 4);
  PutValue(out, arguments);
  return out;
}

Result<Reply> DecodeReply(SequentialSource& source, Limits limits) {
  Decoder decoder(source, limits);
  FIRN_ASSIGN(const std::int64_t head, decoder.Number(4));
  const auto bits = static_cast<std::uint32_t>(head);
  const std::uint32_t kind = bits & 0xff;
  if ((bits & 0xffff'0000) != kVersion1 || (kind != 2 && kind != 3)) {
    return Error{Code::kCorrupt, decoder.Where("no reply of Thrift's binary protocol")};
  }
  Reply reply;
  reply.kind = Answer{static_cast<std::uint8_t>(kind)};
  FIRN_ASSIGN(reply.method, decoder.Text());
  FIRN_ASSIGN(const std::int64_t sequence, decoder.Number(4));
  reply.sequence = static_cast<std::int32_t>(sequence);
  FIRN_ASSIGN(reply.result, decoder.Read(Type::kStruct, 0));
  reply.has_leftovers = decoder.has_leftovers();
  return reply;
}

}  // namespace firn::thrift
