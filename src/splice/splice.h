// SPDX-License-Identifier: Apache-2.0
//
// Merges Parquet files into one better Parquet file without decoding values where the format allows it.
//
// In: sources, for each output leaf column the place of its values in every input, and the rows that are deleted.
// Out: one Parquet file written to a sink, and a report (rows, bytes per tier, row groups, split offsets).
// Guarantees: rows keep the order of the inputs and of the rows in them; every value, null and nesting is kept
//   bit by bit (a column that is promoted or synthesised: as asked for). The output has large row groups, joined
//   pages, a page index, statistics only where they are right, encoding statistics, field ids, and Bloom filters
//   where they are asked for, or all inputs have them and they can be joined cheaply. Rows out = rows in -
//   deleted rows, or an error; without any rows left the output is a valid file without row groups. Tiers are chosen
//   per column and per input.
// Cost: see docs/formats/parquet.md; memory: `memory_bytes` bounds what a call holds, whatever the number of inputs and
//   their sizes are. For row groups of the wanted size it takes twice that size and 32 MiB; with less, row groups
//   become smaller.
// Errors: kCorrupt naming the input and the offset; kUnsupported naming the column and the reason; kLimit. What is
// wrong
//   with one input begins with its name: see BrokenInput.
// Threads: one call uses the calling thread and, if `threads` > 1, helpers of its own.
// Source: parquet.thrift, Encodings.md, Compression.md.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_io.h"
#include "base/version.h"
#include "format/parquet/metadata.h"
#include "splice/column_options.h"
#include "splice/row_filter.h"

namespace firn {
class RangeCopies;
}

namespace firn::splice {

/// What was done with the bytes of a column chunk, cheapest first.
enum class Tier : std::uint8_t {
  kRowGroup,
  kPages,
  kHeader,
  kRemap,
  kRecompress,
  kJoin,
  kReencode,
  kFilter,
  kDecode,
  kSynthesize
};
inline constexpr std::size_t kTierCount = 10;
std::string_view TierName(Tier tier);  // "R", "P0", "P1", "P2", "P3", "P4", "P5", "P6", "P7", "new"

enum class Effort : std::uint8_t { kFast, kBalanced, kDense };

/// Where one output leaf column comes from in one input.
struct ColumnSource {
  enum class Kind : std::uint8_t {
    kCopy,      // leaf `leaf` of the input, same physical type and compatible logical type and levels
    kConvert,   // leaf `leaf`, but its values or nesting must be converted: decoded by the fallback (P7)
    kConstant,  // not in the input: every row holds `constant` (absent: null)
    // Row lineage, for flat optional INT64 columns. Where the input has such a column as leaf `leaf` (else -1), its
    // values that are not null stay, and its nulls become:
    kRowId,           // `number` + the row's position in the input file, deleted rows counted (absent: null)
    kSequenceNumber,  // `number` (absent: null)
  };
  Kind kind = Kind::kCopy;
  std::int32_t leaf = -1;
  /// One value in Parquet PLAIN encoding (BYTE_ARRAY without its length), for flat columns.
  std::optional<Bytes> constant;
  /// kRowId: the first row id of the input file. kSequenceNumber: its data sequence number.
  std::optional<std::int64_t> number = std::nullopt;
};

struct Input {
  std::shared_ptr<RandomAccessSource> source;
  /// One per output leaf. Empty: the input's leaves are the output's, in order.
  std::vector<ColumnSource> columns;
  /// If given, the footer's row count must equal it (the manifest's record_count, deleted rows included).
  std::optional<std::int64_t> expected_rows;
  /// Rows that do not go into the output; null: none. Positions behind the last row are ignored.
  std::shared_ptr<const DeletedRows> deleted_rows = nullptr;
};

/// What an input contributes, as it is known when its footer has been read.
struct InputContent {
  std::vector<ColumnSource> columns;
  std::shared_ptr<const DeletedRows> deleted_rows = nullptr;
};

struct Options {
  /// Output schema, root first. Empty: that of the first input, and all inputs must match it.
  std::vector<parquet::SchemaElement> schema;
  std::vector<parquet::KeyValue> key_value_metadata;  // of the output's footer
  std::string created_by = kCreatedBy;                // "NAME version X.Y.Z (build B)": parquet-mr parses it
  Effort effort = Effort::kBalanced;
  std::optional<parquet::Codec> codec;            // absent: the codec of most bytes of the first row group's inputs
  std::optional<int> codec_level;                 // absent: the codec's level that the benchmark chose
  std::int64_t row_group_size_bytes = 128 << 20;  // compressed, as write.parquet.row-group-size-bytes
  std::int64_t row_group_row_count_max = 1 << 20;
  std::int64_t page_size_bytes = 1 << 20;          // uncompressed
  std::optional<std::int64_t> page_row_count_max;  // absent: pages end by their size alone
  std::int64_t dictionary_size_bytes = 2 << 20;
  std::int64_t bloom_filter_bytes_max = 1 << 20;        // of one that is built here
  std::map<std::int32_t, ColumnOptions> columns;        // by the field id of the leaf
  std::int64_t memory_bytes = std::int64_t{512} << 20;  // less than 16 MiB counts as 16 MiB
  int threads = 1;
  /// That open inputs before their turn; of a store, whose requests take long, eight or so. 0: two with several
  /// threads, else none.
  int readers = 0;
  /// Of the sink: row groups that go as they are may be copied by its storage, then only their page headers,
  /// dictionaries and indexes are read here, and Verify is the first that looks at the other bytes. Null: everything is
  /// read.
  RangeCopies* range_copies = nullptr;
  /// Gives the content of an input when its footer is known, in place of the members of the Input; may be empty. Called
  /// in the order of the inputs, on the calling thread. It is let go as soon as the input's rows are written.
  std::function<Result<InputContent>(std::size_t input, const parquet::FileMetaData& footer)> resolve = {};
  /// Whether to go on without an input that cannot be opened, has other rows than expected, or that `resolve` refuses;
  /// may be empty: such an error ends the call.
  std::function<bool(std::size_t input, const Error& error)> leave_out = {};
  /// Bytes read so far and in total, for progress bars; may be empty. Return false to cancel (kCancelled).
  std::function<bool(std::int64_t done_bytes, std::int64_t total_bytes)> progress;
};

struct TierCount {
  /// Compressed bytes of the inputs' chunks (kSynthesize: of the output). Pages that were copied out of a chunk whose
  /// others were not count as kPages; the chunk counts as one of the other tier.
  std::int64_t bytes = 0;
  std::int64_t chunks = 0;
};

struct Report {
  std::int64_t rows = 0;          // of the output
  std::int64_t deleted_rows = 0;  // of the inputs: their rows are `rows` + `deleted_rows`
  /// By input: the output row of its first row that stays. A row at position p of input i that is not deleted is row
  /// input_row_bases[i] + p - (rows of input i that are deleted before p) of the output.
  std::vector<std::int64_t> input_row_bases;
  std::int64_t input_bytes = 0, output_bytes = 0;
  std::int64_t row_groups = 0, pages = 0;
  std::int64_t bloom_filters = 0;
  std::int64_t storage_copied_bytes = 0;  // of the output, by its storage: see NoteCopies
  std::array<TierCount, kTierCount> tiers{};
  std::vector<std::int64_t> split_offsets;            // starts of the row groups
  std::vector<std::int64_t> column_compressed_bytes;  // per output leaf, summed over row groups
  std::vector<std::string> notes;                     // why something was demoted, bounded in number
  /// (row group, leaf) of chunks with copied dictionary-encoded pages: nobody has looked at their indices yet.
  std::vector<std::pair<std::int64_t, std::size_t>> unchecked;
  /// (row group, leaf) of chunks whose Bloom filter has every entry of their dictionary.
  std::vector<std::pair<std::int64_t, std::size_t>> filtered_dictionaries;
};

/// Writes the whole output file, footer included. On an error the sink holds rubbish and must be aborted.
Result<Report> Splice(const std::vector<Input>& inputs, const Options& options, ByteSink& sink);

/// The input that an error of Splice is about; nullopt: it is about none, or not about one alone.
std::optional<std::size_t> BrokenInput(const std::vector<Input>& inputs, const Error& error);

/// Inputs from this size on are asked for marks: smaller ones have hardly a row group that stays as it is.
inline constexpr std::uint64_t kRangeFileBytesMin = 16 << 20;
/// Whether any input is: only then is a sink worth asking for its RangeCopies.
bool HasRangeFile(const std::vector<Input>& inputs);
/// Whether what is wrong with the written file may have been wrong in an input, where nobody has looked.
bool MayBeCopies(const Report& report, const Error& error);
/// What the storage copied, once the sink is closed.
void NoteCopies(const RangeCopies& copies, Report& report);

/// Re-reads a finished output: footer, every page header, sizes, row and value counts, dictionary bounds of index
/// pages, page index against pages, Bloom filters against dictionaries. For the check before every commit. Holds at
/// most `memory_bytes`; with several threads, row groups are checked at the same time. Gives the footer that it read.
Result<parquet::FileMetaData> Verify(RandomAccessSource& output, const Report& report,
                                     std::int64_t memory_bytes = std::int64_t{512} << 20, int threads = 1);

}  // namespace firn::splice
