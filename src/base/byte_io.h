// SPDX-License-Identifier: Apache-2.0
//
// The three shapes of foreign bytes: read anywhere, read in order, write in order.
//
// Guarantees: formats and splice see storage only through these; ports implement them.
// Errors: name the location. A short read inside the promised size is kCorrupt (the file shrank).
// Threads: ReadAt may be called from several threads at once; the other two belong to one thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace firn {

class RandomAccessSource {
 public:
  virtual ~RandomAccessSource() = default;
  /// What to call it in messages: a location or a file name.
  virtual const std::string& name() const = 0;
  virtual std::uint64_t size() const = 0;
  /// Fills `out` from `offset`; all of it or an error.
  virtual Status ReadAt(std::uint64_t offset, std::span<std::uint8_t> out) = 0;
};

class SequentialSource {
 public:
  virtual ~SequentialSource() = default;
  virtual const std::string& name() const = 0;
  /// Reads at most out.size() bytes; 0 means the end.
  virtual Result<std::size_t> Read(std::span<std::uint8_t> out) = 0;
};

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual const std::string& name() const = 0;
  virtual Status Write(ByteView bytes) = 0;
  /// Bytes written so far.
  virtual std::uint64_t position() const = 0;
};

/// A source over bytes that it owns.
class MemorySource final : public RandomAccessSource {
 public:
  MemorySource(std::string name, Bytes bytes) : name_(std::move(name)), bytes_(std::move(bytes)) {}
  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return bytes_.size(); }
  Status ReadAt(std::uint64_t offset, std::span<std::uint8_t> out) override;
  ByteView bytes() const { return bytes_; }

 private:
  std::string name_;
  Bytes bytes_;
};

/// A sink that keeps what was written.
class MemorySink final : public ByteSink {
 public:
  explicit MemorySink(std::string name) : name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  Status Write(ByteView bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return Ok();
  }
  std::uint64_t position() const override { return bytes_.size(); }
  Bytes& bytes() { return bytes_; }

 private:
  std::string name_;
  Bytes bytes_;
};

/// Reads a random-access source from start to end in large steps. Keeps `source` alive by reference only.
class SourceStream final : public SequentialSource {
 public:
  explicit SourceStream(RandomAccessSource& source) : source_(source) {}
  const std::string& name() const override { return source_.name(); }
  Result<std::size_t> Read(std::span<std::uint8_t> out) override;

 private:
  RandomAccessSource& source_;
  std::uint64_t offset_ = 0;
};

/// All bytes of a source; kLimit above `size_max_bytes`.
Result<Bytes> ReadAll(RandomAccessSource& source, std::uint64_t size_max_bytes);

}  // namespace firn
