// SPDX-License-Identifier: Apache-2.0
#include "service/policy_file.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <optional>

namespace firn::service {
namespace {

constexpr int kDepthMax = 4;
constexpr std::size_t kMembersMax = 64;
/// What work of many tables together can be given.
constexpr std::array<std::string_view, 5> kScopeKeys = {"budget.bytes-per-hour", "budget.concurrent-jobs",
                                                        "budget.worker-seconds-per-hour", "priority", "quiet-hours"};

class Reader {
 public:
  explicit Reader(std::string_view file) : file_(file) {}

  Result<FleetPolicy> Read(const YAML::Node& root) {
    FleetPolicy fleet;
    if (!root.IsDefined() || root.IsNull()) return fleet;
    FIRN_TRY(ForEach(root, "", [&](const std::string& key, const YAML::Node& name, const YAML::Node& value) -> Status {
      if (key == "everything") return Everything(value, fleet.everything);
      if (key == "databases") return Rules(value, key, fleet.databases);
      if (key == "policies") return Rules(value, key, fleet.tables);
      return Wrong(name, key, "is not known; there are: everything, databases, policies");
    }));
    return fleet;
  }

 private:
  std::string Place(const YAML::Node& node) const { return fmt::format("{}:{}", file_, node.Mark().line + 1); }

  Error Wrong(const YAML::Node& node, std::string_view key, std::string_view what) const {
    return {Code::kInvalidArgument, fmt::format("{}: {}{}{}", Place(node), key, key.empty() ? "" : ": ", what)};
  }

  /// Members of a mapping; a name may come once.
  template <class Visit>
  Status ForEach(const YAML::Node& node, const std::string& where, Visit visit) {
    if (!node.IsMap()) return Wrong(node, where, "names and values are expected");
    std::vector<std::string> seen;
    for (const auto& member : node) {
      if (!member.first.IsScalar()) return Wrong(member.first, where, "a name must be plain text");
      const std::string& name = member.first.Scalar();
      const std::string key = where.empty() ? name : where + "." + name;
      if (seen.size() == kMembersMax) return Wrong(member.first, key, "there are too many names");
      if (std::ranges::find(seen, name) != seen.end()) return Wrong(member.first, key, "is given twice");
      seen.push_back(name);
      FIRN_TRY(visit(key, member.first, member.second));
    }
    return Ok();
  }

  /// Nested names are joined by dots: `budget: {concurrent-jobs: 2}` is "budget.concurrent-jobs".
  Status Flatten(const std::string& key, const YAML::Node& name, const YAML::Node& value, int depth,
                 PolicyValues& values) {
    if (value.IsMap() && depth < kDepthMax) {
      return ForEach(value, key, [&](const std::string& inner, const YAML::Node& inner_name, const YAML::Node& node) {
        return Flatten(inner, inner_name, node, depth + 1, values);
      });
    }
    if (!value.IsScalar()) return Wrong(name, key, "a single value is expected");
    const bool added = values.emplace(key, PolicyValue{value.Scalar(), Place(name)}).second;
    if (!added) return Wrong(name, key, "is given twice");
    return Ok();
  }

  /// An error of a value, put to the line that it is about.
  static Status Check(const PolicyValues& values, const std::string& rule_place) {
    const auto fault = FindFault(values);
    if (!fault) return Ok();
    const std::string key = fault->keys.empty() ? "" : fault->keys.front();
    const std::string& place = key.empty() ? rule_place : values.at(key).place;
    return Error{Code::kInvalidArgument, fmt::format("{}: {}{}{}", place, key, key.empty() ? "" : ": ", fault->text)};
  }

  Status CheckScope(const PolicyValues& values) const {
    for (const auto& [key, value] : values) {
      if (std::ranges::find(kScopeKeys, key) != kScopeKeys.end()) continue;
      return Error{Code::kInvalidArgument, fmt::format("{}: {}: is not known here; there are: {}", value.place, key,
                                                       fmt::join(kScopeKeys, ", "))};
    }
    return Ok();
  }

  Status Everything(const YAML::Node& node, PolicyValues& values) {
    if (node.IsNull()) return Ok();
    FIRN_TRY(ForEach(node, "", [&](const std::string& key, const YAML::Node& name, const YAML::Node& value) -> Status {
      if (key == "priority") return Wrong(name, key, "of everything means nothing");
      return Flatten(key, name, value, 0, values);
    }));
    FIRN_TRY(CheckScope(values));
    return Check(values, Place(node));
  }

  Status Rules(const YAML::Node& node, const std::string& key, std::vector<PolicyRule>& rules) {
    if (node.IsNull()) return Ok();
    if (!node.IsSequence()) return Wrong(node, key, "a list is expected");
    for (const YAML::Node& element : node) {
      if (rules.size() == kPolicyRulesMax) {
        return Error{Code::kLimit, fmt::format("{}: {}: more than {} rules", Place(element), key, kPolicyRulesMax)};
      }
      FIRN_ASSIGN(PolicyRule rule, Rule(element, key));
      FIRN_TRY(CheckReached(rule, rules));
      rules.push_back(std::move(rule));
    }
    return Ok();
  }

  Result<PolicyRule> Rule(const YAML::Node& node, const std::string& list) {
    PolicyRule rule;
    FIRN_TRY(ForEach(node, "", [&](const std::string& key, const YAML::Node& name, const YAML::Node& value) -> Status {
      if (key == "match") return Match(name, value, list == "databases", rule);
      if (key != "force" || list == "databases") return Flatten(key, name, value, 0, rule.values);
      return ForEach(value, "", [&](const std::string& inner, const YAML::Node& inner_name, const YAML::Node& text) {
        return Flatten(inner, inner_name, text, 1, rule.forced);
      });
    }));
    if (rule.match.empty()) return Wrong(node, "match", "is missing");
    if (list == "databases") FIRN_TRY(CheckScope(rule.values));
    for (const auto& [key, value] : rule.forced) {
      if (!rule.values.contains(key)) continue;
      return Error{Code::kInvalidArgument, fmt::format("{}: {}: is given and forced in one rule", value.place, key)};
    }
    FIRN_TRY(Check(rule.values, Place(node)));
    FIRN_TRY(Check(rule.forced, Place(node)));
    return rule;
  }

  Status Match(const YAML::Node& name, const YAML::Node& value, bool of_databases, PolicyRule& rule) {
    if (!value.IsScalar() || value.Scalar().empty()) return Wrong(name, "match", "a pattern is expected");
    auto glob = NameGlob::Parse(value.Scalar());
    if (!glob) return Wrong(name, "match", glob.error().message);
    const std::string_view names = of_databases ? "catalog.namespace" : "catalog.namespace.table";
    if (!glob->CanFit(of_databases ? 2 : 3)) {
      return Wrong(
          name, "match",
          fmt::format("\"{0}\" fits nothing: names are {1}; write \"*.{0}\", or \"{0}.**\"", value.Scalar(), names));
    }
    rule.match = value.Scalar();
    rule.glob = std::move(*glob);
    return Ok();
  }

  /// A key that an earlier rule sets for the same names, or for all of them, never counts.
  Status CheckReached(const PolicyRule& rule, const std::vector<PolicyRule>& earlier) const {
    for (const PolicyRule& other : earlier) {
      if (other.match != rule.match && other.match != "**") continue;
      for (const auto member : {&PolicyRule::values, &PolicyRule::forced}) {
        for (const auto& [key, value] : rule.*member) {
          const auto found = (other.*member).find(key);
          if (found == (other.*member).end()) continue;
          return Error{Code::kInvalidArgument, fmt::format("{}: {}: never counts, {} sets it for \"{}\" first",
                                                           value.place, key, found->second.place, other.match)};
        }
      }
    }
    return Ok();
  }

  std::string file_;
};

}  // namespace

Result<FleetPolicy> ParsePolicyFile(std::string_view file, const std::string& text) {
  if (text.size() > kPolicyFileBytesMax) {
    return Error{Code::kLimit, fmt::format("{}: larger than {} bytes", file, kPolicyFileBytesMax)};
  }
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    for (std::size_t i = 1; i < documents.size(); ++i) {
      if (documents[i].IsNull()) continue;
      return Error{Code::kInvalidArgument, fmt::format("{}:{}: a second document: one is read, write all in it", file,
                                                       documents[i].Mark().line + 1)};
    }
    return Reader(file).Read(documents.empty() ? YAML::Node() : documents.front());
  } catch (const YAML::Exception& fault) {
    return Error{Code::kInvalidArgument,
                 fmt::format("{}:{}: column {}: this is no YAML", file, fault.mark.line + 1, fault.mark.column + 1)};
  }
}

}  // namespace firn::service
