// SPDX-License-Identifier: Apache-2.0
#include "splice/splice.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/human_text.h"
#include "base/range_copies.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/progress.h"
#include "cli/table_options.h"
#include "cli/text_table.h"
#include "cli/tier_table.h"
#include "cli/work_options.h"
#include "format/json/json.h"
#include "format/parquet/compression.h"
#include "ports/location.h"
#include "splice/names.h"

namespace firn::cli {
namespace {

constexpr const char* kMemory = "512MB";
constexpr const char* kCodecs = "zstd, snappy, gzip, brotli, lz4_raw, uncompressed";
/// What the program takes itself, and what it needs in all.
constexpr std::int64_t kProgramBytes = 40 << 20, kMemoryMin = 64 << 20;

struct SpliceOptions {
  CommonOptions common;
  TableRequest request;  // properties and maps only
  std::vector<std::string> inputs;
  std::string output;
  std::string codec, effort = "balanced", row_group_size, memory;
  std::optional<int> level;
  std::optional<int> threads;
};

/// Without --codec the inputs' codec is not known yet: then any codec's level may be meant.
Status CheckLevel(std::optional<int> level, std::optional<parquet::Codec> codec) {
  struct Levels {
    std::string_view codec;
    int lowest, highest;
  };
  constexpr std::array<Levels, 5> kLevels = {
      {{"zstd", 1, 22}, {"gzip", 1, 12}, {"brotli", 0, 11}, {"lz4_raw", 1, 12}, {"", 0, 22}}};
  if (!level) return Ok();
  const std::string_view name = codec ? parquet::CodecName(*codec) : "";
  const auto found = std::ranges::find(kLevels, name, &Levels::codec);
  if (found == kLevels.end()) {
    return Error{Code::kInvalidArgument, fmt::format("--level: {} has no levels", name)};
  }
  if (*level >= found->lowest && *level <= found->highest) return Ok();
  return Error{Code::kInvalidArgument,
               fmt::format("--level: {} is not within {} to {}", *level, found->lowest, found->highest)};
}

Result<splice::Options> MakeOptions(const SpliceOptions& options) {
  splice::Options made;
  FIRN_ASSIGN(made.effort, splice::ParseEffort(options.effort).In("--effort"));
  if (!options.codec.empty()) {
    const auto codec = splice::ParseCodec(options.codec);
    if (!codec) {
      return Error{Code::kInvalidArgument,
                   fmt::format("--codec: `{}` is none of {}", Printable(options.codec), kCodecs)};
    }
    made.codec = *codec;
  }
  FIRN_TRY(CheckLevel(options.level, made.codec));
  made.codec_level = options.level;
  FIRN_ASSIGN(const auto row_group, ParseBytesOption("--row-group-size", options.row_group_size));
  if (row_group) made.row_group_size_bytes = *row_group;
  FIRN_ASSIGN(const std::int64_t memory, MemoryOf(options.memory, kMemory, kMemoryMin));
  made.memory_bytes = memory - kProgramBytes;
  made.threads = options.threads.value_or(1);
  if (made.threads > 1) made.readers = ports::ReadersOf(options.inputs.front());
  return made;
}

Result<std::vector<splice::Input>> OpenInputs(ports::FileIO& io, const std::vector<std::string>& locations) {
  std::vector<splice::Input> inputs;
  for (const auto& location : locations) {
    FIRN_ASSIGN(std::shared_ptr<RandomAccessSource> source, io.Open(location));
    inputs.push_back({std::move(source), {}, std::nullopt});
  }
  return inputs;
}

/// Storage makes folders for the files of tables; in a path that somebody typed, a missing one is a mistake.
Status CheckNewFile(ports::FileIO& io, const std::string& output) {
  FIRN_ASSIGN(const bool exists, io.Exists(output));
  if (exists) return Error{Code::kInvalidArgument, output + " exists already and is not replaced"};
  const auto path = ports::LocalPathOf(output);
  const std::filesystem::path folder = path ? std::filesystem::path(*path).parent_path() : std::filesystem::path();
  std::error_code ignored;
  if (folder.empty() || std::filesystem::is_directory(folder, ignored)) return Ok();
  return Error{Code::kNotFound, fmt::format("{}: there is no folder {}", output, folder.string())};
}

Status CheckOutput(ports::FileIO& io, const std::string& output, const splice::Report& report,
                   const splice::Options& merge) {
  FIRN_ASSIGN(const auto written, io.Open(output));
  FIRN_TRY(splice::Verify(*written, report, merge.memory_bytes, merge.threads));
  return Ok();
}

/// A sink that keeps nothing.
class Nowhere final : public ByteSink {
 public:
  const std::string& name() const override { return name_; }
  std::uint64_t position() const override { return position_; }
  Status Write(ByteView bytes) override {
    position_ += bytes.size();
    return Ok();
  }

 private:
  std::string name_ = "nowhere";
  std::uint64_t position_ = 0;
};

/// Writes, publishes and checks the output; a file that is not known to be good is removed again.
Result<splice::Report> Merge(ports::FileIO& io, const std::vector<splice::Input>& inputs, splice::Options merge,
                             const std::string& output) {
  FIRN_ASSIGN(const auto sink, io.Create(output));
  merge.range_copies = splice::HasRangeFile(inputs) ? sink->range_copies() : nullptr;
  auto report = splice::Splice(inputs, merge, *sink);
  if (!report) {
    sink->Abort();
    return report;
  }
  Status checked = sink->Close();
  // The name was taken in the meantime: that file is somebody else's.
  if (!checked && checked.error().code == Code::kConflict) return std::move(checked.error());
  if (checked && merge.range_copies != nullptr) splice::NoteCopies(*merge.range_copies, *report);
  if (checked) checked = CheckOutput(io, output, *report, merge);
  if (checked) return report;
  if (splice::MayBeCopies(*report, checked.error())) {
    // Reading all of the inputs tells which one is broken, if one is.
    merge.range_copies = nullptr;
    Nowhere nowhere;
    if (auto read = splice::Splice(inputs, merge, nowhere); !read) checked = std::move(read.error());
  }
  if (const Status removed = io.Delete(output); !removed) {
    checked.error().message += fmt::format("; {} could not be removed: {}", output, removed.error().message);
  }
  return std::move(checked.error()).In(output + " is not known to be good");
}

std::string ReportText(const SpliceOptions& options, const splice::Report& report, double seconds) {
  std::string text = fmt::format("Merged {} into {} in {}: {}, {} into {}, {}.\n",
                                 HumanCount(static_cast<std::int64_t>(options.inputs.size()), "file"), options.output,
                                 HumanSeconds(seconds), HumanCount(report.rows, "row"), HumanBytes(report.input_bytes),
                                 HumanBytes(report.output_bytes), HumanCount(report.row_groups, "row group"));
  text += TierTable(report.tiers, report.input_bytes) + StorageCopiesText(report.storage_copied_bytes);
  for (const auto& note : report.notes) text += "Note: " + note + ".\n";
  return text;
}

std::string ReportJson(const SpliceOptions& options, const splice::Report& report, double seconds) {
  json::Value value = json::Value::Object();
  value.Set("output", options.output);
  value.Set("inputs", static_cast<std::int64_t>(options.inputs.size()));
  value.Set("rows", report.rows);
  value.Set("input_bytes", report.input_bytes);
  value.Set("output_bytes", report.output_bytes);
  value.Set("row_groups", report.row_groups);
  value.Set("pages", report.pages);
  value.Set("bloom_filters", report.bloom_filters);
  value.Set("seconds", seconds);
  value.Set("tiers", TiersToJson(report.tiers));
  value.Set("storage_copied_bytes", report.storage_copied_bytes);
  json::Value notes = json::Value::Array();
  for (const auto& note : report.notes) notes.Append(note);
  value.Set("notes", std::move(notes));
  return json::WritePretty(value) + "\n";
}

Result<int> RunSplice(Environment& environment, SpliceOptions& options) {
  FIRN_TRY(ApplySettings(environment, options.common, options.request,
                         {.threads = &options.threads, .memory = &options.memory}));
  FIRN_ASSIGN(splice::Options merge, MakeOptions(options));
  FIRN_ASSIGN(const auto io, environment.open_files(options.request));
  FIRN_TRY(CheckNewFile(*io, options.output));
  FIRN_ASSIGN(const auto inputs, OpenInputs(*io, options.inputs));
  const std::int64_t started = environment.clock.MonotonicNs();
  Progress progress(environment.terminal, environment.clock, {.title = "splice", .silent = options.common.quiet});
  merge.progress = [&](std::int64_t done, std::int64_t total) {
    progress.Update(done, total);
    return !environment.cancelled.load();
  };
  FIRN_ASSIGN(const splice::Report report, Merge(*io, inputs, merge, options.output));
  progress.Finish();
  const double seconds = static_cast<double>(environment.clock.MonotonicNs() - started) / 1e9;
  environment.terminal.Out(options.common.json ? ReportJson(options, report, seconds)
                                               : ReportText(options, report, seconds));
  return kExitOk;
}

}  // namespace

void AddSplice(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<SpliceOptions>();
  CLI::App* command = app.add_subcommand("splice", "Merge Parquet files into one, without a table");
  command->add_option("IN", options->inputs, "Parquet files with the same columns, in the order of their rows")
      ->required();
  command->add_option("-o,--output", options->output, "The file to make; it must not exist")->required();
  command->add_option("--effort", options->effort, "fast, balanced or dense: how much is recoded to save bytes")
      ->capture_default_str();
  command->add_option("--codec", options->codec, fmt::format("{}; otherwise the one of most input bytes", kCodecs));
  command->add_option("--level", options->level,
                      "Level of the codec: zstd 1 to 22, gzip and lz4_raw 1 to 12, brotli 0 to 11");
  command->add_option("--row-group-size", options->row_group_size, "Compressed size of row groups, such as 128MB");
  command->add_option("--memory", options->memory, "Memory of the process, at least 64MB")->default_str(kMemory);
  command->add_option("--threads", options->threads, "Threads")->check(CLI::Range(1, 1024))->default_str("1");
  command->add_option("--property", options->request.properties, "Storage property key=value; may be repeated")
      ->allow_extra_args(false);
  AddCommonOptions(*command, options->common);
  command->callback([options, &context] {
    RunCommand(context, options->common, [&] { return RunSplice(context.environment, *options); });
  });
}

}  // namespace firn::cli
