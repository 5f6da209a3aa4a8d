// SPDX-License-Identifier: Apache-2.0
//
// A FileIO whose metadata files are made by conditional requests, so that one writer alone succeeds.
//
// In: a FileIO that only looks before it writes, and how its store wants conditional requests. Out: one FileIO.
// Guarantees: metadata files (*.metadata.json) are held and sent at once under the condition that the name is free;
//   CheckExclusive tells whether the store honours it. Everything else is as below.
// Cost: a metadata file is held. Threads: as below. Errors: as below, and of conditional_put.h.
// Source: conditional_put.h.
#pragma once

#include <memory>

#include "ports/conditional_put.h"

namespace firn::ports {

/// `clock` must live longer.
std::unique_ptr<FileIO> MakeConditionalFileIO(std::unique_ptr<FileIO> plain, std::shared_ptr<Http> http,
                                              ConditionalStore store, Clock& clock);

}  // namespace firn::ports
