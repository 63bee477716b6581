// Runs a fuzz target without libFuzzer: on its own seeds, on the files given, and on seeded mutations of
// both.

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/mutate.h"

// Present only in a build with a sanitizer, which ends the process without a signal.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace {

using tombolo::fuzz::mutate;

/// What to say when the target ends the process; written before each input, read by the handlers.
char now_running[256];
std::size_t now_running_bytes = 0;

void say_what_failed() {
  // Only system calls are allowed here. There is nobody left to tell if this fails.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, now_running, now_running_bytes);
}

void on_fatal_signal(int) {
  say_what_failed();
  _exit(1);
}

void run(const std::string& input, const std::string& what) {
  const std::string said = fmt::format("failed on {}\n", what);
  now_running_bytes = std::min(said.size(), sizeof(now_running));
  std::copy_n(said.data(), now_running_bytes, now_running);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::optional<std::string> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// The files named, and those in the folders named, sorted: the order decides what the mutations are made of.
std::vector<std::filesystem::path> list_files(const std::vector<std::string>& names) {
  std::vector<std::filesystem::path> files;
  for (const std::string& name : names) {
    if (!std::filesystem::is_directory(name)) {
      files.emplace_back(name);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(name))
      if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool write_seeds(const std::string& folder, const std::vector<std::string>& seeds) {
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    std::ofstream file(std::filesystem::path(folder) / fmt::format("seed-{}", i), std::ios::binary);
    if (!file.write(seeds[i].data(), static_cast<std::streamsize>(seeds[i].size()))) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Runs a fuzz target on its seeds, on files, and on random changes of both."};
  std::uint64_t inputs = 1000;
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> only;
  std::string seeds_folder;
  std::vector<std::string> corpus;
  app.add_option("--inputs", inputs, "how many random inputs to run")->capture_default_str();
  app.add_option("--seed", seed, "input i is made from the generator with seed + i")->capture_default_str();
  app.add_option("--only", only, "run this one random input and nothing else");
  app.add_option("--write-seeds", seeds_folder, "write the target's own seeds there, for libFuzzer, and end");
  app.add_option("corpus", corpus, "files and folders of inputs");
  CLI11_PARSE(app, argc, argv);

  std::vector<std::string> seeds = tombolo::fuzz::seed_inputs();
  if (!seeds_folder.empty()) return write_seeds(seeds_folder, seeds) ? 0 : 2;
  std::vector<std::string> names(seeds.size(), "a seed of the target");
  for (const auto& path : list_files(corpus)) {
    auto text = read_file(path);
    if (!text) {
      fmt::print(stderr, "cannot read {}\n", path.string());
      return 2;
    }
    seeds.push_back(std::move(*text));
    names.push_back(path.string());
  }

  std::signal(SIGABRT, on_fatal_signal);
  std::signal(SIGSEGV, on_fatal_signal);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(say_what_failed);

  for (std::size_t i = 0; !only && i < seeds.size(); ++i) run(seeds[i], names[i]);
  const std::uint64_t first = only.value_or(0);
  const std::uint64_t last = only ? first + 1 : inputs;
  for (std::uint64_t i = first; i < last; ++i) {
    tombolo::Random random(seed + i);
    run(mutate(seeds, random),
        fmt::format("a random input: --seed {} --only {} and the same files", seed, i));
  }
  fmt::print("{} inputs from {} seeds, --seed {}: no fault\n", last - first, seeds.size(), seed);
  return 0;
}
