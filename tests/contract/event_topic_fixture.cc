// SPDX-License-Identifier: Apache-2.0
#include "contract/event_topic_fixture.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "ports/kafka_topic.h"
#include "ports/memory_topic.h"

namespace firn::contract {
namespace {

constexpr const char* kTopic = "events";
constexpr int kPatienceMs = 20'000;

[[noreturn]] void Die(const char* what) {
  std::fprintf(stderr, "the mock cluster: %s\n", what);
  std::abort();
}

class MemoryStore final : public TopicStore {
 public:
  std::unique_ptr<ports::EventTopic> Open(const std::string& group) override {
    return std::make_unique<ports::MemoryTopic>(log_, group);
  }
  void Append(ports::HttpHeaders headers, std::string body) override { log_->Append(std::move(headers), body); }
  void SetUp(bool is_up) override { log_->SetUp(is_up); }

 private:
  std::shared_ptr<ports::MemoryTopicLog> log_ = std::make_shared<ports::MemoryTopicLog>();
};

/// Brokers of librdkafka's own that speak the protocol on loopback.
class KafkaStore final : public TopicStore {
 public:
  KafkaStore() {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    char reason[256];
    for (const auto& [name, value] :
         {std::pair{"message.max.bytes", "4000000"}, std::pair{"linger.ms", "0"}, std::pair{"log_level", "0"}}) {
      if (rd_kafka_conf_set(conf, name, value, reason, sizeof reason) != RD_KAFKA_CONF_OK) Die(reason);
    }
    producer_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof reason);
    if (producer_ == nullptr) Die(reason);
    cluster_ = rd_kafka_mock_cluster_new(producer_, 1);
    rd_kafka_mock_topic_create(cluster_, kTopic, 1, 1);
    rd_kafka_brokers_add(producer_, rd_kafka_mock_cluster_bootstraps(cluster_));
  }
  ~KafkaStore() override {
    rd_kafka_mock_cluster_destroy(cluster_);
    rd_kafka_destroy(producer_);
  }
  std::unique_ptr<ports::EventTopic> Open(const std::string& group) override {
    auto opened = ports::OpenKafkaTopic({.brokers = rd_kafka_mock_cluster_bootstraps(cluster_),
                                         .topics = {kTopic},
                                         .group = group,
                                         // The mock gives nothing where a message is above the limits of a fetch; a
                                         // real broker gives that message alone.
                                         .properties = {{"statistics.interval.ms", "100"},
                                                        {"fetch.max.bytes", "4000000"},
                                                        {"fetch.message.max.bytes", "4000000"}}});
    if (!opened) Die(opened.error().message.c_str());
    return std::move(*opened);
  }
  void Append(ports::HttpHeaders headers, std::string body) override {
    rd_kafka_headers_t* made = rd_kafka_headers_new(headers.size());
    for (const auto& [name, value] : headers) {
      rd_kafka_header_add(made, name.c_str(), -1, value.data(), static_cast<ssize_t>(value.size()));
    }
    const auto error =
        rd_kafka_producev(producer_, RD_KAFKA_V_TOPIC(kTopic), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                          RD_KAFKA_V_VALUE(body.data(), body.size()), RD_KAFKA_V_HEADERS(made), RD_KAFKA_V_END);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) Die(rd_kafka_err2str(error));
    if (rd_kafka_flush(producer_, kPatienceMs) != RD_KAFKA_RESP_ERR_NO_ERROR) Die("a message does not arrive");
  }
  void SetUp(bool is_up) override {
    is_up ? rd_kafka_mock_broker_set_up(cluster_, 1) : rd_kafka_mock_broker_set_down(cluster_, 1);
  }

 private:
  rd_kafka_t* producer_ = nullptr;
  rd_kafka_mock_cluster_t* cluster_ = nullptr;
};

}  // namespace

std::vector<TopicCase> TopicCases() {
  return {{"memory", [] { return std::make_unique<MemoryStore>(); }},
          {"kafka", [] { return std::make_unique<KafkaStore>(); }}};
}

}  // namespace firn::contract
