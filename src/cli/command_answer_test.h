// SPDX-License-Identifier: Apache-2.0
//
// What a command said, for tests that run commands.
//
// Guarantees: Json of output that is none is a failure of the test, and null.
// Threads: one owner.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "format/json/json.h"

namespace firn::cli {

struct Answer {
  int exit = 0;
  std::string out, err;

  json::Value Json() const {
    auto value = json::Parse(out);
    EXPECT_TRUE(value.has_value()) << out;
    return value ? std::move(*value) : json::Value();
  }
};

}  // namespace firn::cli
