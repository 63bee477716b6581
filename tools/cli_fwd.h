#pragma once

/// CLI11's types by name. The library takes seconds to compile, and who declares a verb needs no more.
namespace CLI {
class App;
class Option;
}  // namespace CLI
