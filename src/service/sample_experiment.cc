// SPDX-License-Identifier: Apache-2.0
#include "service/sample_experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "act/file_merge.h"
#include "act/merge_pool.h"
#include "decide/decide.h"
#include "orient/orient.h"
#include "service/sample_files.h"
#include "service/scratch_folder.h"
#include "splice/arrow_scan.h"

namespace firn::service {
namespace {

constexpr int kTwoColumns = 2;
constexpr std::int64_t kSizeMin = 64 << 10;

/// The files of one size, in the scratch folder.
struct Variant {
  SampleRun run;
  std::vector<std::string> paths;
};

/// Copies are gone by the time that somebody reads of them: the table's own files are named.
std::string WithTableNames(std::string message, const FileSample& sample, const ScratchFolder& scratch) {
  for (const std::string& location : sample.locations) {
    const std::string path = scratch.PathOf(location);
    for (std::size_t at = 0; !path.empty() && (at = message.find(path, at)) != std::string::npos;) {
      message.replace(at, path.size(), location);
      at += location.size();
    }
  }
  return message;
}

/// Errors that are about the machine or the request; others are about the files, and only end the experiment.
bool IsFatal(Code code) {
  return code == Code::kUnavailable || code == Code::kCancelled || code == Code::kLimit ||
         code == Code::kInvalidArgument || code == Code::kInternal;
}

class SampleExperiment {
 public:
  SampleExperiment(const iceberg::TableMetadata& metadata, const orient::Policy& policy, const SampleOptions& options,
                   FileSample& sample, ScratchFolder& scratch)
      : metadata_(metadata),
        policy_(policy),
        options_(options),
        sample_(sample),
        scratch_(scratch),
        random_(options.seed) {}

  Status Run(const std::vector<std::int64_t>& sizes, Experiment& experiment);

 private:
  Status CopySample();
  Result<decide::Plan> PlanFor(std::int64_t size_bytes) const;
  Status AddVariant(std::int64_t size_bytes, Experiment& experiment);
  Status MergeAll(const decide::Plan& plan, Variant& variant, std::set<std::string>& live, Experiment& experiment);
  void FitMerge(const decide::Plan& plan, const Variant& variant, Experiment& experiment) const;
  Status ScanAll(Experiment& experiment);
  Status Scan(Variant& variant, int columns, ScanTime& least, Experiment& experiment) const;
  Status CheckGoOn() const;
  void Step();
  double SecondsSince(std::int64_t start_ns) const {
    return static_cast<double>(options_.clock->MonotonicNs() - start_ns) * 1e-9;
  }

  const iceberg::TableMetadata& metadata_;
  const orient::Policy& policy_;
  const SampleOptions& options_;
  FileSample& sample_;
  ScratchFolder& scratch_;
  Random random_;
  std::vector<Variant> variants_;
  std::int64_t steps_ = 0, steps_all_ = 1;
};

Status SampleExperiment::CheckGoOn() const {
  if (options_.cancelled == nullptr || !options_.cancelled->load()) return Ok();
  return Error{Code::kCancelled, "stopped while a sample was measured; nothing was changed"};
}

void SampleExperiment::Step() {
  ++steps_;
  if (options_.progress) options_.progress(std::min(steps_, steps_all_), steps_all_);
}

Status SampleExperiment::CopySample() {
  Variant now;
  for (std::size_t i = 0; i < sample_.locations.size(); ++i) {
    FIRN_TRY(CheckGoOn());
    const std::string& location = sample_.locations[i];
    Status copied = scratch_.Copy(location, sample_.facts.files[i].size_bytes);
    // What reads names the file itself, what writes does not.
    if (!copied && copied.error().message.find(location) != std::string::npos) return copied;
    FIRN_TRY(std::move(copied).In(location));
    now.paths.push_back(scratch_.PathOf(sample_.locations[i]));
  }
  now.run.files = static_cast<std::int64_t>(now.paths.size());
  now.run.bytes = sample_.bytes;
  variants_.push_back(std::move(now));
  Step();
  return Ok();
}

Result<decide::Plan> SampleExperiment::PlanFor(std::int64_t size_bytes) const {
  orient::Policy policy = policy_;
  policy.target_size_bytes = size_bytes;
  policy.enabled = true;
  decide::DecideOptions options;
  options.refusals_max = 1;
  return decide::Decide(sample_.facts, orient::Diagnose(sample_.facts, policy), policy, options);
}

Status SampleExperiment::AddVariant(std::int64_t size_bytes, Experiment& experiment) {
  FIRN_ASSIGN(const decide::Plan plan, PlanFor(size_bytes));
  // Sizes that give the same files would only be measured twice.
  const auto alike =
      std::ranges::find_if(variants_, [&](const Variant& variant) { return variant.run.files == plan.files_after; });
  if (plan.groups.empty() || alike != variants_.end()) return Ok();
  Variant variant;
  variant.run.target_size_bytes = size_bytes;
  std::set<std::string> live(sample_.locations.begin(), sample_.locations.end());
  FIRN_TRY(MergeAll(plan, variant, live, experiment));
  if (!experiment.reason.empty()) return Ok();
  for (const std::string& location : live) {
    const std::string path = scratch_.PathOf(location);
    FIRN_ASSIGN(const auto source, scratch_.Open(location, std::nullopt));
    variant.run.bytes += static_cast<std::int64_t>(source->size());
    variant.paths.push_back(path);
  }
  variant.run.files = static_cast<std::int64_t>(variant.paths.size());
  FitMerge(plan, variant, experiment);
  variants_.push_back(std::move(variant));
  return Ok();
}

/// Carries the plan out; `live` gets the outputs in place of their inputs.
Status SampleExperiment::MergeAll(const decide::Plan& plan, Variant& variant, std::set<std::string>& live,
                                  Experiment& experiment) {
  auto context = act::MakeMergeContext(metadata_, scratch_, policy_.effort, random_.NewUuid());
  if (!context) return std::move(context.error());
  context->plan_sequence_number = sample_.facts.sequence_number;
  context->cancelled = options_.cancelled;
  context->options.memory_bytes = options_.memory_bytes;
  const std::int64_t start = options_.clock->MonotonicNs();
  act::MergePool pool(*context, plan, sample_.facts, 1, options_.cancelled, [](std::int64_t, std::int64_t) {});
  (void)pool.WaitForAny({{0, plan.groups.size()}});
  variant.run.merge_seconds = SecondsSince(start);
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    act::MergedGroup group = pool.Take(g);
    if (group.error) {
      if (IsFatal(group.error->code)) return std::move(*group.error);
      experiment.reason =
          "files of the sample cannot be merged: " + WithTableNames(group.error->message, sample_, scratch_);
      return Ok();
    }
    for (const auto& removed : group.group.removed) live.erase(removed.path);
    for (const auto& added : group.group.added) live.insert(added.file.file_path);
    variant.run.merged_files += static_cast<std::int64_t>(group.group.removed.size());
    variant.run.merged_bytes += group.input_bytes;
  }
  return Ok();
}

/// The largest size is measured last, and says most.
void SampleExperiment::FitMerge(const decide::Plan& plan, const Variant& variant, Experiment& experiment) const {
  const auto largest = std::ranges::max_element(plan.groups, {}, &decide::MergeGroup::input_bytes);
  std::vector<std::int64_t> inputs;
  for (const std::uint32_t file : largest->files) inputs.push_back(sample_.facts.files[file].size_bytes);
  // With one group the sizes before and after say what it became; with more their sum stands for all of them.
  double before = 0, after = 0;
  for (const auto& group : plan.groups) before += static_cast<double>(group.input_bytes);
  after = before + static_cast<double>(variant.run.bytes - sample_.bytes);
  if (before > 0 && after > 0) {
    const double share = after / before;
    if (const auto exponent = decide::FitSizeExponent(
            inputs, static_cast<std::int64_t>(share * static_cast<double>(largest->input_bytes)))) {
      experiment.size_exponent = exponent;
    } else if (share >= 1) {
      experiment.size_exponent = 1;
    }
  }
  const decide::CostModel cost;
  const double seconds = variant.run.merge_seconds -
                         static_cast<double>(variant.run.merged_files) * cost.seconds_per_file -
                         static_cast<double>(plan.groups.size()) * cost.seconds_per_group;
  if (seconds > 0) experiment.merge_bytes_per_second = static_cast<double>(variant.run.merged_bytes) / seconds;
}

Status SampleExperiment::Scan(Variant& variant, int columns, ScanTime& least, Experiment& experiment) const {
  const std::int64_t wall = options_.clock->MonotonicNs();
  const std::int64_t cpu = options_.thread_cpu_ns ? options_.thread_cpu_ns() : wall;
  FIRN_ASSIGN(const splice::ScanResult scan, splice::ScanFiles(variant.paths, columns, options_.cancelled));
  const double wall_seconds = SecondsSince(wall);
  const double cpu_seconds =
      options_.thread_cpu_ns ? static_cast<double>(options_.thread_cpu_ns() - cpu) * 1e-9 : wall_seconds;
  if (experiment.rows == 0) experiment.rows = scan.rows;
  if (experiment.rows != scan.rows) {
    return Error{Code::kInternal, fmt::format("the sample has {} rows, and {} when its files are merged to {} bytes",
                                              experiment.rows, scan.rows, variant.run.target_size_bytes)};
  }
  const bool first = least.wall_seconds == 0;
  least.wall_seconds = first ? wall_seconds : std::min(least.wall_seconds, wall_seconds);
  least.cpu_seconds = first ? cpu_seconds : std::min(least.cpu_seconds, cpu_seconds);
  return Ok();
}

Status SampleExperiment::ScanAll(Experiment& experiment) {
  for (int round = 0; round < std::max(options_.repeats, 1); ++round) {
    for (Variant& variant : variants_) {
      FIRN_TRY(CheckGoOn());
      FIRN_TRY(Scan(variant, 0, variant.run.all, experiment));
      FIRN_TRY(Scan(variant, kTwoColumns, variant.run.two, experiment));
      Step();
    }
  }
  return Ok();
}

/// Constants of reading; of CPU time, because what else runs on the machine changes it least.
void FitRead(Experiment& experiment) {
  std::vector<decide::ReadMeasurement> all, two;
  for (const SampleRun& run : experiment.runs) {
    const auto files = static_cast<double>(run.files), bytes = static_cast<double>(run.bytes);
    all.push_back({files, bytes, run.all.cpu_seconds});
    two.push_back({files, bytes, run.two.cpu_seconds});
  }
  const auto all_cost = decide::FitReadCost(all), two_cost = decide::FitReadCost(two);
  if (all_cost && two_cost) experiment.read = decide::ReadCosts{*all_cost, *two_cost};
}

Status SampleExperiment::Run(const std::vector<std::int64_t>& sizes, Experiment& experiment) {
  steps_all_ = 1 + static_cast<std::int64_t>(sizes.size()) +
               static_cast<std::int64_t>(std::max(options_.repeats, 1)) * static_cast<std::int64_t>(sizes.size() + 1);
  FIRN_TRY(CopySample());
  for (const std::int64_t size : sizes) {
    FIRN_TRY(CheckGoOn());
    FIRN_TRY(AddVariant(size, experiment));
    if (!experiment.reason.empty()) return Ok();
    Step();
  }
  if (variants_.size() < 2) {
    experiment.reason = "no merge of the sample's files is worth its cost at any size";
    return Ok();
  }
  FIRN_TRY(ScanAll(experiment));
  for (Variant& variant : variants_) experiment.runs.push_back(std::move(variant.run));
  FitRead(experiment);
  experiment.done = true;
  return Ok();
}

}  // namespace

std::vector<std::int64_t> SizesToTry(std::int64_t sample_bytes, std::int64_t file_bytes,
                                     const std::vector<std::int64_t>& targets) {
  std::set<std::int64_t> sizes;
  for (const std::int64_t part : {16, 4, 1}) sizes.insert(std::max(sample_bytes / part, kSizeMin));
  for (const std::int64_t target : targets) {
    if (target <= sample_bytes) sizes.insert(target);
  }
  // Files of about the size that they have would not be touched.
  std::erase_if(sizes, [&](std::int64_t size) { return size < 2 * file_bytes; });
  return {sizes.begin(), sizes.end()};
}

Result<Experiment> MeasureSample(const observe::Facts& facts, const iceberg::TableMetadata& metadata, ports::FileIO& io,
                                 const orient::Policy& policy, const std::vector<std::int64_t>& targets,
                                 const SampleOptions& options) {
  Experiment experiment;
  const std::int64_t largest = targets.empty() ? 0 : targets.back();
  FileSample sample = TakeSample(facts, options.bytes_max, kSampleFilesMax,
                                 static_cast<std::int64_t>(static_cast<double>(largest) * policy.healthy_fraction),
                                 Random(options.seed));
  experiment.reason = sample.reason;
  if (!experiment.reason.empty()) return experiment;
  FIRN_TRY(LocateFiles(sample, metadata, io));
  FIRN_ASSIGN(const auto scratch, ScratchFolder::Make(options.scratch, io));
  experiment.files = static_cast<std::int64_t>(sample.facts.files.size());
  experiment.bytes = sample.bytes;
  experiment.partitions = sample.partitions;
  const auto sizes = SizesToTry(sample.bytes, sample.bytes / experiment.files, targets);
  Status done = SampleExperiment(metadata, policy, options, sample, *scratch).Run(sizes, experiment);
  if (done) return experiment;
  if (IsFatal(done.error().code)) return std::move(done.error()).In("sample in " + scratch->path());
  experiment.reason = WithTableNames(std::move(done.error().message), sample, *scratch);
  experiment.runs.clear();
  return experiment;
}

}  // namespace firn::service
