// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"

#include "service/configuration.h"

namespace firn::service {
namespace {

constexpr int kDepthMax = 16;
constexpr std::size_t kValuesMax = 10'000;
constexpr std::array<std::string_view, 6> kOwnKeys = {"kafka",  "log-level",        "map",
                                                      "memory", "target-file-size", "threads"};

class Reader {
 public:
  Reader(const std::string& file, ConfigurationTree& tree) : file_(file), tree_(tree) {}

  Status Read(const YAML::Node& root) {
    if (!root.IsDefined() || root.IsNull()) return Ok();
    FIRN_TRY(ForEach(root, "", [this](const std::string& key, const YAML::Node& value) {
      if (key == "catalog") return Catalogs(value);
      if (key == "firn") return Own(value);
      if (key == "catalogs") return Status(Wrong(key, "the name is `catalog`, for all of them"));
      return Flatten(value, key, key, tree_.top, 0);
    }));
    return Ok();
  }

 private:
  Error Wrong(const std::string& where, std::string_view what) const {
    return {Code::kInvalidArgument, fmt::format("{}: {}{}{}", file_, where, where.empty() ? "" : ": ", what)};
  }

  /// Members of a mapping, names in lower case; a name may come once.
  template <class Visit>
  Status ForEach(const YAML::Node& node, const std::string& where, Visit visit) {
    if (!node.IsMap()) return Wrong(where, "names and values are expected");
    std::vector<std::string> seen;
    for (const auto& member : node) {
      if (!member.first.IsScalar()) return Wrong(where, "a name must be plain text");
      std::string key = AsciiLower(member.first.Scalar());
      if (std::ranges::find(seen, key) != seen.end()) return Wrong(where, fmt::format("`{}` is given twice", key));
      if (seen.size() == kValuesMax) return Wrong(where, "too many values");
      seen.push_back(key);
      FIRN_TRY(visit(key, member.second));
    }
    return Ok();
  }

  Status Catalogs(const YAML::Node& node) {
    if (node.IsNull()) return Ok();
    return ForEach(node, "catalog", [this](const std::string& name, const YAML::Node& value) -> Status {
      ports::Properties& properties = tree_.catalogs[name];
      if (value.IsNull()) return Ok();
      return ForEach(value, "catalog." + name, [&](const std::string& key, const YAML::Node& inner) {
        return Flatten(inner, key, "catalog." + name + "." + key, properties, 0);
      });
    });
  }

  Status Own(const YAML::Node& node) {
    if (node.IsNull()) return Ok();
    return ForEach(node, "firn", [this](const std::string& key, const YAML::Node& value) -> Status {
      if (std::ranges::find(kOwnKeys, key) == kOwnKeys.end()) {
        return Wrong("firn." + key, fmt::format("unknown setting; there are: {}", fmt::join(kOwnKeys, ", ")));
      }
      if (key == "kafka") return Kafka(value);
      if (key != "map") return Flatten(value, key, "firn." + key, tree_.own, kDepthMax);
      if (value.IsScalar()) {
        tree_.own_rules.push_back(value.Scalar());
        return Ok();
      }
      if (!value.IsSequence()) return Wrong("firn.map", "a list of FROM=TO is expected");
      for (const YAML::Node& rule : value) {
        if (!rule.IsScalar()) return Wrong("firn.map", "a list of FROM=TO is expected");
        tree_.own_rules.push_back(rule.Scalar());
      }
      return Ok();
    });
  }

  /// "kafka.NAME"; topics also as a list.
  Status Kafka(const YAML::Node& node) {
    if (node.IsNull()) return Ok();
    return ForEach(node, "firn.kafka", [this](const std::string& key, const YAML::Node& value) -> Status {
      if (key != "topics" || !value.IsSequence()) {
        return Flatten(value, "kafka." + key, "firn.kafka." + key, tree_.own, 0);
      }
      std::string topics;
      for (const YAML::Node& topic : value) {
        if (!topic.IsScalar()) return Wrong("firn.kafka.topics", "a list of names is expected");
        topics += (topics.empty() ? "" : ",") + topic.Scalar();
      }
      tree_.own.insert_or_assign("kafka.topics", topics);
      return Ok();
    });
  }

  /// Nested names are joined by dots: `s3: {endpoint: X}` is "s3.endpoint".
  Status Flatten(const YAML::Node& node, const std::string& key, const std::string& where, ports::Properties& into,
                 int depth) {
    if (node.IsNull() || node.IsScalar()) {
      if (++values_ > kValuesMax) return Wrong(where, "too many values");
      into.insert_or_assign(key, node.IsNull() ? "" : node.Scalar());
      return Ok();
    }
    if (!node.IsMap()) return Wrong(where, "a single value is expected");
    if (depth >= kDepthMax) return Wrong(where, "is nested too deeply");
    return ForEach(node, where, [&](const std::string& name, const YAML::Node& value) {
      return Flatten(value, key + "." + name, where + "." + name, into, depth + 1);
    });
  }

  const std::string& file_;
  ConfigurationTree& tree_;
  std::size_t values_ = 0;
};

}  // namespace

Status ReadConfigurationText(const std::string& file, const std::string& text, ConfigurationTree& tree) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    for (std::size_t i = 1; i < documents.size(); ++i) {
      if (documents[i].IsNull()) continue;
      return Error{Code::kInvalidArgument, fmt::format("{}: line {}: a second document: one is read, write all in it",
                                                       file, documents[i].Mark().line + 1)};
    }
    return Reader(file, tree).Read(documents.empty() ? YAML::Node() : documents.front());
  } catch (const YAML::Exception& fault) {
    // The library's message can quote the line, and with it a secret.
    return Error{Code::kInvalidArgument, fmt::format("{}: line {}, column {}: this is no YAML", file,
                                                     fault.mark.line + 1, fault.mark.column + 1)};
  }
}

}  // namespace firn::service
