// SPDX-License-Identifier: Apache-2.0
#include "ports/kafka_topic.h"

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <utility>

#include "base/ascii.h"
#include "base/log.h"

namespace firn::ports {
namespace {

constexpr std::int64_t kCloseMs = 3'000;
constexpr int kPlaceMs = 2'000;
constexpr std::size_t kHeadersMax = 100;
using Setting = std::pair<std::string_view, std::string_view>;
/// What can be changed by properties.
constexpr std::array<Setting, 11> kDefaults = {{
    {"client.id", "firn"},
    {"auto.offset.reset", "latest"},
    {"queued.max.messages.kbytes", "16384"},
    {"queued.min.messages", "1000"},
    {"fetch.max.bytes", "8388608"},
    {"session.timeout.ms", "6000"},  // who was killed holds its partitions for so long; closing takes no longer
    {"heartbeat.interval.ms", "2000"},
    {"topic.metadata.refresh.interval.ms", "30000"},
    {"statistics.interval.ms", "500"},
    {"socket.keepalive.enable", "true"},
    {"log.connection.close", "false"},
}};
/// What this file depends on.
constexpr std::array<Setting, 3> kFixed = {{
    {"enable.auto.offset.store", "false"},  // Done() stores
    {"enable.auto.commit", "true"},         // what is stored
    {"enable.partition.eof", "false"},
}};
/// Names that have one of ours, or would take over what the service decides.
constexpr std::string_view kLoads = "firn loads no other libraries and starts no programs";
constexpr std::array<Setting, 9> kRefused = {{
    {"bootstrap.servers", "the setting `brokers` says it"},
    {"metadata.broker.list", "the setting `brokers` says it"},
    {"group.id", "the setting `group` says it"},
    {"auto.commit.enable", "firn decides it"},
    {"plugin.library.paths", kLoads},
    {"ssl.engine.location", kLoads},
    {"ssl.engine.id", kLoads},
    {"ssl.providers", kLoads},
    {"sasl.kerberos.kinit.cmd", kLoads},
}};

struct FreeConfiguration {
  void operator()(rd_kafka_conf_t* conf) const { rd_kafka_conf_destroy(conf); }
};
struct FreeList {
  void operator()(rd_kafka_topic_partition_list_t* list) const { rd_kafka_topic_partition_list_destroy(list); }
};
struct FreeMessage {
  void operator()(rd_kafka_message_t* message) const { rd_kafka_message_destroy(message); }
};
using Configuration = std::unique_ptr<rd_kafka_conf_t, FreeConfiguration>;
using List = std::unique_ptr<rd_kafka_topic_partition_list_t, FreeList>;
using Message = std::unique_ptr<rd_kafka_message_t, FreeMessage>;

class KafkaTopic final : public EventTopic {
 public:
  ~KafkaTopic() override;
  Status Start(const KafkaOptions& options);
  std::optional<TopicMessage> Take(std::int64_t wait_ms) override;
  void Done(const TopicMessage& message) override;
  TopicState state() const override;

 private:
  Result<Configuration> Configure(const KafkaOptions& options);
  static void OnRebalance(rd_kafka_t* client, rd_kafka_resp_err_t what, rd_kafka_topic_partition_list_t* partitions,
                          void* self);
  static void OnError(rd_kafka_t*, int code, const char* reason, void* self);
  static int OnStatistics(rd_kafka_t*, char* text, std::size_t size, void* self);
  static void OnLog(const rd_kafka_t*, int level, const char* facility, const char* text);
  void NoteTrouble(rd_kafka_resp_err_t code, std::string_view reason);

  rd_kafka_t* client_ = nullptr;
  bool begins_at_end_ = true;
  mutable std::mutex mutex_;
  TopicState state_;
};

Status Set(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
  // The library's own text can quote the value.
  std::array<char, 512> ignored{};
  switch (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), ignored.data(), ignored.size())) {
    case RD_KAFKA_CONF_OK: return Ok();
    case RD_KAFKA_CONF_UNKNOWN:
      return Error{Code::kInvalidArgument, fmt::format("kafka: `{}` is no property of librdkafka", name)};
    case RD_KAFKA_CONF_INVALID: break;
  }
  return Error{Code::kInvalidArgument, fmt::format("kafka: `{}` cannot have the value that it was given", name)};
}

Status CheckNames(const Properties& properties) {
  const auto find = [&](const auto& names, bool with_reason) -> Status {
    for (const auto& [name, text] : names) {
      if (!properties.contains(name)) continue;
      return Error{Code::kInvalidArgument,
                   fmt::format("kafka: `{}` cannot be set: {}", name, with_reason ? text : "firn decides it")};
    }
    return Ok();
  };
  FIRN_TRY(find(kRefused, true));
  return find(kFixed, false);
}

Result<Configuration> KafkaTopic::Configure(const KafkaOptions& options) {
  FIRN_TRY(CheckNames(options.properties));
  Configuration made(rd_kafka_conf_new());
  rd_kafka_conf_t* conf = made.get();
  for (const auto& [name, value] : kDefaults) FIRN_TRY(Set(conf, std::string(name), std::string(value)));
  for (const auto& [name, value] : options.properties) FIRN_TRY(Set(conf, name, value));
  for (const auto& [name, value] : kFixed) FIRN_TRY(Set(conf, std::string(name), std::string(value)));
  FIRN_TRY(Set(conf, "bootstrap.servers", options.brokers));
  FIRN_TRY(Set(conf, "group.id", options.group));
  rd_kafka_conf_set_opaque(conf, this);
  const std::string begin = PropertyOr(options.properties, "auto.offset.reset", "latest");
  begins_at_end_ = begin == "latest" || begin == "largest" || begin == "end";
  rd_kafka_conf_set_rebalance_cb(conf, OnRebalance);
  rd_kafka_conf_set_error_cb(conf, OnError);
  rd_kafka_conf_set_stats_cb(conf, OnStatistics);
  rd_kafka_conf_set_log_cb(conf, OnLog);
  return made;
}

Status KafkaTopic::Start(const KafkaOptions& options) {
  FIRN_ASSIGN(Configuration configuration, Configure(options));
  std::array<char, 512> reason{};
  client_ = rd_kafka_new(RD_KAFKA_CONSUMER, configuration.get(), reason.data(), reason.size());
  if (client_ == nullptr) return Error{Code::kInvalidArgument, fmt::format("kafka: {}", reason.data())};
  [[maybe_unused]] rd_kafka_conf_t* const owned_by_client = configuration.release();
  rd_kafka_poll_set_consumer(client_);
  const List topics(rd_kafka_topic_partition_list_new(static_cast<int>(options.topics.size())));
  for (const std::string& topic : options.topics) {
    rd_kafka_topic_partition_list_add(topics.get(), topic.c_str(), RD_KAFKA_PARTITION_UA);
  }
  if (const auto error = rd_kafka_subscribe(client_, topics.get()); error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return Error{Code::kInvalidArgument, fmt::format("kafka: topics: {}", rd_kafka_err2str(error))};
  }
  return Ok();
}

KafkaTopic::~KafkaTopic() {
  if (client_ == nullptr) return;
  // Commits, and leaves the group. Not rd_kafka_consumer_close: that one has no limit.
  rd_kafka_queue_t* queue = rd_kafka_queue_new(client_);
  rd_kafka_error_t* error = rd_kafka_consumer_close_queue(client_, queue);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kCloseMs);
  while (error == nullptr && rd_kafka_consumer_closed(client_) == 0 && std::chrono::steady_clock::now() < end) {
    rd_kafka_event_t* event = rd_kafka_queue_poll(queue, 50);
    if (event == nullptr) continue;
    if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_REBALANCE) {
      OnRebalance(client_, rd_kafka_event_error(event), rd_kafka_event_topic_partition_list(event), this);
    }
    rd_kafka_event_destroy(event);
  }
  if (rd_kafka_consumer_closed(client_) == 0) rd_kafka_assign(client_, nullptr);  // or destroying waits for ever
  if (error != nullptr) rd_kafka_error_destroy(error);
  rd_kafka_queue_destroy(queue);
  rd_kafka_destroy_flags(client_, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

bool ReadHeaders(const rd_kafka_message_t& message, std::size_t bytes_max, HttpHeaders& headers) {
  rd_kafka_headers_t* found = nullptr;
  if (rd_kafka_message_headers(&message, &found) != RD_KAFKA_RESP_ERR_NO_ERROR) return true;
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0; rd_kafka_header_get_all(found, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR; ++i) {
    std::string lower = AsciiLower(name);
    if (i >= kHeadersMax || lower.size() + size > bytes_max) return false;
    bytes_max -= lower.size() + size;
    headers.emplace_back(std::move(lower), value != nullptr ? std::string(static_cast<const char*>(value), size) : "");
  }
  return true;
}

std::optional<TopicMessage> KafkaTopic::Take(std::int64_t wait_ms) {
  const Message message(rd_kafka_consumer_poll(client_, static_cast<int>(wait_ms)));
  if (message == nullptr) return std::nullopt;
  if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    NoteTrouble(message->err, rd_kafka_message_errstr(message.get()));
    return std::nullopt;
  }
  TopicMessage taken{
      .topic = rd_kafka_topic_name(message->rkt), .partition = message->partition, .offset = message->offset};
  taken.is_too_large =
      message->len > kMessageBytesMax || !ReadHeaders(*message, kMessageBytesMax - message->len, taken.headers);
  if (taken.is_too_large) {
    taken.headers.clear();
  } else if (message->payload != nullptr) {
    taken.body.assign(static_cast<const char*>(message->payload), message->len);
  }
  return taken;
}

void KafkaTopic::Done(const TopicMessage& message) {
  const List list(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(list.get(), message.topic.c_str(), message.partition)->offset = message.offset + 1;
  // Refused where the partition has gone to another reader meanwhile: that one reads it again.
  rd_kafka_offsets_store(client_, list.get());
}

/// Places at the end for the partitions of which the group has none yet: written into the list, and returned.
/// Without a place that is committed, the end would be looked up anew after the next trouble, behind what came in
/// meanwhile. Null where there is none, or where brokers do not tell: then the library looks for itself.
List PlacesAtEnd(rd_kafka_t* client, rd_kafka_topic_partition_list_t* partitions) {
  if (rd_kafka_committed(client, partitions, kPlaceMs) != RD_KAFKA_RESP_ERR_NO_ERROR) return nullptr;
  List fresh(rd_kafka_topic_partition_list_new(partitions->cnt));
  for (int i = 0; i < partitions->cnt; ++i) {
    const auto& one = partitions->elems[i];
    if (one.err != RD_KAFKA_RESP_ERR_NO_ERROR || one.offset != RD_KAFKA_OFFSET_INVALID) continue;
    rd_kafka_topic_partition_list_add(fresh.get(), one.topic, one.partition)->offset = RD_KAFKA_OFFSET_END;
  }
  if (fresh->cnt == 0) return nullptr;
  if (rd_kafka_offsets_for_times(client, fresh.get(), kPlaceMs) != RD_KAFKA_RESP_ERR_NO_ERROR) return nullptr;
  for (int i = fresh->cnt - 1; i >= 0; --i) {
    const auto& one = fresh->elems[i];
    if (one.err != RD_KAFKA_RESP_ERR_NO_ERROR || one.offset < 0) {
      rd_kafka_topic_partition_list_del_by_idx(fresh.get(), i);
      continue;
    }
    rd_kafka_topic_partition_list_set_offset(partitions, one.topic, one.partition, one.offset);
  }
  return fresh;
}

void KafkaTopic::OnRebalance(rd_kafka_t* client, rd_kafka_resp_err_t what, rd_kafka_topic_partition_list_t* partitions,
                             void* self) {
  const bool is_incremental = std::string_view(rd_kafka_rebalance_protocol(client)) == "COOPERATIVE";
  if (what != RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
    if (is_incremental) {
      if (auto* error = rd_kafka_incremental_unassign(client, partitions)) rd_kafka_error_destroy(error);
    } else {
      rd_kafka_assign(client, nullptr);
    }
    return;
  }
  const List fresh = static_cast<KafkaTopic*>(self)->begins_at_end_ ? PlacesAtEnd(client, partitions) : nullptr;
  if (is_incremental) {
    if (auto* error = rd_kafka_incremental_assign(client, partitions)) rd_kafka_error_destroy(error);
  } else {
    rd_kafka_assign(client, partitions);
  }
  if (fresh != nullptr && fresh->cnt > 0) rd_kafka_commit(client, fresh.get(), 1);
}

TopicState KafkaTopic::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void KafkaTopic::NoteTrouble(rd_kafka_resp_err_t code, std::string_view reason) {
  const std::lock_guard lock(mutex_);
  if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) state_.is_up = false;
  state_.trouble = fmt::format("{}: {}", rd_kafka_err2name(code), reason);
}

void KafkaTopic::OnError(rd_kafka_t*, int code, const char* reason, void* self) {
  static_cast<KafkaTopic*>(self)->NoteTrouble(static_cast<rd_kafka_resp_err_t>(code), reason);
}

int KafkaTopic::OnStatistics(rd_kafka_t*, char* text, std::size_t size, void* self) {
  auto& topic = *static_cast<KafkaTopic*>(self);
  const auto parsed = ParseKafkaStatistics({text, size});
  if (!parsed) return 0;
  const std::lock_guard lock(topic.mutex_);
  std::string trouble = std::move(topic.state_.trouble);
  topic.state_ = *parsed;
  // A trouble lasts until something is read from again.
  if (!parsed->is_up || parsed->partitions == 0) topic.state_.trouble = std::move(trouble);
  return 0;
}

void KafkaTopic::OnLog(const rd_kafka_t*, int level, const char* facility, const char* text) {
  // What matters of it comes as a trouble, once.
  constexpr int kCritical = 2;
  Log(level <= kCritical ? LogLevel::kError : LogLevel::kDebug, fmt::format("librdkafka: {}: {}", facility, text));
}

}  // namespace

Result<std::unique_ptr<EventTopic>> OpenKafkaTopic(const KafkaOptions& options) {
  if (options.brokers.empty()) return Error{Code::kInvalidArgument, "kafka: no brokers are given"};
  if (options.topics.empty()) return Error{Code::kInvalidArgument, "kafka: no topic is given"};
  if (options.group.empty()) return Error{Code::kInvalidArgument, "kafka: the group has no name"};
  auto topic = std::make_unique<KafkaTopic>();
  FIRN_TRY(topic->Start(options));
  return std::unique_ptr<EventTopic>(std::move(topic));
}

}  // namespace firn::ports
