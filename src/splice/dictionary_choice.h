// SPDX-License-Identifier: Apache-2.0
//
// Decides what the dictionary of an output chunk is, before any of its data pages is written.
//
// In: the inputs' dictionary pages, and the data pages whose values become indices. Out: none; that of the inputs as it
//   is; a union with a mapping an input; or refused, which means that indices are expanded to values.
// Guarantees: in the output no dictionary-encoded page stands behind one that is not: values of other pages before the
//   last dictionary-encoded one become indices as well, or all become values; so do those behind it that go on with a
//   row of its. No writer makes such chunks, and readers
//   that decode indices late take them for those of the values before (Spark's vectorized reader up to 4.1).
//   A refusal is remembered for the column, so that the next row group does not try again.
// Why refuse: "it fits" is the wrong test. When the union is nearly as large as the inputs' dictionaries together, the
//   values hardly repeat between inputs: PLAIN pages compress better and are read faster. The first few inputs tell.
// Cost: a decompression and a look-up an entry of each dictionary that differs from the one before; of each page that
//   becomes indices a read, a decompression and a look-up a value, before the page is read once more to be written; of
//   nested columns whose pages have no known rows the page behind the last indices, to see whether it begins with one.
// Errors: kCorrupt, kLimit with input and offset.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "splice/column_merge.h"
#include "splice/dictionary_union.h"

namespace firn::splice {

struct DictionaryChoice {
  enum class Kind : std::uint8_t { kNone, kShared, kUnited, kRefused };
  Kind kind = Kind::kNone;
  std::size_t shared_input = 0;  // kShared: an input whose page is everybody's
  std::size_t entries = 0;       // of the output's dictionary
  DictionaryUnion united;        // kUnited

  struct Mapping {
    std::vector<std::uint32_t> entries;
    bool identity = false;
  };
  std::vector<Mapping> mappings;         // kUnited: old index -> new index
  std::vector<std::int32_t> mapping_of;  // by input, into mappings; -1: has no dictionary
  std::vector<std::uint32_t> value_of;   // by input: the index of a constant
  std::vector<bool> codes_constant;      // by input: whether a constant or nulls become indices
  /// Of pages of other encodings before the last dictionary-encoded one, or with its row: an index a value. By input
  /// and page.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::uint32_t>> folded;

  explicit DictionaryChoice(const OutputColumn& column) : united(column.type, column.element.type_length) {}
  /// Whether the input's indices mean the same in the output.
  bool KeepsIndices(std::size_t input) const;
  const std::vector<std::uint32_t>* Folded(std::size_t input, std::size_t page) const {
    const auto found = folded.find({input, page});
    return found == folded.end() ? nullptr : &found->second;
  }
  bool FoldsAny(std::size_t input) const {
    const auto found = folded.lower_bound({input, 0});
    return found != folded.end() && found->first.first == input;
  }
  bool HasDictionary() const { return kind == Kind::kShared || kind == Kind::kUnited; }
};

Result<DictionaryChoice> ChooseDictionary(const OutputColumn& column, const std::vector<ColumnInput>& inputs,
                                          const MergeSettings& settings, ColumnMemory& memory, MergeBuffers& buffers);

}  // namespace firn::splice
