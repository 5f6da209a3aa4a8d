// SPDX-License-Identifier: Apache-2.0
#include "orient/policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace firn::orient {
namespace {

TEST(PolicyFromProperties, Nothing_GivesIcebergsDefaults) {
  auto policy = PolicyFromProperties({{"write.format.default", "parquet"}});
  ASSERT_TRUE(policy.has_value());
  EXPECT_TRUE(policy->enabled);
  EXPECT_EQ(policy->target_size_bytes, 536870912);
  EXPECT_EQ(policy->healthy_size_bytes(), 402653184);
  EXPECT_EQ(policy->size_max_bytes(), 805306368);
  EXPECT_EQ(policy->min_input_files, 5);
  EXPECT_EQ(policy->mergeable_flags, observe::kRewritableFlags);
  EXPECT_DOUBLE_EQ(policy->delete_ratio_threshold, 0.3);
  EXPECT_EQ(policy->delete_file_threshold, 0);
  EXPECT_DOUBLE_EQ(policy->noise_threshold, 1);
  EXPECT_EQ(policy->noise_age_seconds, 86400);
  EXPECT_EQ(policy->removable_files_min(), 4);
}

TEST(PolicyFromProperties, RemovableFiles_FollowTheFilesOfAMerge) {
  auto policy = PolicyFromProperties({{"firn.min-input-files", "2"}});
  ASSERT_TRUE(policy.has_value());
  EXPECT_EQ(policy->removable_files_min(), 1);
}

TEST(PolicyFromProperties, OwnTarget_WinsOverWriteTarget) {
  auto fallback = PolicyFromProperties({{"write.target-file-size-bytes", "134217728"}});
  ASSERT_TRUE(fallback.has_value());
  EXPECT_EQ(fallback->target_size_bytes, 134217728);
  auto own = PolicyFromProperties(
      {{"firn.target-file-size-bytes", "67108864"}, {"write.target-file-size-bytes", "134217728"}});
  ASSERT_TRUE(own.has_value());
  EXPECT_EQ(own->target_size_bytes, 67108864);
}

TEST(PolicyFromProperties, EveryKey_IsRead) {
  auto policy = PolicyFromProperties({{"firn.enabled", "false"},
                                      {"firn.healthy-fraction", "0.9"},
                                      {"firn.max-fraction", "2"},
                                      {"firn.min-input-files", "3"},
                                      {"firn.tolerated-entropy", "0.05"},
                                      {"firn.noise-threshold", "2.5"},
                                      {"firn.noise-file-weight", "3"},
                                      {"firn.noise-byte-weight", "0"},
                                      {"firn.noise-commit-weight", "0.5"},
                                      {"firn.noise-age-seconds", "60"},
                                      {"firn.min-removable-files", "9"},
                                      {"firn.effort", "dense"}});
  ASSERT_TRUE(policy.has_value()) << policy.error().message;
  EXPECT_FALSE(policy->enabled);
  EXPECT_DOUBLE_EQ(policy->healthy_fraction, 0.9);
  EXPECT_DOUBLE_EQ(policy->max_fraction, 2);
  EXPECT_EQ(policy->min_input_files, 3);
  EXPECT_DOUBLE_EQ(policy->tolerated_entropy, 0.05);
  EXPECT_EQ(policy->effort, "dense");
  EXPECT_DOUBLE_EQ(policy->noise_threshold, 2.5);
  EXPECT_DOUBLE_EQ(policy->noise_file_weight, 3);
  EXPECT_DOUBLE_EQ(policy->noise_byte_weight, 0);
  EXPECT_DOUBLE_EQ(policy->noise_commit_weight, 0.5);
  EXPECT_EQ(policy->noise_age_seconds, 60);
  EXPECT_EQ(policy->removable_files_min(), 9);
}

TEST(PolicyFromProperties, HealthyFractionAlone_MovesTheCap) {
  auto policy = PolicyFromProperties({{"firn.healthy-fraction", "0.9"}});
  ASSERT_TRUE(policy.has_value());
  EXPECT_DOUBLE_EQ(policy->max_fraction, 1.8);
}

TEST(PolicyFromProperties, BadValues_AreErrorsThatNameTheKey) {
  struct Case {
    std::string key, value;
  };
  const std::vector<Case> cases = {{"firn.enable", "true"},
                                   {"firn.enabled", "yes"},
                                   {"firn.min-input-files", "1"},
                                   {"firn.min-input-files", "5x"},
                                   {"firn.healthy-fraction", "0"},
                                   {"firn.healthy-fraction", "1.1"},
                                   {"firn.healthy-fraction", "nan"},
                                   {"firn.max-fraction", "1.2"},
                                   {"firn.max-fraction", "11"},
                                   {"firn.tolerated-entropy", "1"},
                                   {"firn.effort", "turbo"},
                                   {"firn.noise-threshold", "-1"},
                                   {"firn.noise-file-weight", "inf"},
                                   {"firn.noise-commit-weight", "2000000"},
                                   {"firn.noise-age-seconds", "0"},
                                   {"firn.noise-age-seconds", "1.5"},
                                   {"firn.noise-age-seconds", "99999999999"},
                                   {"firn.min-removable-files", "0"},
                                   {"firn.target-file-size-bytes", "0"},
                                   {"firn.target-file-size-bytes", "128MB"},
                                   {"write.target-file-size-bytes", "-1"},
                                   {"firn.priority", "0"},
                                   {"firn.quiet-hours", "at night"},
                                   {"firn.budget.concurrent-jobs", "0"},
                                   {"firn.budget", "1"},
                                   {"firn.", ""}};
  for (const auto& [key, value] : cases) {
    auto policy = PolicyFromProperties({{key, value}});
    ASSERT_FALSE(policy.has_value()) << key << "=" << value;
    EXPECT_EQ(policy.error().code, Code::kInvalidArgument);
    EXPECT_NE(policy.error().message.find(key), std::string::npos) << policy.error().message;
    Policy read;
    const auto fault = ReadPolicy({{key, value}}, read);
    ASSERT_TRUE(fault.has_value()) << key << "=" << value;
    EXPECT_NE(std::ranges::find(fault->keys, key), fault->keys.end()) << key << "=" << value;
  }
}

TEST(CheckPolicy, TargetOutOfRange_IsRefused) {
  for (std::int64_t target : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1023}, std::int64_t{1} << 43}) {
    Policy policy;
    policy.target_size_bytes = target;
    EXPECT_FALSE(CheckPolicy(policy).has_value()) << target;
  }
}

}  // namespace
}  // namespace firn::orient
