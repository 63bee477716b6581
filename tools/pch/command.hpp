// What every command includes, compiled once for each library of commands: reading it costs more than most of their own
// code. A file still names what it uses.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>
