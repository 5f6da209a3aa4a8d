// SPDX-License-Identifier: Apache-2.0
#include "ports/conditional_put.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "base/log.h"
#include "base/random.h"
#include "base/text_parts.h"
#include "ports/location.h"
#include "ports/tries.h"

namespace firn::ports {
namespace {

constexpr int kTaken = 412;
constexpr int kAtTheSameTime = 409;

/// What buckets were found to do, for the whole process.
class KnownBuckets {
 public:
  std::optional<bool> Find(const std::string& bucket) {
    const std::lock_guard lock(mutex_);
    const auto found = honoured_.find(bucket);
    return found == honoured_.end() ? std::nullopt : std::optional(found->second);
  }
  void Add(const std::string& bucket, bool honoured) {
    const std::lock_guard lock(mutex_);
    honoured_.insert_or_assign(bucket, honoured);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, bool> honoured_;
};

KnownBuckets& Known() {
  static KnownBuckets known;
  return known;
}

/// Azure has one status for a name that is taken and for a change at the same time.
bool IsTaken(const HttpResponse& response) {
  const std::string* azure = FindHeader(response, "x-ms-error-code");
  return response.status == kTaken || (response.status == kAtTheSameTime && azure && *azure == "BlobAlreadyExists");
}

}  // namespace

std::string_view XmlText(std::string_view document, std::string_view name) {
  const std::string begin = fmt::format("<{}>", name), end = fmt::format("</{}>", name);
  const std::size_t from = document.find(begin);
  if (from == std::string_view::npos) return {};
  const std::size_t to = document.find(end, from);
  if (to == std::string_view::npos) return {};
  return document.substr(from + begin.size(), to - from - begin.size());
}

std::string ReasonOf(const HttpResponse& response) {
  constexpr std::size_t kTextMax = 300;
  return fmt::format("the store answers {} {} {}", response.status, OneLine(XmlText(response.body, "Code"), kTextMax),
                     OneLine(XmlText(response.body, "Message"), kTextMax));
}

Result<std::string> ObjectPath(const std::string& location) {
  const std::string_view path = std::string_view(location).substr(SchemeOf(location).size() + 3);
  const std::size_t slash = path.find('/');
  if (slash == 0 || slash == std::string_view::npos || slash + 1 == path.size()) {
    return Error{Code::kInvalidArgument, fmt::format("`{}` names no object in a bucket", location)};
  }
  if (path.find("//") != std::string_view::npos) {
    return Error{Code::kUnsupported, location + ": keys with `//` are not supported"};
  }
  const std::string_view bucket = path.substr(0, slash);
  if (bucket == "." || bucket == "..") {
    return Error{Code::kInvalidArgument, fmt::format("`{}` names no bucket", location)};
  }
  return std::string(path);
}

Result<HttpResponse> ConditionalPut::Send(const std::string& location, ByteView bytes) {
  FIRN_ASSIGN(const HttpRequest request, store_.request(location, bytes));
  return http_->Send(request);
}

Status ConditionalPut::Put(const std::string& location, ByteView bytes) {
  FIRN_TRY(ObjectPath(location));
  bool may_be_there = false;  // by an earlier try
  Status failure = Ok();
  for (Tries tries(clock_); tries.Next();) {
    const auto response = Send(location, bytes);
    if (!response) {
      may_be_there |= response.error().code == Code::kOutcomeUnknown;
      failure = Error{Code::kUnavailable, fmt::format("{}: {}", location, response.error().message)};
      continue;
    }
    const int status = response->status;
    if (status / 100 == 2) return Ok();
    failure = Error{Code::kUnavailable, fmt::format("{}: {}", location, ReasonOf(*response))};
    // Both may be the answer to a second copy, made by something in between: then the first is ours.
    if (IsTaken(*response)) {
      may_be_there = true;
      failure = Error{Code::kConflict, location + ": file exists already"};
      break;
    }
    if (status == kAtTheSameTime) {
      may_be_there = true;
      failure = Error{Code::kConflict, location + ": is being written by another"};
    } else if (status == 501) {
      return Error{Code::kUnsupported, fmt::format("{}: {}", location, ReasonOf(*response))};
    } else if (IsPassingTrouble(status)) {
      may_be_there = true;
    } else {
      failure.error().code = Code::kInvalidArgument;
      break;
    }
  }
  return may_be_there ? Settle(location, bytes, std::move(failure)) : failure;
}

/// Ours may have arrived. Only bytes of another writer prove that it has not and never will.
Status ConditionalPut::Settle(const std::string& location, ByteView bytes, Status failure) {
  const auto source = plain_.Open(location);
  if (source && (*source)->size() != bytes.size()) return Error{Code::kConflict, location + ": file exists already"};
  const auto found = source ? ReadAll(**source, bytes.size()) : Result<Bytes>(source.error());
  if (found && std::ranges::equal(*found, bytes)) return Ok();
  if (found) return Error{Code::kConflict, location + ": file exists already"};
  return Error{Code::kUnavailable, fmt::format("{}; after that: {}", failure.error().message, found.error().message)};
}

Status ConditionalPut::CheckHonoured(const std::string& location) {
  const std::string_view path = std::string_view(location).substr(SchemeOf(location).size() + 3);
  const std::string bucket = fmt::format("{}/{}", store_.server, path.substr(0, path.find('/')));
  std::optional<bool> honoured = Known().Find(bucket);
  if (!honoured) {
    const Status probed = Probe(location);
    if (!probed && probed.error().code != Code::kUnsupported) return probed;
    honoured = probed.has_value();
    Known().Add(bucket, *honoured);
  }
  if (*honoured) return Ok();
  return Error{Code::kUnsupported,
               fmt::format("{}: the store does not honour conditional writes ({}), so two writers could make the same "
                           "version",
                           location, store_.condition)};
}

/// Ok, kUnsupported, or why it could not be found out.
Status ConditionalPut::Probe(const std::string& location) {
  Random random(static_cast<std::uint64_t>(clock_.Now().value) ^ static_cast<std::uint64_t>(clock_.MonotonicNs()));
  const std::string object = Join(ParentOf(location), fmt::format(".firn-probe-{}", random.NewUuid()));
  const std::string first = "first", second = "second";
  FIRN_TRY(Put(object, AsBytes(first)));
  const Status again = Put(object, AsBytes(second));
  if (Status deleted = plain_.Delete(object); !deleted) {
    Log(LogLevel::kWarn, fmt::format("left behind: {}", deleted.error().message));
  }
  if (again) return Error{Code::kUnsupported, "ignored"};
  return again.error().code == Code::kConflict ? Ok() : again;
}

}  // namespace firn::ports
