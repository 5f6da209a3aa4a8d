// SPDX-License-Identifier: Apache-2.0
#include "splice/row_group_merge.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

#include "base/parallel.h"
#include "base/range_copies.h"
#include "base/threads.h"
#include "splice/fallback.h"
#include "splice/row_group_ranges.h"
#include "splice/single_group_source.h"

namespace firn::splice {

namespace {

constexpr std::size_t kNotesMax = 32;

ByteView ValueBytes(const std::int64_t& number) {
  return {reinterpret_cast<const std::uint8_t*>(&number), sizeof number};
}

}  // namespace

/// What belongs to one row group.
struct RowGroupMerger::Work {
  RowGroupPlan plan;
  std::vector<std::vector<ColumnInput>> inputs;       // by column
  std::vector<std::shared_ptr<SourceGroup>> decoded;  // keeps what the fallback made
  std::vector<std::int64_t> input_bytes;              // by column
  std::int64_t held_bytes = 0;                        // of memory: sources, and what was decoded
  std::int64_t scan_bytes = 0;                        // of page records and statistics
  std::int64_t largest_page = 0;                      // uncompressed
  bool parallel = false;                              // columns are merged at the same time
  bool copies = false;                                // pages may be copied by the storage: nothing is held
  ColumnScans scans;                                  // with `copies`, by column
  std::vector<std::string> notes;
};

RowGroupMerger::RowGroupMerger(const std::vector<parquet::SchemaElement>& schema,
                               const std::vector<OutputColumn>& columns, const Options& options,
                               const MemoryLimits& limits, const MergeSettings& settings)
    : schema_(schema),
      columns_(columns),
      options_(options),
      limits_(limits),
      settings_(settings),
      memories_(columns.size()) {
  for (const OutputColumn& column : columns) {
    identity_levels_.emplace_back().input_max_definition = column.max_definition;
  }
  const auto threads = static_cast<std::size_t>(limits.threads);
  for (std::size_t i = 0; i < std::min(threads, columns.size()); ++i) {
    buffers_.push_back(std::make_unique<MergeBuffers>());
  }
}

RowGroupMerger::~RowGroupMerger() = default;

void RowGroupMerger::Note(Report& report, std::string note) const {
  if (report.notes.size() >= kNotesMax) return;
  if (std::ranges::find(report.notes, note) == report.notes.end()) report.notes.push_back(std::move(note));
}

/// What becomes of the rows of a chunk, or of a row lineage column.
void RowGroupMerger::SetRows(const PlannedSource& source, std::size_t column, ColumnInput& input) {
  input.filter = source.filter.get();
  if (source.columns->empty()) return;
  const ColumnSource& from = (*source.columns)[column];
  input.lineage = IsLineage(from.kind);
  input.row_ids = from.kind == ColumnSource::Kind::kRowId;
  if (!input.lineage || !from.number) return;
  input.fill = LineageFill{input.row_ids, *from.number + (input.row_ids ? source.first_row : 0)};
}

/// Decodes top fields of one source and puts the result in the place of their chunks.
Status RowGroupMerger::DecodeFields(Work& work, const PlannedSource& source, const std::vector<std::int32_t>& fields) {
  SingleGroupSource single(source.group->shared_file(), source.group->row_group());
  FallbackRequest request;
  request.output_schema = &schema_;
  request.output_fields = fields;
  std::vector<ColumnSource> columns = *source.columns;
  if (columns.empty()) {
    columns.resize(columns_.size());
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].leaf = static_cast<std::int32_t>(i);
  }
  request.columns = &columns;
  request.codec = settings_.chunk.codec;
  request.memory_bytes = limits_.DecodeBytes(work.held_bytes);
  FIRN_ASSIGN(FallbackResult result, DecodeThroughArrow(single, request));
  FIRN_ASSIGN(const std::shared_ptr<InputFile> file, InputFile::FromBytes(single.name(), result.file));
  result.file = Bytes();
  work.held_bytes += file->memory_bytes();
  if (work.held_bytes > limits_.total_bytes - limits_.tail_bytes) {
    return Error{Code::kLimit, file->name() + ": the decoded columns need more memory than the limit allows"};
  }
  for (std::size_t group = 0; group < file->footer().row_groups.size(); ++group) {
    if (file->footer().row_groups[group].num_rows != source.rows_in()) {
      return Error{Code::kInternal, file->name() + ": the fallback made another number of rows"};
    }
    const auto decoded = work.decoded.emplace_back(std::make_shared<SourceGroup>(file, group));
    for (std::size_t leaf = 0; leaf < result.output_leaves.size(); ++leaf) {
      const auto column = static_cast<std::size_t>(result.output_leaves[leaf]);
      ColumnInput& input = work.inputs[column].emplace_back();
      input.rows = source.rows();
      input.decoded = true;
      const std::int32_t from = source.routes->columns[column].leaf;
      input.had_filter = from >= 0 && source.group->chunk(static_cast<std::size_t>(from)).bloom_filter_offset;
      SetRows(source, column, input);
      input.levels = &identity_levels_[column];
      FIRN_ASSIGN(input.scan, ScanChunk(*decoded, leaf));
    }
  }
  return Ok();
}

Status RowGroupMerger::ScanSource(Work& work, const PlannedSource& source) {
  std::set<std::int32_t> fields;  // to decode
  ColumnScans scans(columns_.size());
  for (const OutputColumn& column : columns_) {
    const auto index = static_cast<std::size_t>(column.index);
    const ColumnRoute& route = source.routes->columns[index];
    std::string reason = route.kind == ColumnRoute::Kind::kDecode ? route.reason : "";
    if (route.reads_pages()) {
      if (work.copies) {
        scans[index] = std::move(work.scans[index]);
      } else {
        FIRN_ASSIGN(scans[index], ScanChunk(*source.group, static_cast<std::size_t>(route.leaf)));
      }
      work.scan_bytes += scans[index]->memory_bytes();
      work.largest_page = std::max(work.largest_page, scans[index]->largest_page);
      if (work.scan_bytes > limits_.source_bytes) {
        return Error{Code::kLimit, source.group->file().name() + ": its pages are too many for the memory limit"};
      }
      reason = WhyDecodeChunk(column, *scans[index], route.levels.input_max_definition);
    }
    if (reason.empty()) continue;
    if (fields.insert(column.top_field).second && work.notes.size() < kNotesMax) {
      work.notes.push_back(source.group->file().name() + ": column " + column.path[0] + " is decoded: " + reason);
    }
  }
  for (const OutputColumn& column : columns_) {
    const auto index = static_cast<std::size_t>(column.index);
    const ColumnRoute& route = source.routes->columns[index];
    if (route.kind != ColumnRoute::Kind::kDecode && route.kind != ColumnRoute::Kind::kValue && route.leaf >= 0) {
      work.input_bytes[index] += source.group->chunk(static_cast<std::size_t>(route.leaf)).total_compressed_size;
    }
    if (fields.contains(column.top_field)) continue;
    ColumnInput& input = work.inputs[index].emplace_back();
    input.rows = source.rows();
    if (scans[index]) {
      input.scan = std::move(*scans[index]);
      input.levels = &route.levels;
      SetRows(source, index, input);
    } else if (route.kind == ColumnRoute::Kind::kLineage) {
      SetRows(source, index, input);
      input.kind = !input.fill          ? ColumnInput::Kind::kNull
                   : input.fill->counts ? ColumnInput::Kind::kRowIds
                                        : ColumnInput::Kind::kValue;
      if (input.fill) input.value = ValueBytes(*(*source.columns)[index].number);
    } else if (route.kind == ColumnRoute::Kind::kNull) {
      input.kind = ColumnInput::Kind::kNull;
    } else {
      input.kind = ColumnInput::Kind::kValue;
      input.value = *(*source.columns)[index].constant;
    }
  }
  if (fields.empty()) return Ok();
  return DecodeFields(work, source, {fields.begin(), fields.end()});
}

/// Where a column's bytes go, and its pages if the storage may copy them.
ChunkSink RowGroupMerger::SinkOf(const Work& work, ByteSink& sink) const {
  ChunkSink to{[&sink](ByteView bytes) { return sink.Write(bytes); }};
  if (!work.copies) return to;
  to.copies_from = work.plan.sources[0].group.get();
  const InputFile& file = to.copies_from->file();
  to.copy = [this, &file](const parquet::ByteRange& range) {
    return options_.range_copies->Append(file.source(), *file.mark(), range.offset, range.size);
  };
  return to;
}

/// Reads the chunks of all sources, if they fit into memory together. Else they are read through windows.
Status RowGroupMerger::HoldSources(Work& work) {
  work.held_bytes = work.plan.fixed_bytes;
  work.copies = options_.range_copies != nullptr && RangesPay(work.plan, settings_.chunk.codec);
  if (work.copies) {
    const PlannedSource& source = work.plan.sources[0];
    source.group->HoldIndexes(source.routes->leaves);
    FIRN_ASSIGN(auto scans, ScanColumns(source, std::max(options_.readers, options_.threads)));
    work.copies = scans.has_value();
    if (work.copies) work.scans = std::move(*scans);
  }
  if (work.copies) return Ok();
  if (work.plan.fixed_bytes + work.plan.span_bytes > limits_.source_bytes) return Ok();
  work.held_bytes += work.plan.span_bytes;
  constexpr int kHoldersMax = 8;
  const int holders = options_.threads > 1 && work.plan.span_bytes > 0 ? kHoldersMax : 1;
  return ForEachIndex(work.plan.sources.size(), holders, [&work](std::size_t i) {
    return work.plan.sources[i].group->Hold(work.plan.sources[i].routes->leaves);
  });
}

/// Reads the sources, and finds out what each column has to do.
Status RowGroupMerger::Prepare(Work& work) {
  work.inputs.resize(columns_.size());
  work.input_bytes.resize(columns_.size());
  FIRN_TRY(HoldSources(work));
  for (const PlannedSource& source : work.plan.sources) FIRN_TRY(ScanSource(work, source));
  work.held_bytes += work.scan_bytes;
  ShareFilterMemory(work.inputs, static_cast<std::size_t>(limits_.total_bytes / 16),
                    static_cast<std::size_t>(options_.bloom_filter_bytes_max), settings_.columns);
  // Waiting columns need memory, and so does every thread's page: beyond the limit one column is merged after the
  // other.
  work.parallel = buffers_.size() > 1 &&
                  work.held_bytes + work.plan.bytes <= limits_.total_bytes - limits_.total_bytes / 4 &&
                  work.largest_page <= limits_.PageBytes(work.held_bytes, limits_.threads);
  settings_.page_bytes_max = limits_.PageBytes(work.held_bytes, work.parallel ? limits_.threads : 1);
  return Ok();
}

Result<WrittenGroup> RowGroupMerger::Run(RowGroupPlan plan, ByteSink& sink, Report& report,
                                         const ColumnDone& column_done) {
  Work work;
  work.plan = std::move(plan);
  FIRN_TRY(Prepare(work));
  for (std::string& note : work.notes) Note(report, std::move(note));
  WrittenGroup out;
  out.meta.num_rows = work.plan.rows;
  out.meta.columns.resize(columns_.size());
  prints_.assign(columns_.size(), {});
  out.meta.file_offset = static_cast<std::int64_t>(sink.position());
  out.meta.total_compressed_size = 0;
  out.locations.resize(columns_.size());
  out.column_indexes.resize(columns_.size());
  out.blooms.resize(columns_.size());
  FIRN_TRY(work.parallel ? RunParallel(work, sink, out, report, column_done)
                         : RunHere(work, sink, out, report, column_done));
  FIRN_TRY(CompareLevels(columns_, prints_));
  if (work.plan.sources.size() == 1) {
    const RowGroupPlan& done = work.plan;
    const bool all = std::ranges::all_of(done.sources[0].routes->columns, [](const ColumnRoute& route) {
      return route.kind == ColumnRoute::Kind::kMove;
    });
    if (all && done.sources[0].routes->leaves.size() == columns_.size()) {
      out.meta.sorting_columns = done.sources[0].group->meta().sorting_columns;
    }
  }
  return out;
}

void RowGroupMerger::Take(std::size_t column, ColumnResult result, std::int64_t start, bool alone, WrittenGroup& out,
                          Report& report) {
  parquet::ColumnMetaData& meta = result.chunk.meta;
  meta.data_page_offset += start;
  if (meta.dictionary_page_offset) *meta.dictionary_page_offset += start;
  for (parquet::PageLocation& location : result.chunk.locations) location.offset += start;
  out.meta.total_byte_size += meta.total_uncompressed_size;
  *out.meta.total_compressed_size += meta.total_compressed_size;
  report.pages += result.chunk.pages;
  report.column_compressed_bytes[column] += meta.total_compressed_size;
  for (std::size_t t = 0; t < kTierCount; ++t) {
    // Pages of a row group that stays as it is: the whole of it is a copy.
    const bool whole = alone && result.verbatim && t == static_cast<std::size_t>(Tier::kPages);
    TierCount& tier = report.tiers[whole ? static_cast<std::size_t>(Tier::kRowGroup) : t];
    tier.bytes += result.tiers[t].bytes;
    tier.chunks += result.tiers[t].chunks;
  }
  if (result.has_unchecked_indices) report.unchecked.emplace_back(report.row_groups, column);
  for (std::string& note : result.notes) Note(report, std::move(note));
  prints_[column] = std::move(result.prints);
  out.locations[column] = std::move(result.chunk.locations);
  out.column_indexes[column] = std::move(result.chunk.column_index);
  out.blooms[column] = std::move(result.bloom);
  out.meta.columns[column].meta = std::move(meta);
}

/// One column after the other, straight to the sink.
Status RowGroupMerger::RunHere(Work& work, ByteSink& sink, WrittenGroup& out, Report& report,
                               const ColumnDone& column_done) {
  const bool alone = work.plan.sources.size() == 1;
  const ChunkSink write = SinkOf(work, sink);
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    const auto start = static_cast<std::int64_t>(sink.position());
    FIRN_ASSIGN(ColumnResult result,
                MergeColumn(columns_[column], work.inputs[column], settings_, memories_[column], *buffers_[0], write));
    work.inputs[column].clear();
    Take(column, std::move(result), start, alone, out, report);
    FIRN_TRY(column_done(work.input_bytes[column]));
  }
  return Ok();
}

Status RowGroupMerger::RunParallel(Work& work, ByteSink& sink, WrittenGroup& out, Report& report,
                                   const ColumnDone& column_done) {
  struct Finished {
    WaitingChunk chunk;
    std::optional<Result<ColumnResult>> result;
  };
  std::vector<Finished> finished(columns_.size());
  std::vector<std::size_t> order(columns_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return work.input_bytes[a] > work.input_bytes[b]; });
  const ChunkSink to = SinkOf(work, sink);
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stop = false;
  PagePresses presses;
  std::atomic<std::size_t> left = columns_.size();
  const auto work_on = [&](MergeBuffers& buffers) {
    buffers.presses = &presses;
    for (std::size_t i = next++; i < order.size() && !stop; i = next++) {
      const std::size_t column = order[i];
      Finished done;
      ChunkSink write = to;
      write.write = [&done](ByteView bytes) {
        done.chunk.Write(bytes);
        return Ok();
      };
      write.copy = [&done](const parquet::ByteRange& range) {
        done.chunk.Copy(range);
        return Ok();
      };
      done.result = MergeColumn(columns_[column], work.inputs[column], settings_, memories_[column], buffers, write);
      if (--left == 0) presses.Close();
      const std::lock_guard lock(mutex);
      finished[column] = std::move(done);
      changed.notify_all();
    }
    // The longest column mostly ends last: its pages are compressed here meanwhile.
    presses.Serve(buffers.codecs);
    buffers.presses = nullptr;
  };
  std::vector<std::jthread> workers;
  for (const auto& buffers : buffers_) {
    Result<std::jthread> started = StartThread([&work_on, &buffers] { work_on(*buffers); });
    if (!started) break;
    workers.push_back(std::move(*started));
  }
  if (workers.empty()) return RunHere(work, sink, out, report, column_done);
  const auto write_all = [&]() -> Status {
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return finished[column].result.has_value(); });
      Finished done = std::move(finished[column]);
      lock.unlock();
      FIRN_ASSIGN(ColumnResult result, std::move(*done.result));
      const auto start = static_cast<std::int64_t>(sink.position());
      FIRN_TRY(done.chunk.SendTo(to));
      Take(column, std::move(result), start, work.plan.sources.size() == 1, out, report);
      FIRN_TRY(column_done(work.input_bytes[column]));
    }
    return Ok();
  };
  Status written = write_all();
  stop = true;
  presses.Close();
  return written;
}

}  // namespace firn::splice
