// SPDX-License-Identifier: Apache-2.0
#include "api/serve.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>

#include "act/rewrite_data.h"
#include "api/listen_socket.h"
#include "base/human_text.h"
#include "base/log.h"
#include "cli/catalog_opening.h"
#include "cli/commands.h"
#include "cli/event_options.h"
#include "cli/exit_codes.h"
#include "cli/service_options.h"
#include "cli/table_options.h"
#include "cli/text_table.h"
#include "cli/work_options.h"
#include "iceberg/calendar.h"
#include "ports/deferred_catalog.h"
#include "ports/directory_watch.h"
#include "service/policy_file.h"
#include "service/service.h"

namespace firn::cli {
namespace {

constexpr std::int64_t kPatienceMs = 200;
/// What is up answers sooner.
constexpr std::chrono::seconds kOpeningPatience{2};
constexpr const char* kListen = "127.0.0.1:8765";

struct ServeOptions {
  CommonOptions common;
  TableRequest place;
  std::vector<std::string> catalogs, watched, hosts;
  bool state_is_given = false;
  std::string state, listen = kListen, token_file, policy_file, scratch, memory, manifest_cache, sweep = "5m",
                     debounce = "500ms";
  int workers = 1, watchers = 2;
  bool shadow = false;
  EventTopicFlags kafka;
};

/// `left`: what workers can do without.
Result<std::int64_t> ManifestCacheOf(const std::string& text, std::int64_t left) {
  if (text.empty()) return std::min(std::int64_t{64} << 20, left);
  FIRN_ASSIGN(const auto bytes, ParseBytesOption("--manifest-cache", text));
  if (*bytes <= left) return *bytes;  // there is one: `text` is not empty
  return Error{Code::kInvalidArgument,
               fmt::format("--manifest-cache: --memory leaves {} for it at most", HumanBytes(left))};
}

Result<service::ServiceOptions> MakeOptions(Environment& environment, const ServeOptions& options) {
  service::ServiceOptions made;
  made.processes = environment.processes;
  made.workers = options.workers;
  made.watchers = options.watchers;
  made.shadow = options.shadow;
  made.seed = environment.random.Next();
  made.scratch = options.scratch;
  FIRN_ASSIGN(made.sweep_interval_ms, ParseDurationOption("--sweep-interval", options.sweep));
  FIRN_ASSIGN(made.debounce_ms, ParseDurationOption("--debounce", options.debounce));
  if (made.sweep_interval_ms <= 0) return Error{Code::kInvalidArgument, "--sweep-interval is not above 0"};
  const std::int64_t least = act::kRewriteMemoryMin * options.workers;
  FIRN_ASSIGN(made.memory_bytes, MemoryOf(options.memory, "1GB", least).In(HumanCount(options.workers, "worker")));
  FIRN_ASSIGN(made.manifest_cache_bytes, ManifestCacheOf(options.manifest_cache, made.memory_bytes - least));
  made.memory_bytes -= made.manifest_cache_bytes;
  made.look_threads = 2;
  if (!options.policy_file.empty()) {
    FIRN_ASSIGN(const std::string text, ReadSmallFile(options.policy_file, service::kPolicyFileBytesMax));
    FIRN_ASSIGN(made.policy, service::ParsePolicyFile(options.policy_file, text));
  }
  const auto show = [&](std::string key, std::string value, bool is_given, std::string about) {
    made.settings.push_back({std::move(key), std::move(value), is_given ? "flag" : "default", std::move(about)});
  };
  const auto all = [](const std::vector<std::string>& values) { return fmt::format("{}", fmt::join(values, ", ")); };
  show("catalog", all(options.catalogs), !options.catalogs.empty(), "Whose tables it watches; empty: the default one");
  show("listen", options.listen, options.listen != kListen, "Address of the API and the dashboard");
  show("host", all(options.hosts), !options.hosts.empty(), "Other names by which browsers reach it");
  show("token", options.token_file.empty() ? "none" : "(hidden)", !options.token_file.empty(),
       "Without one, only loopback addresses accept anything but reading");
  show("state", options.state, options.state_is_given, "File that remembers tables, decisions and jobs");
  show("policy", options.policy_file, !options.policy_file.empty(), "File with the policies of tables and databases");
  show("watch", all(options.watched), !options.watched.empty(), "Folders whose changes are seen at once");
  show("watchers", std::to_string(options.watchers), options.watchers != 2, "Tables that are looked at at a time");
  show("sweep-interval", options.sweep, options.sweep != "5m",
       "Every table is looked at so often, whatever events say");
  show("debounce", options.debounce, options.debounce != "500ms", "Between an event and the look at its table");
  show("workers", std::to_string(options.workers), options.workers != 1, "Jobs at a time");
  show("memory", HumanBytes(made.memory_bytes + made.manifest_cache_bytes), !options.memory.empty(),
       "Of all workers together, and of the manifest cache");
  show("manifest-cache", HumanBytes(made.manifest_cache_bytes), !options.manifest_cache.empty(),
       "Part of the memory: manifests that looks at tables have read");
  show("shadow", options.shadow ? "true" : "false", options.shadow, "Decide without acting");
  return made;
}

Result<api::ServeOptions> MakeListen(const ServeOptions& options) {
  api::ServeOptions made;
  const auto colon = options.listen.rfind(':');
  if (colon == std::string::npos) return Error{Code::kInvalidArgument, "--listen: write HOST:PORT"};
  made.server.host = options.listen.substr(0, colon);
  if (made.server.host.starts_with('[') && made.server.host.ends_with(']')) {
    made.server.host = made.server.host.substr(1, made.server.host.size() - 2);
  }
  made.api.access.hosts = options.hosts;
  FIRN_ASSIGN(made.server.port, ParsePort("--listen", options.listen.substr(colon + 1)));
  if (!options.token_file.empty()) {
    FIRN_ASSIGN(made.api.access.token, ReadTokenFile(options.token_file));
  }
  return made;
}

/// Also adds the ways to their policies to `made`.
Result<std::vector<std::shared_ptr<ports::Catalog>>> OpenCatalogs(Environment& environment, const ServeOptions& options,
                                                                  service::ServiceOptions& made) {
  std::vector<std::string> names = options.catalogs;
  if (names.empty()) names.push_back("");  // the default one
  std::vector<std::shared_ptr<CatalogOpening>> openings;
  for (const std::string& name : names) {
    TableRequest request = options.place;
    request.catalog = name;
    FIRN_ASSIGN(std::string catalog_name, environment.catalog_name(request));
    made.policy_sources.push_back(
        {catalog_name, [open = environment.open_policies, request] { return open(request); }});
    openings.push_back(std::make_shared<CatalogOpening>(
        catalog_name, [open = environment.open_catalog, request] { return open(request); }, environment.cancelled));
  }
  std::vector<std::shared_ptr<ports::Catalog>> opened;
  const auto end = std::chrono::steady_clock::now() + kOpeningPatience;
  for (const auto& opening : openings) {
    auto catalog = opening->OpenUntil(end);
    if (!catalog && catalog.error().code != Code::kUnavailable) return std::move(catalog.error());
    if (catalog) {
      opened.push_back(std::move(*catalog));
      continue;
    }
    // One that is down must not keep the others from being served.
    environment.terminal.Err("firn: " + Printable(catalog.error().message) + "; it is tried again\n");
    opened.push_back(std::make_shared<ports::DeferredCatalog>(opening->name(), [opening] {
      return opening->OpenUntil(std::chrono::steady_clock::now() + kOpeningPatience);
    }));
  }
  return opened;
}

void Announce(Environment& environment, const ServeOptions& options, const api::ApiServer& server) {
  std::string host = options.listen.substr(0, options.listen.rfind(':'));
  if (host.find(':') != std::string::npos && !host.starts_with('[')) host = "[" + host + "]";
  const std::string address = fmt::format("http://{}:{}/", host, server.port());
  if (options.common.json) {
    json::Value value = json::Value::Object();
    value.Set("address", address);
    environment.terminal.Out(json::Write(value) + "\n");
  } else {
    environment.terminal.Out(
        fmt::format("firn serves at {}{}\n", address, options.shadow ? " (shadow: decides without acting)" : ""));
  }
}

using Watches = std::map<std::string, std::unique_ptr<ports::DirectoryWatch>>;

/// By folder. They end before the service does.
Result<std::shared_ptr<const Watches>> WatchFolders(const std::vector<std::string>& folders,
                                                    service::Service& service) {
  auto watches = std::make_shared<Watches>();
  for (const std::string& folder : folders) {
    FIRN_ASSIGN((*watches)[folder], ports::DirectoryWatch::Start(folder, service.events(), {}));
  }
  service.AddMetrics([weak = std::weak_ptr<const Watches>(watches)] {
    std::map<std::string, ports::DirectoryWatchCounts> counts;
    if (const auto held = weak.lock()) {
      for (const auto& [folder, watch] : *held) counts.emplace(folder, watch->counts());
    }
    return MetricsOf(counts);
  });
  return watches;
}

/// The log of what runs for months has the time on every line.
class TimedLog {
 public:
  explicit TimedLog(ports::Clock& clock) {
    SetLogPrefix([&clock] {
      std::string time = iceberg::IsoTimestampText(clock.Now().value * 1'000, iceberg::TimeUnit::kMicros);
      time.resize(time.size() - 3);  // milliseconds are enough
      return time + "Z ";
    });
  }
  TimedLog(const TimedLog&) = delete;
  TimedLog& operator=(const TimedLog&) = delete;
  ~TimedLog() { SetLogPrefix({}); }
};

using Reader = std::shared_ptr<ports::TopicReader>;

/// Null where no topic is to be read.
Result<Reader> ReadTopic(Environment& environment, std::optional<EventTopicOptions> options,
                         const std::vector<std::string>& catalogs, service::Service& service) {
  if (!options) return Reader();
  FIRN_ASSIGN(auto topic, ports::OpenKafkaTopic(options->kafka));
  options->reading.catalogs = catalogs;
  FIRN_ASSIGN(Reader reader, ports::TopicReader::Start(std::move(topic), service.events(), environment.clock,
                                                       {.reading = std::move(options->reading)}));
  service.AddMetrics([weak = std::weak_ptr(reader)] {
    const auto held = weak.lock();
    return held ? MetricsOf(*held) : std::vector<service::Metric>();
  });
  return reader;
}

Result<int> RunServe(Environment& environment, ServeOptions& options) {
  const TimedLog timed(environment.clock);
  FIRN_TRY(ApplySettings(environment, options.common, options.place, {nullptr, &options.memory, nullptr}));
  options.state_is_given = !options.state.empty();
  if (options.state.empty()) {
    FIRN_ASSIGN(options.state, DefaultStateFile());
  }
  FIRN_ASSIGN(auto made, MakeOptions(environment, options));
  FIRN_ASSIGN(const auto listen, MakeListen(options));
  ports::Properties settings;
  if (environment.settings) {
    FIRN_ASSIGN(settings, environment.settings(options.place));
  }
  options.kafka.is_shadow = options.shadow;
  FIRN_ASSIGN(auto topic, ReadEventTopicOptions(options.kafka, settings));
  if (topic) made.settings.insert(made.settings.end(), topic->shown.begin(), topic->shown.end());
  FIRN_ASSIGN(auto catalogs, OpenCatalogs(environment, options, made));
  std::vector<std::string> names;
  for (const auto& catalog : catalogs) names.push_back(catalog->name());
  if (topic) FIRN_TRY(CheckEventCatalog(*topic, names));
  // Before anything is made: a second service that is started by mistake leaves nothing.
  FIRN_TRY(api::Listen(listen.server.host, listen.server.port));
  if (!options.state_is_given) FIRN_TRY(MakeFolderOf(options.state));
  FIRN_ASSIGN(const auto service,
              service::Service::Open(options.state, std::move(catalogs), environment.clock, std::move(made)));
  FIRN_ASSIGN(const auto watches, WatchFolders(options.watched, *service));
  FIRN_ASSIGN(const auto reader, ReadTopic(environment, std::move(topic), names, *service));
  FIRN_ASSIGN(const auto server, api::ApiServer::Start(*service, *service, environment.clock, listen));
  FIRN_TRY(service->Start());
  Announce(environment, options, *server);
  while (!environment.cancelled) environment.clock.SleepMs(kPatienceMs);
  environment.terminal.Err("firn: stopping: running jobs end at their next page\n");
  if (reader) reader->EndReading();
  service->Stop();
  return kExitOk;
}

}  // namespace

void AddServe(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command = app.add_subcommand("serve", "Keep the tables of catalogs in shape, with an API and a dashboard");
  command->add_option("--catalog", options->catalogs, "Catalog in the configuration; may be repeated")
      ->allow_extra_args(false)
      ->group("Where the tables are");
  command->add_option("--config", options->place.config_file, "Configuration file instead of the usual ones")
      ->group("Where the tables are");
  command->add_option("--property", options->place.properties, "Catalog or storage property key=value; may be repeated")
      ->allow_extra_args(false)
      ->group("Where the tables are");
  command
      ->add_option("--map", options->place.maps, "Read locations that begin with FROM at TO: FROM=TO; may be repeated")
      ->allow_extra_args(false)
      ->group("Where the tables are");
  command
      ->add_option("--watch", options->watched,
                   "Folder of local tables whose changes are seen at once; may be repeated")
      ->allow_extra_args(false)
      ->group("Where the tables are");
  AddEventTopicOptions(*command, options->kafka);
  command->add_option("--state", options->state, "File that remembers tables, decisions and jobs (SQLite)")
      ->default_str("~/.local/state/firn/state.db");
  command->add_option("--listen", options->listen, "Address of the API and the dashboard; port 0: any that is free")
      ->capture_default_str();
  command
      ->add_option("--host", options->hosts, "Name by which browsers reach it, such as behind a proxy; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--token-file", options->token_file, "File with the token that clients have to send");
  command->add_option("--policy", options->policy_file, "YAML file with the policies of tables and databases");
  command->add_flag("--shadow", options->shadow, "Decide, and explain, without changing any table");
  command
      ->add_option("--scratch", options->scratch,
                   "Existing local folder for the experiments of analyses; otherwise the system's for temporary files")
      ->check(CLI::ExistingDirectory);
  command->add_option("--sweep-interval", options->sweep, "Every table is looked at so often, whatever events say")
      ->capture_default_str();
  command->add_option("--debounce", options->debounce, "Between the first event of a table and the look at it")
      ->capture_default_str();
  command->add_option("--workers", options->workers, "Jobs at a time")
      ->check(CLI::Range(1, 256))
      ->capture_default_str()
      ->group("Limits");
  command->add_option("--watchers", options->watchers, "Tables that are looked at at a time")
      ->check(CLI::Range(1, 256))
      ->capture_default_str()
      ->group("Limits");
  command->add_option("--memory", options->memory, "Memory that all workers share, at least 192MB each")
      ->default_str("1GB")
      ->group("Limits");
  command
      ->add_option("--manifest-cache", options->manifest_cache,
                   "Part of --memory that keeps manifests between looks at tables; 0: none")
      ->default_str("64MB")
      ->group("Limits");
  AddCommonOptions(*command, options->common);
  command->callback([options, &context] {
    context.answers = false;
    RunCommand(context, options->common, [&] { return RunServe(context.environment, *options); });
  });
}

}  // namespace firn::cli
