#include "cli/command_tree.h"

#include <array>

namespace cli {
namespace {

constexpr std::string_view kKinds =
    "workloads attempts queues pools classes nodes devices policies topologies";

constexpr Argument kOneWorkload[] = {{.name = "WORKLOAD", .offers = Offers::Workloads}};
constexpr Argument kWorkloads[] = {
    {.name = "WORKLOAD", .least = 1, .most = -1, .offers = Offers::Workloads}};
constexpr Argument kOneNode[] = {{.name = "NODE", .offers = Offers::Nodes}};

constexpr Flag kShared[] = {
    {.name = "help", .letter = 'h', .text = "explain this command"},
    {.name = "output",
     .letter = 'o',
     .value = "FORMAT",
     .text = "table, wide, json, yaml or name",
     .offers = Offers::Choices,
     .choices = "table wide json yaml name"},
    {.name = "no-color", .text = "no colour, whatever the terminal can do"},
};
constexpr Flag kServer[] = {
    {.name = "server", .value = "URL", .text = "the server's address, else BERTH_SERVER"},
    {.name = "token", .value = "TOKEN", .text = "the credential, else BERTH_TOKEN"},
    {.name = "config",
     .value = "FILE",
     .text = "settings of this command, else BERTH_CONFIG",
     .offers = Offers::Files},
};

constexpr Flag kDryRun = {.name = "dry-run", .text = "say what would be decided, change nothing"};
constexpr Flag kWatch = {.name = "watch", .letter = 'w', .text = "show again every 2 seconds"};
constexpr Flag kLang = {.name = "lang",
                        .value = "LANG",
                        .text = "language of the text: en or zh",
                        .offers = Offers::Choices,
                        .choices = "en zh"};

constexpr Flag kWorkFlags[] = {
    {.name = "gpus",
     .letter = 'g',
     .value = "N",
     .text = "devices of one member: 2, or 0.5 of one"},
    {.name = "share", .value = "PART", .text = "a part of one device: 0.5"},
    {.name = "gpu-memory", .value = "SIZE", .text = "device memory of one member: 40Gi or 50%"},
    {.name = "slice", .value = "PROFILE", .text = "a hardware partition of a device: 1g.10gb"},
    {.name = "model",
     .value = "MODEL",
     .text = "allowed device models, in any order",
     .is_repeatable = true},
    {.name = "cpus", .letter = 'c', .value = "N", .text = "cores of one member"},
    {.name = "memory", .letter = 'm', .value = "SIZE", .text = "memory of one member: 64Gi"},
    {.name = "members",
     .letter = 'n',
     .value = "N",
     .text = "members that start together, all or nothing"},
    {.name = "min-members", .value = "N", .text = "start with this many already"},
    {.name = "queue",
     .letter = 'q',
     .value = "QUEUE",
     .text = "queue to wait in",
     .offers = Offers::Queues},
    {.name = "class", .value = "CLASS", .text = "training, inference, notebook, batch, …"},
    {.name = "kind",
     .value = "KIND",
     .text = "kind of work, default TrainingJob",
     .offers = Offers::Choices,
     .choices = "TrainingJob InferenceService Notebook BatchInference Workload"},
    {.name = "pool",
     .value = "POOL",
     .text = "allowed pools, in order of preference",
     .is_repeatable = true},
    {.name = "name", .value = "NAME", .text = "name, unique among the unfinished of its queue"},
    {.name = "time", .letter = 't', .value = "TIME", .text = "time limit: 2h, 1d12h, 02:00:00"},
    {.name = "estimate", .value = "TIME", .text = "believed run time, not enforced"},
    {.name = "topology", .value = "LEVEL", .text = "all members in one domain of this level: rack"},
    {.name = "priority", .value = "N", .text = "boost inside the class, -100 to 100"},
    {.name = "env",
     .letter = 'e',
     .value = "NAME[=VALUE]",
     .text = "pass a variable on, or set one",
     .is_repeatable = true},
    {.name = "dir",
     .letter = 'C',
     .value = "DIR",
     .text = "working directory, default this one",
     .offers = Offers::Folders},
    {.name = "image",
     .value = "IMAGE",
     .text = "container image, where the backend runs containers"},
    {.name = "label",
     .letter = 'l',
     .value = "NAME=VALUE",
     .text = "a label",
     .is_repeatable = true},
    {.name = "file",
     .letter = 'f',
     .value = "FILE",
     .text = "take the work from a manifest instead",
     .offers = Offers::Files,
     .is_repeatable = true},
    kDryRun,
};

constexpr Flag kApplyFlags[] = {
    {.name = "file",
     .letter = 'f',
     .value = "FILE",
     .text = "manifest, YAML or JSON; - is standard input",
     .offers = Offers::Files,
     .is_repeatable = true},
    kDryRun,
};
constexpr Flag kQueueFlags[] = {
    {.name = "queue",
     .letter = 'q',
     .value = "QUEUE",
     .text = "only this queue and those below it",
     .offers = Offers::Queues},
    {.name = "state",
     .letter = 's',
     .value = "STATE",
     .text = "only this state: Queued, Running, …",
     .offers = Offers::Choices,
     .choices = "Queued Starting Running Stopping Suspended Lost Completed Failed Cancelled"},
    {.name = "user", .letter = 'u', .value = "USER", .text = "only this user's work"},
    {.name = "label", .letter = 'l', .value = "NAME=VALUE", .text = "only work with this label"},
    {.name = "all", .letter = 'a', .text = "finished work too"},
    {.name = "limit", .value = "N", .text = "at most N rows, default 1000"},
    kWatch,
};
constexpr Flag kWatchOnly[] = {kWatch};
constexpr Flag kOfQueue = {.name = "queue",
                           .letter = 'q',
                           .value = "QUEUE",
                           .text = "the workload's queue, where names are the same in several",
                           .offers = Offers::Queues};
constexpr Flag kWhyFlags[] = {kLang, kOfQueue};
constexpr Flag kAddressFlags[] = {kOfQueue};
constexpr Flag kLogsFlags[] = {
    {.name = "follow", .letter = 'f', .text = "go on until the attempt has ended"},
    {.name = "member", .letter = 'm', .value = "RANK", .text = "of this member, default 0"},
    {.name = "stderr", .text = "the error stream instead of the output"},
    {.name = "tail", .value = "N", .text = "only the last N lines"},
    kOfQueue,
};
constexpr Flag kNodeFlags[] = {
    {.name = "note", .value = "TEXT", .text = "why, for people who look at the node"},
};
constexpr Flag kDeviceFlags[] = {
    {.name = "node", .value = "NODE", .text = "only of this node", .offers = Offers::Nodes},
    kWatch,
};
constexpr Flag kUsageFlags[] = {
    {.name = "by",
     .value = "WHAT",
     .text = "a line for each queue (the default), user, class, kind or pool",
     .offers = Offers::Choices,
     .choices = "queue user class kind pool"},
    {.name = "since",
     .value = "TIME",
     .text = "from then on: 7d (seven days back) or 2026-12-01T00:00:00Z"},
    {.name = "until", .value = "TIME", .text = "up to then, the same way"},
};
constexpr Flag kEventFlags[] = {
    {.name = "follow", .letter = 'f', .text = "go on with what happens from now on"},
    {.name = "after", .value = "SEQUENCE", .text = "only after this event, default: the last 100"},
    {.name = "kinds", .value = "KIND,KIND", .text = "only these kinds: start,evict,membersEnded"},
    {.name = "workload",
     .value = "NUMBER",
     .text = "only what names this workload",
     .offers = Offers::Workloads},
    {.name = "limit", .value = "N", .text = "stop after N events"},
};
constexpr Flag kServeFlags[] = {
    {.name = "data",
     .value = "DIR",
     .text = "where the journal and the logs live",
     .offers = Offers::Folders},
    {.name = "listen", .value = "ADDRESS", .text = "address and port, default 127.0.0.1:7070"},
    {.name = "config",
     .value = "FILE",
     .text = "the daemon's configuration",
     .offers = Offers::Files},
};
constexpr Flag kDoctorFlags[] = {
    {.name = "data", .value = "DIR", .text = "the data folder to check", .offers = Offers::Folders},
};
constexpr Flag kStormFlags[] = {
    {.name = "seed", .value = "N", .text = "live through this one"},
    {.name = "seeds", .value = "N", .text = "live through so many, on all processors"},
    {.name = "first-seed", .value = "N", .text = "the first of them"},
    {.name = "hours", .value = "H", .text = "simulated hours in which faults happen"},
    {.name = "profile", .value = "P", .text = "default, calm, store, link, machine or heavy"},
    {.name = "scenario",
     .value = "FILE",
     .text = "live through this file",
     .offers = Offers::Files},
    {.name = "shrink", .text = "look for the smallest scenario that fails alike"},
    {.name = "coverage", .text = "list the fault points and their hits"}};
constexpr Flag kSimulateFlags[] = {
    {.name = "trace",
     .value = "FORMAT",
     .text = "philly, openb, or a file in Berth's own format",
     .offers = Offers::Files},
    {.name = "file", .value = "FILE", .text = "the trace's CSV file", .offers = Offers::Files},
    {.name = "nodes-file",
     .value = "FILE",
     .text = "the nodes of the trace",
     .offers = Offers::Files},
    {.name = "nodes", .value = "NxG", .text = "N nodes with G devices each: 75x8"},
    {.name = "policy",
     .value = "POLICY",
     .text = "fifo, priority or default; none: compare them",
     .is_repeatable = true},
    {.name = "load", .value = "X", .text = "offered load as a part of the capacity"},
    {.name = "limit", .value = "N", .text = "replay only so many jobs from the beginning"},
    {.name = "seed", .value = "N", .text = "seed of every random choice"},
    {.name = "out", .value = "DIR", .text = "where the report goes", .offers = Offers::Folders},
};

constexpr Argument kShowArguments[] = {
    {.name = "[KIND] NAME", .least = 1, .most = 2, .offers = Offers::Workloads}};
constexpr Argument kGetArguments[] = {
    {.name = "KIND", .least = 1, .most = 1, .offers = Offers::Choices, .choices = kKinds}};
constexpr Argument kShell[] = {
    {.name = "SHELL", .offers = Offers::Choices, .choices = "bash zsh fish"}};
constexpr Argument kHelpArguments[] = {{.name = "COMMAND", .least = 0, .most = 1}};

constexpr Example kApplyExamples[] = {
    {"berth apply -f queues.yaml", "define queues, pools, classes; submit work"},
    {"berth apply -f train.yaml --dry-run", "would it start now, and if not, why"}};
constexpr Example kSubmitExamples[] = {
    {"berth submit --gpus 2 --queue nlp --time 2h -- python train.py", "without a manifest"},
    {"berth submit -n 4 --gpus 8 -- torchrun train.py", "a gang of 4 members with 8 devices each"},
    {"berth submit --gpus 0.5 --kind Notebook -- jupyter lab", "half of a device"},
    {"berth submit -f train.yaml", "from a manifest"}};
constexpr Example kRunExamples[] = {
    {"berth run --gpus 1 -- python eval.py", "as if it ran here, with its exit code"},
    {"berth run -q nlp -e WANDB_MODE=offline -- ./sweep.sh", "in a queue, with a variable"}};
constexpr Example kQueueExamples[] = {
    {"berth queue", "everything that waits or runs"},
    {"berth queue -q search --state Queued", "what waits below search"},
    {"berth queue --all -o json", "finished work too, for programs"}};
constexpr Example kShowExamples[] = {
    {"berth show 1042", "one workload"},
    {"berth show queue search/nlp -o yaml", "a queue, as manifest"}};
constexpr Example kWhyExamples[] = {
    {"berth why 1042", "one line to act on, then the steps with their numbers"},
    {"berth why 1042 --lang zh", "the same in Chinese"}};
constexpr Example kLogsExamples[] = {
    {"berth logs 1042 -f", "follow the last attempt"},
    {"berth logs 1042.1 --member 3 --stderr", "an earlier attempt, one member"}};
constexpr Example kCancelExamples[] = {{"berth cancel 1042 1043", "two workloads"}};
constexpr Example kHoldExamples[] = {{"berth hold 1042", "keep it queued until it is released"}};
constexpr Example kReleaseExamples[] = {{"berth release 1042", "let it start again"}};
constexpr Example kDeviceExamples[] = {{"berth devices --node gpu-3", "owner, share and real use"}};
constexpr Example kEventExamples[] = {
    {"berth events -f --kinds start,evict", "watch starts and evictions"},
    {"berth events --after 4000 -o json", "one event a line, for programs"}};
constexpr Example kServeExamples[] = {
    {"berth serve", "on this machine, data below the home folder"},
    {"berth serve --config berth.yaml --listen 127.0.0.1:0", "on any free port"}};
constexpr Example kCompletionExamples[] = {
    {"source <(berth completion bash)", "in this shell, or in ~/.bashrc"},
    {"berth completion fish > ~/.config/fish/completions/berth.fish", "for fish"}};
constexpr Example kDrainExamples[] = {{"berth drain gpu-3 --note 'replace fan'", "empty a node"}};
constexpr Example kUsageExamples[] = {{"berth usage --by user", "device hours of each user"}};
constexpr Example kSimulateExamples[] = {
    {"berth simulate --trace philly --file philly.csv --nodes 75x8 --out report",
     "a year in seconds"}};
constexpr Example kStormExamples[] = {
    {"berth storm --seeds 2000 --first-seed 1", "two thousand of them, on all processors"},
    {"berth storm --seed 7 --shrink", "the smallest scenario that fails as this one does"}};

constexpr Verb kVerbs[] = {
    {.name = "submit",
     .group = Group::Do,
     .summary = "queue work and return at once",
     .text =
         "The work runs in this directory. Of your environment only what --env names goes along.",
     .flags = kWorkFlags,
     .examples = kSubmitExamples,
     .takes_command = true},
    {.name = "run",
     .group = Group::Do,
     .summary = "queue work, show its output, return its exit code",
     .text = "Returns the exit code of the process, 128 + n when signal n ended it. Ctrl-C cancels "
             "the work; a second Ctrl-C leaves without waiting for its end.",
     .flags = kWorkFlags,
     .examples = kRunExamples,
     .takes_command = true},
    {.name = "apply",
     .group = Group::Do,
     .summary = "define or submit what manifests say",
     .flags = kApplyFlags,
     .examples = kApplyExamples},
    {.name = "cancel",
     .group = Group::Do,
     .summary = "end workloads, waiting or running",
     .arguments = kWorkloads,
     .flags = kAddressFlags,
     .examples = kCancelExamples},
    {.name = "hold",
     .group = Group::Do,
     .summary = "keep queued workloads from starting",
     .arguments = kWorkloads,
     .flags = kAddressFlags,
     .examples = kHoldExamples},
    {.name = "release",
     .group = Group::Do,
     .summary = "let held workloads start again",
     .arguments = kWorkloads,
     .flags = kAddressFlags,
     .examples = kReleaseExamples},
    {.name = "queue",
     .summary = "list what waits and runs",
     .flags = kQueueFlags,
     .examples = kQueueExamples},
    {.name = "show",
     .summary = "show one thing in full",
     .text = "KIND is workload (the default), queue, pool, class, node or policy.",
     .arguments = kShowArguments,
     .examples = kShowExamples},
    {.name = "why",
     .summary = "say why a workload waits, runs or ended",
     .arguments = kOneWorkload,
     .flags = kWhyFlags,
     .examples = kWhyExamples},
    {.name = "logs",
     .summary = "print what a workload wrote",
     .arguments = kOneWorkload,
     .flags = kLogsFlags,
     .examples = kLogsExamples},
    {.name = "nodes", .summary = "list the nodes and what is free on them", .flags = kWatchOnly},
    {.name = "devices",
     .summary = "list the devices, their owners and their real use",
     .flags = kDeviceFlags,
     .examples = kDeviceExamples},
    {.name = "queues",
     .summary = "list the queues, their guarantees and what they hold",
     .flags = kWatchOnly},
    {.name = "classes", .summary = "list the classes and their rights"},
    {.name = "pools", .summary = "list the pools"},
    {.name = "usage",
     .summary = "say who used how much",
     .flags = kUsageFlags,
     .examples = kUsageExamples},
    {.name = "events",
     .summary = "print what happened",
     .flags = kEventFlags,
     .examples = kEventExamples},
    {.name = "get", .summary = "list things of one kind", .arguments = kGetArguments},
    {.name = "serve",
     .group = Group::System,
     .summary = "run the scheduler",
     .flags = kServeFlags,
     .examples = kServeExamples,
     .talks_to_server = false},
    {.name = "cordon",
     .group = Group::System,
     .summary = "start nothing new on a node",
     .arguments = kOneNode,
     .flags = kNodeFlags},
    {.name = "uncordon",
     .group = Group::System,
     .summary = "use a node again",
     .arguments = kOneNode,
     .flags = kNodeFlags},
    {.name = "drain",
     .group = Group::System,
     .summary = "empty a node and start nothing new on it",
     .arguments = kOneNode,
     .flags = kNodeFlags,
     .examples = kDrainExamples},
    {.name = "simulate",
     .group = Group::System,
     .summary = "replay a trace under one or more policies",
     .flags = kSimulateFlags,
     .examples = kSimulateExamples,
     .parses_itself = true,
     .talks_to_server = false},
    {.name = "storm",
     .group = Group::System,
     .summary = "live through random faults and check what must hold",
     .flags = kStormFlags,
     .examples = kStormExamples,
     .parses_itself = true,
     .talks_to_server = false},
    {.name = "doctor",
     .group = Group::System,
     .summary = "check a data folder for damage",
     .flags = kDoctorFlags,
     .talks_to_server = false},
    {.name = "completion",
     .group = Group::System,
     .summary = "print a completion script for a shell",
     .arguments = kShell,
     .examples = kCompletionExamples,
     .talks_to_server = false},
    {.name = "version",
     .group = Group::System,
     .summary = "print the version",
     .talks_to_server = false},
    {.name = "help",
     .group = Group::System,
     .summary = "explain a command",
     .arguments = kHelpArguments,
     .talks_to_server = false},
};

template <class Match>
const Flag* first_flag(const Verb& verb, Match match) {
  for (const Flag& flag : verb.flags)
    if (match(flag)) return &flag;
  for (const Flag& flag : kShared)
    if (match(flag)) return &flag;
  if (verb.talks_to_server)
    for (const Flag& flag : kServer)
      if (match(flag)) return &flag;
  return nullptr;
}

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

const Verb* find_verb(std::string_view name) {
  for (const Verb& verb : kVerbs)
    if (verb.name == name) return &verb;
  return nullptr;
}

std::span<const Flag> shared_flags() { return kShared; }
std::span<const Flag> server_flags() { return kServer; }

const Flag* find_flag(const Verb& verb, std::string_view name) {
  return first_flag(verb, [name](const Flag& flag) { return flag.name == name; });
}

const Flag* find_flag(const Verb& verb, char letter) {
  return first_flag(verb,
                    [letter](const Flag& flag) { return letter != 0 && flag.letter == letter; });
}

}  // namespace cli
