// SPDX-License-Identifier: Apache-2.0
#include "splice/dictionary_choice.h"

#include <algorithm>
#include <cmath>

#include "splice/chunk_move.h"
#include "splice/value_open.h"

namespace firn::splice {

namespace {

/// Below this many entries a union is not judged while it grows.
constexpr std::size_t kEntriesToJudge = 16 << 10;
/// A union with a larger share of all the inputs' entries does not pay.
constexpr double kShareThatPays = 0.9;
/// What a block of DELTA_BINARY_PACKED has beside its 128 values, as bits a value.
constexpr double kBlockBits = 0.6;
/// Pages behind the last indices that may become indices to end a row; each is opened twice then.
constexpr std::size_t kPagesToARowMax = 16;
/// What compression leaves of an integer in a dictionary, in bytes: 3.2 of 8 and 2.7 of 4 were seen.
constexpr double kEntryBytes = 2.7;

bool UsesDictionary(const ColumnInput& input) {
  return input.kind == ColumnInput::Kind::kChunk && input.scan.has_dictionary_pages;
}

/// The stored page if it stays in memory; empty otherwise.
ByteView HeldBody(const ColumnInput& input) {
  const PageRecord& page = *input.scan.dictionary;
  const auto size = static_cast<std::uint64_t>(page.compressed_size);
  if (!input.scan.source->holds(page.offset + page.header_bytes, size)) return {};
  RawBuffer none;
  const Result<ByteView> body = input.scan.source->View(page.offset + page.header_bytes, size, none);
  return body ? *body : ByteView();
}

bool SameDictionary(const ColumnInput& a, const ColumnInput& b) {
  const PageRecord &of_a = *a.scan.dictionary, &of_b = *b.scan.dictionary;
  // Only one of two equal pages is opened, so the headers must be as good as the bytes.
  if (a.scan.meta->codec != b.scan.meta->codec || of_a.num_values != of_b.num_values ||
      of_a.uncompressed_size != of_b.uncompressed_size || of_a.encoding != of_b.encoding || of_a.crc != of_b.crc) {
    return false;
  }
  const ByteView x = HeldBody(a), y = HeldBody(b);
  return !x.empty() && x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size()) == 0;
}

/// The last dictionary-encoded page of all inputs; behind it those that go on with a row of it.
struct CodedEnd {
  std::size_t input = 0, page = 0;
  bool any = false;     // whether there is one
  bool mixed = false;   // pages of another encoding stand before it, or go on with its row
  bool in_row = false;  // and more of them stand behind it
  bool Covers(std::size_t i, std::size_t p) const { return any && (i < input || (i == input && p <= page)); }
};

CodedEnd FindCodedEnd(const std::vector<ColumnInput>& inputs) {
  CodedEnd end;
  bool other = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].kind != ColumnInput::Kind::kChunk) continue;
    for (std::size_t p = 0; p < inputs[i].scan.pages.size(); ++p) {
      if (IsDictionaryEncoded(inputs[i].scan.pages[p])) {
        end = {i, p, true, other, false};
      } else {
        other = true;
      }
    }
  }
  return end;
}

/// Constants are indices until pages of values begin. Whether the dictionary has anybody to use it.
bool CodeConstants(const std::vector<ColumnInput>& inputs, const CodedEnd& end, DictionaryChoice& choice) {
  bool values = false, used = end.any;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    choice.codes_constant[i] = !values;
    used = used || (!values && inputs[i].kind == ColumnInput::Kind::kValue);
    if (inputs[i].kind == ColumnInput::Kind::kChunk && !inputs[i].scan.pages.empty()) {
      values = values || !end.Covers(i, inputs[i].scan.pages.size() - 1);
    }
  }
  return used;
}

/// Entries of the union of `all` dictionaries, when `done` of them with `drawn` entries together gave `found` different
/// ones: as if each drew its entries from one set, whose size follows from the repetitions so far.
double PredictUnion(double drawn, double found, std::size_t done, std::size_t all) {
  const double each = drawn / static_cast<double>(done);
  if (found > drawn * 0.999) return each * static_cast<double>(all);
  const auto union_of = [each](double set, std::size_t inputs) {
    return set * -std::expm1(static_cast<double>(inputs) * std::log1p(-std::min(each / set, 1 - 1e-12)));
  };
  double low = std::max(found, each), high = low * 4096;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (union_of(middle, done) < found ? low : high) = middle;
  }
  return union_of(high, all);
}

/// Pages behind the last indices may go on with a row of them, as writers make them that fill pages without looking at
/// rows (Arrow up to 20). A page of the output cannot have values in two encodings: those become indices as well.
Status ExtendToARow(const OutputColumn& column, const std::vector<ColumnInput>& inputs, const MergeSettings& settings,
                    MergeBuffers& buffers, CodedEnd& end) {
  if (column.max_repetition == 0 || !end.any) return Ok();
  const ColumnInput& input = inputs[end.input];
  if (end.page + 1 == input.scan.pages.size()) return Ok();
  // Where it is known which rows a page has, it begins with one.
  if (SourceFacts(column, input.scan, input.levels->input_max_definition).PageRows(end.page + 1)) return Ok();
  const std::size_t last = end.page + kPagesToARowMax;
  PageOpener opener(buffers.codecs, settings.page_bytes_max);
  for (; end.page + 1 < input.scan.pages.size(); ++end.page) {
    const PageRecord& page = input.scan.pages[end.page + 1];
    PageFetcher fetcher = PageFetcher::ForOne(*input.scan.source);
    FIRN_ASSIGN(const ByteView body, fetcher.FetchBody(page));
    FIRN_ASSIGN(const PageSections sections,
                opener.OpenLevels(page, body, input.scan.meta->codec, true, true).In(ChunkMover::Place(input, page)));
    if (StartsRow(sections.repetition, column.max_repetition)) return Ok();
    end.mixed = true;
    end.in_row = end.page == last;
    if (end.in_row) return Ok();
  }
  return Ok();
}

/// Makes the union.
class Uniter {
 public:
  Uniter(const OutputColumn& column, const std::vector<ColumnInput>& inputs, const MergeSettings& settings,
         MergeBuffers& buffers, const CodedEnd& end, DictionaryChoice& choice)
      : column_(column),
        inputs_(inputs),
        settings_(settings),
        buffers_(buffers),
        end_(end),
        choice_(choice),
        opener_(buffers.codecs, settings.page_bytes_max) {}

  /// False: it does not pay.
  Result<bool> Run() {
    ExpectRange();
    inputs_in_all_ = static_cast<std::size_t>(std::ranges::count_if(inputs_, UsesDictionary));
    const std::optional<std::size_t> first = FindFirst();
    if (first) {
      FIRN_TRY(AddPlaced(*first));
      CountDone(*first, 0);
      first_entries_ = choice_.united.count();
    }
    const ColumnInput* previous = nullptr;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const ColumnInput& input = inputs_[i];
      if (const std::optional<ByteView> value = input.AddedValue()) {
        choice_.value_of[i] = choice_.united.AddValue(*value);
      }
      if (UsesDictionary(input) && i != first) {
        if (first && SameDictionary(inputs_[*first], input)) {
          CountDone(i, 0);
        } else {
          if (previous == nullptr || !SameDictionary(*previous, input)) FIRN_TRY(AddPlaced(i));
          previous = &input;
          CountDone(i, choice_.mappings.size() - 1);
        }
        if (!PaysSoFar()) return false;
      }
      FIRN_ASSIGN(const bool pays, FoldPages(i));
      if (!pays) return false;
    }
    choice_.entries = choice_.united.count();
    // Entries that occur about once only make the values longer by an index.
    return values_ == 0 || static_cast<std::size_t>(values_) >= choice_.entries * 2;
  }

 private:
  /// The input whose dictionary comes first, so that its indices keep their meaning, if it is not the first anyway: one
  /// that has half of the bytes, in pages that can then be copied. The order of the rows does not depend on it.
  std::optional<std::size_t> FindFirst() const {
    std::optional<std::size_t> best, front;
    std::int64_t most = 0, all = 0;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (!UsesDictionary(inputs_[i])) continue;
      if (!front) front = i;
      std::int64_t bytes = 0;
      for (const PageRecord& page : inputs_[i].scan.pages) {
        all += page.compressed_size;
        const bool large = page.uncompressed_size >= CopyBytesMin(settings_.effort);
        bytes += large && IsDictionaryEncoded(page) ? page.compressed_size : 0;
      }
      if (bytes > most) best = i, most = bytes;
    }
    return best != front && most * 2 >= all ? best : std::nullopt;
  }

  void CountDone(std::size_t i, std::size_t mapping) {
    choice_.mapping_of[i] = static_cast<std::int32_t>(mapping);
    input_entries_ += choice_.mappings[mapping].entries.size();
    ++inputs_done_;
    values_ += inputs_[i].scan.meta->num_values;
  }

  /// Pages of other encodings before the last dictionary-encoded one. False: it does not pay.
  Result<bool> FoldPages(std::size_t i) {
    const ColumnInput& input = inputs_[i];
    if (input.kind != ColumnInput::Kind::kChunk || !input.scan.has_other_pages || i > end_.input) return true;
    // Values that go on from those of the page before would have to be read twice.
    if (input.scan.source->file().quirks().delta_byte_array_broken) return false;
    if (!UsesDictionary(input)) values_ += input.scan.meta->num_values;
    PageFetcher fetcher(*input.scan.source);
    for (std::size_t p = 0; p < input.scan.pages.size() && end_.Covers(i, p); ++p) {
      if (IsDictionaryEncoded(input.scan.pages[p])) continue;
      FIRN_ASSIGN(const bool folded, FoldPage(i, p, fetcher).In(ChunkMover::Place(input, input.scan.pages[p])));
      if (!folded || !PaysSoFar()) return false;
    }
    return true;
  }

  /// False: it is too large to be worth it.
  Result<bool> FoldPage(std::size_t i, std::size_t page, PageFetcher& fetcher) {
    const PageRecord& record = inputs_[i].scan.pages[page];
    const std::size_t mapped = mapped_entries_ + static_cast<std::size_t>(record.num_values);
    if (mapped * sizeof(std::uint32_t) > settings_.mapping_bytes_max) return false;
    FIRN_ASSIGN(const ByteView body, fetcher.FetchBody(record));
    const std::size_t bytes_max =
        std::min(static_cast<std::size_t>(settings_.page_bytes_max), settings_.mapping_bytes_max);
    FIRN_ASSIGN(const std::optional<PlainPage> plain,
                PlainValuesOf(column_, inputs_[i], page, body, bytes_max, opener_, buffers_));
    if (!plain) return false;
    std::vector<std::uint32_t>& indices = choice_.folded[{i, page}];
    FIRN_TRY(choice_.united.Add(plain->values, plain->count, indices));
    mapped_entries_ += indices.size();
    return true;
  }

  Status AddPlaced(std::size_t i) {
    const ColumnInput& input = inputs_[i];
    return AddInput(input).In(input.scan.source->file().name() + ": offset " +
                              std::to_string(input.scan.dictionary->offset));
  }

  Status AddInput(const ColumnInput& input) {
    const PageRecord& page = *input.scan.dictionary;
    PageFetcher fetcher = PageFetcher::ForOne(*input.scan.source);
    FIRN_ASSIGN(const ByteView body, fetcher.FetchBody(page));
    FIRN_ASSIGN(const ByteView plain, opener_.OpenDictionary(page, body, input.scan.meta->codec));
    DictionaryChoice::Mapping& mapping = choice_.mappings.emplace_back();
    FIRN_TRY(choice_.united.Add(plain, static_cast<std::size_t>(page.num_values), mapping.entries));
    mapped_entries_ += mapping.entries.size();
    mapping.identity = true;
    for (std::size_t i = 0; i < mapping.entries.size() && mapping.identity; ++i) {
      mapping.identity = mapping.entries[i] == i;
    }
    return Ok();
  }

  bool PaysSoFar() const {
    const std::size_t bytes = choice_.united.plain().size(), count = choice_.united.count();
    if (bytes > settings_.dictionary_size_bytes) return false;
    if (mapped_entries_ * sizeof(std::uint32_t) > settings_.mapping_bytes_max) return false;
    // Entries of one input never repeat: only several inputs show something.
    if (count < kEntriesToJudge || inputs_done_ < 2) return true;
    if (first_entries_ > 0) return PaysBehindFirst();
    const double predicted =
        PredictUnion(static_cast<double>(input_entries_), static_cast<double>(count), inputs_done_, inputs_in_all_);
    const double size = predicted * static_cast<double>(bytes) / static_cast<double>(count);
    const double together =
        static_cast<double>(input_entries_) / static_cast<double>(inputs_done_) * static_cast<double>(inputs_in_all_);
    if (DeltasAreSmaller(predicted)) return false;
    return size <= static_cast<double>(settings_.dictionary_size_bytes) && predicted < together * kShareThatPays;
  }

  /// Whether deltas as wide as the statistics allow take fewer bytes than indices of `entries` and their dictionary.
  bool DeltasAreSmaller(double entries) const {
    if (settings_.effort != Effort::kDense || !range_) return false;
    double values = 0, stored = 0, bytes = 0;
    for (const ColumnInput& input : inputs_) {
      if (input.kind != ColumnInput::Kind::kChunk) continue;
      values += static_cast<double>(input.scan.meta->num_values);
      for (const PageRecord& page : input.scan.pages) {
        if (!IsDictionaryEncoded(page)) continue;
        stored += static_cast<double>(page.compressed_size);
        bytes += static_cast<double>(page.uncompressed_size);
      }
    }
    if (bytes <= 0) return false;
    const double index_bits = std::ceil(std::log2(std::max(entries, 2.0)));
    const double delta_bits = std::ceil(std::log2(std::max(*range_, 1.0))) + 1 + kBlockBits;
    const double saved = values / 8 * (index_bits * std::min(stored / bytes, 1.0) - delta_bits);
    return saved + entries * kEntryBytes > 0;
  }

  /// With a large dictionary in front the others are not draws like it: they add to it at most as they did so far.
  bool PaysBehindFirst() const {
    std::int64_t others = -static_cast<std::int64_t>(first_entries_);
    for (const ColumnInput& input : inputs_) others += UsesDictionary(input) ? input.scan.dictionary->num_values : 0;
    const double first = static_cast<double>(first_entries_), count = static_cast<double>(choice_.united.count());
    const double drawn = static_cast<double>(input_entries_) - first;
    if (drawn <= 0) return true;
    const double predicted = first + (count - first) / drawn * static_cast<double>(others);
    const double size = predicted * static_cast<double>(choice_.united.plain().size()) / count;
    return size <= static_cast<double>(settings_.dictionary_size_bytes) &&
           predicted < (first + static_cast<double>(others)) * kShareThatPays;
  }

  /// Statistics say where the integers are. They are a hint: what lies outside is only slower.
  void ExpectRange() {
    if (column_.order != ValueOrder::kInt32 && column_.order != ValueOrder::kInt64) return;
    Bounds bounds;
    for (const ColumnInput& input : inputs_) {
      if (!UsesDictionary(input)) continue;
      const BoundsView part = SourceFacts(column_, input.scan, 1).chunk_bounds();
      if (part.known) bounds.Merge(part, column_.order);
    }
    if (!bounds.any()) return;
    const auto load = [&](const Bytes& value) -> std::int64_t {
      return column_.width == 4 ? LoadLittle<std::int32_t>(value.data()) : LoadLittle<std::int64_t>(value.data());
    };
    const std::int64_t low = load(bounds.min()), high = load(bounds.max());
    choice_.united.ExpectRange(low, high);
    range_ = static_cast<double>(high) - static_cast<double>(low);
  }

  const OutputColumn& column_;
  const std::vector<ColumnInput>& inputs_;
  const MergeSettings& settings_;
  MergeBuffers& buffers_;
  const CodedEnd end_;
  DictionaryChoice& choice_;
  PageOpener opener_;
  std::size_t first_entries_ = 0;  // of a dictionary that was taken before its turn
  std::size_t input_entries_ = 0, mapped_entries_ = 0, inputs_done_ = 0, inputs_in_all_ = 0;
  std::int64_t values_ = 0;
  std::optional<double> range_;  // of integers
};

}  // namespace

bool DictionaryChoice::KeepsIndices(std::size_t input) const {
  if (kind == Kind::kShared) return true;
  if (kind != Kind::kUnited || mapping_of[input] < 0) return false;
  return mappings[static_cast<std::size_t>(mapping_of[input])].identity;
}

Result<DictionaryChoice> ChooseDictionary(const OutputColumn& column, const std::vector<ColumnInput>& inputs,
                                          const MergeSettings& settings, ColumnMemory& memory, MergeBuffers& buffers) {
  DictionaryChoice choice(column);
  choice.mapping_of.assign(inputs.size(), -1);
  choice.value_of.assign(inputs.size(), 0);
  choice.codes_constant.assign(inputs.size(), false);
  CodedEnd end = FindCodedEnd(inputs);
  std::size_t coded = 0, constants = 0, first = 0;
  bool same = true, row_ids = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    constants += inputs[i].AddedValue() ? 1 : 0;
    row_ids = row_ids || inputs[i].row_ids;
    if (!UsesDictionary(inputs[i])) continue;
    if (coded++ == 0) {
      first = i;
    } else {
      same = same && SameDictionary(inputs[first], inputs[i]);
    }
  }
  if (column.type == parquet::PhysicalType::kBoolean || coded + constants == 0) return choice;
  choice.kind = DictionaryChoice::Kind::kRefused;
  if (!settings.Of(column).dictionary) return choice;
  FIRN_TRY(ExtendToARow(column, inputs, settings, buffers, end));
  memory.dictionary_refused = memory.dictionary_refused || end.in_row;
  if (end.in_row || !CodeConstants(inputs, end, choice)) return choice;
  if (coded > 0 && constants == 0 && same && !row_ids && !end.mixed) {
    choice.kind = DictionaryChoice::Kind::kShared;
    choice.shared_input = first;
    choice.entries = static_cast<std::size_t>(inputs[first].scan.dictionary->num_values);
    return choice;
  }
  if (memory.dictionary_refused || row_ids) return choice;
  FIRN_ASSIGN(const bool pays, Uniter(column, inputs, settings, buffers, end, choice).Run());
  if (pays) {
    choice.kind = DictionaryChoice::Kind::kUnited;
  } else {
    choice.mappings.clear();
    choice.folded.clear();
    memory.dictionary_refused = true;
  }
  return choice;
}

}  // namespace firn::splice
