// SPDX-License-Identifier: Apache-2.0
#include "api/news_pump.h"

#include <fmt/format.h>

#include "base/threads.h"
#include "format/json/json.h"

namespace firn::api {
namespace {

constexpr std::int64_t kWaitMs = 250;
constexpr std::size_t kNotesMax = 256;

std::string_view Word(service::News::Kind kind) {
  switch (kind) {
    case service::News::Kind::kTable: return "table";
    case service::News::Kind::kDecision: return "decision";
    case service::News::Kind::kJob: return "job";
    case service::News::Kind::kQueue: return "queue";
    case service::News::Kind::kSummary: return "fleet";
  }
  return "fleet";
}

}  // namespace

std::string StreamText(const service::News& news) {
  json::Value data = json::Value::Object();
  data.Set("table", news.table);
  data.Set("id", news.id);
  return fmt::format("id: {}\nevent: {}\ndata: {}\n\n", news.position, Word(news.kind), json::Write(data));
}

NewsPump::NewsPump(service::FleetNews& feed, HttpServer& server)
    : feed_(feed), server_(server), position_(feed.Position()) {}

NewsPump::~NewsPump() { stopping_ = true; }

Result<std::unique_ptr<NewsPump>> NewsPump::Start(service::FleetNews& feed, HttpServer& server) {
  std::unique_ptr<NewsPump> pump(new NewsPump(feed, server));
  FIRN_ASSIGN(pump->thread_, StartThread([self = pump.get()] { self->Run(); }).In("the stream of news"));
  return pump;
}

void NewsPump::Run() {
  std::int64_t silent_ms = 0;
  while (!stopping_) {
    const service::NewsSince since = feed_.After(position_, kNotesMax, kWaitMs);
    position_ = since.position;
    std::string text = since.lost ? "event: lost\ndata: {}\n\n" : "";
    for (const service::News& news : since.items) text += StreamText(news);
    silent_ms = text.empty() ? silent_ms + kWaitMs : 0;
    if (silent_ms >= kBeatMs) {
      text = ":\n\n";
      silent_ms = 0;
    }
    if (!text.empty()) server_.Broadcast(text);
    if (since.closed) return;
  }
}

}  // namespace firn::api
