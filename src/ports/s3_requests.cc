// SPDX-License-Identifier: Apache-2.0
#include "ports/s3_requests.h"

#include <fmt/format.h>

#include <charconv>

#include "ports/tries.h"

namespace firn::ports {
namespace {

/// Of a copy and of Complete: the store answers when it has copied, or joined the parts.
constexpr std::int64_t kLongTimeoutMs = 10 * 60 * 1000;

bool MayPass(const HttpResponse& response) {
  if (response.status / 100 == 2) return true;  // "InternalError", "SlowDown" behind a status that was sent too early
  if (response.status == 501) return false;
  return IsPassingTrouble(response.status);
}

/// The status comes before a long work is done: what became of it is in the body.
bool HasErrorBody(const HttpResponse& response) { return response.body.find("<Error>") != std::string::npos; }

Code CodeOf(const HttpResponse& response) {
  const std::string_view code = XmlText(response.body, "Code");
  if (response.status == 412 || code == "PreconditionFailed") return Code::kCorrupt;
  if (response.status == 501 || response.status == 405 || code == "NotImplemented") return Code::kUnsupported;
  if (response.status == 404) return Code::kNotFound;
  if (code == "AccessDenied") return Code::kInvalidArgument;
  return MayPass(response) ? Code::kUnavailable : Code::kInvalidArgument;
}

/// Of an XML answer or a header: with its quotes.
std::string TagOf(std::string_view text) {
  std::string tag;
  for (std::size_t at = 0; at < text.size();) {
    constexpr std::string_view kQuote = "&quot;";
    const bool entity = text.substr(at).starts_with(kQuote) || text.substr(at).starts_with("&#34;");
    tag += entity ? '"' : text[at];
    at += !entity ? 1 : text.find(';', at) + 1 - at;
  }
  if (!tag.empty() && tag.front() != '"') tag = '"' + tag + '"';
  return tag;
}

std::string PartQuery(const std::string& upload, std::size_t number) {
  return fmt::format("partNumber={}&uploadId={}", number, UrlEncode(upload));
}

Error NoTag(const std::string& location) { return {Code::kUnavailable, location + ": a part without a tag"}; }

}  // namespace

Result<HttpRequest> S3Requests::Request(const std::string& method, const std::string& location,
                                        const std::string& query) const {
  FIRN_ASSIGN(std::string url, S3UrlOf(endpoint_, location));
  if (!query.empty()) url += '?' + query;
  return HttpRequest{.method = method, .url = std::move(url)};
}

/// Answers of success only. `may_be_done`: an earlier try may have had an effect.
Result<HttpResponse> S3Requests::Send(const std::string& location, HttpRequest request, bool& may_be_done) {
  const HttpHeaders headers = request.headers;
  Error failure{Code::kUnavailable, location};
  for (Tries tries(clock_); tries.Next();) {
    request.headers = headers;
    if (endpoint_.keys) FIRN_TRY(SignForS3(request, endpoint_.keys(), endpoint_.region, clock_.Now()));
    Result<HttpResponse> response = http_->Send(request);
    if (!response) {
      const Code code = response.error().code;  // kLimit: there was an answer, and it was too long
      may_be_done = may_be_done || code == Code::kOutcomeUnknown || code == Code::kLimit;
      failure = {Code::kUnavailable, fmt::format("{}: {}", location, response.error().message)};
      if (response.error().code == Code::kInvalidArgument) failure.code = Code::kInvalidArgument;
      continue;
    }
    if (response->status / 100 == 2 && !HasErrorBody(*response)) return response;
    failure = {CodeOf(*response), fmt::format("{}: {}", location, ReasonOf(*response))};
    if (failure.code != Code::kUnavailable) return failure;
    may_be_done = true;
  }
  return failure;
}

Result<HttpResponse> S3Requests::Send(const std::string& location, HttpRequest request) {
  bool may_be_done = false;
  return Send(location, std::move(request), may_be_done);
}

Result<std::string> S3Requests::Begin(const std::string& location) {
  FIRN_ASSIGN(HttpRequest request, Request("POST", location, "uploads="));
  request.headers = {{"Content-Type", "application/octet-stream"}};
  FIRN_ASSIGN(const HttpResponse response, Send(location, request));
  std::string upload(XmlText(response.body, "UploadId"));
  if (upload.empty()) return Error{Code::kUnavailable, location + ": an upload without an id"};
  return upload;
}

Result<std::string> S3Requests::PutPart(const std::string& location, const std::string& upload, std::size_t number,
                                        std::string bytes) {
  FIRN_ASSIGN(HttpRequest request, Request("PUT", location, PartQuery(upload, number)));
  request.is_repeatable = true;
  request.headers = {{"Content-Type", "application/octet-stream"}};
  request.body = std::move(bytes);
  FIRN_ASSIGN(const HttpResponse response, Send(location, std::move(request)));
  const std::string* tag = FindHeader(response, "etag");
  if (tag == nullptr || tag->empty()) return NoTag(location);
  return TagOf(*tag);
}

Result<std::string> S3Requests::CopyPart(const std::string& location, const std::string& upload, std::size_t number,
                                         const FileMark& source, std::uint64_t offset, std::uint64_t size) {
  FIRN_ASSIGN(HttpRequest request, Request("PUT", location, PartQuery(upload, number)));
  request.is_repeatable = true;
  request.timeout_ms = kLongTimeoutMs;
  FIRN_ASSIGN(const std::string source_path, ObjectPath(source.location));
  request.headers = {{"x-amz-copy-source", UrlEncodePath(source_path)},
                     {"x-amz-copy-source-if-match", source.version},
                     {"x-amz-copy-source-range", fmt::format("bytes={}-{}", offset, offset + size - 1)}};
  Result<HttpResponse> response = Send(location, std::move(request));
  if (!response && response.error().code == Code::kCorrupt) {
    return Error{Code::kCorrupt, source.name + ": has changed while it was read"};
  }
  if (!response) {
    const bool is_gone = response.error().message.find("NoSuchKey") != std::string::npos;
    return std::move(response.error()).In(is_gone ? source.name : "a copy of " + source.name);
  }
  std::string tag = TagOf(XmlText(response->body, "ETag"));
  if (tag.empty()) return NoTag(location);
  return tag;
}

Status S3Requests::Complete(const std::string& location, const std::string& upload,
                            const std::vector<std::string>& tags) {
  FIRN_ASSIGN(HttpRequest request, Request("POST", location, "uploadId=" + UrlEncode(upload)));
  request.timeout_ms = kLongTimeoutMs;
  request.headers = {{"Content-Type", "application/xml"}};
  request.body = "<CompleteMultipartUpload>";
  for (std::size_t i = 0; i < tags.size(); ++i) {
    request.body += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag></Part>", i + 1, tags[i]);
  }
  request.body += "</CompleteMultipartUpload>";
  bool may_be_done = false;
  const Result<HttpResponse> response = Send(location, std::move(request), may_be_done);
  if (response) return Ok();
  Error error = response.error();
  // An earlier try that was done has ended the upload: then there is none any more.
  if (may_be_done) error.code = Code::kUnavailable;
  return error;
}

Status S3Requests::Abort(const std::string& location, const std::string& upload) {
  FIRN_ASSIGN(HttpRequest request, Request("DELETE", location, "uploadId=" + UrlEncode(upload)));
  request.is_repeatable = true;
  const Result<HttpResponse> response = Send(location, std::move(request));
  if (response || response.error().code == Code::kNotFound) return Ok();
  return response.error();
}

Status S3Requests::Delete(const std::string& location) {
  FIRN_ASSIGN(HttpRequest request, Request("DELETE", location, ""));
  request.is_repeatable = true;
  const Result<HttpResponse> response = Send(location, std::move(request));
  if (response || response.error().code == Code::kNotFound) return Ok();
  return response.error();
}

Result<std::optional<S3Object>> S3Requests::Head(const std::string& location) {
  FIRN_ASSIGN(HttpRequest request, Request("HEAD", location, ""));
  const Result<HttpResponse> response = Send(location, std::move(request));
  if (!response && response.error().code == Code::kNotFound) return std::optional<S3Object>();
  if (!response) return response.error();
  const std::string* tag = FindHeader(*response, "etag");
  const std::string* length = FindHeader(*response, "content-length");
  S3Object object;
  if (tag == nullptr || tag->empty() || tag->starts_with("W/") || length == nullptr) return std::optional<S3Object>();
  const auto parsed = std::from_chars(length->data(), length->data() + length->size(), object.size_bytes);
  if (parsed.ec != std::errc() || parsed.ptr != length->data() + length->size()) return std::optional<S3Object>();
  object.tag = TagOf(*tag);
  return std::optional(std::move(object));
}

}  // namespace firn::ports
