#include "control/config/common_config.h"

#include "control/config/fields.h"

namespace tombolo::control {

TlsFiles read_tls(const schedule::YamlMap& map, const std::string& file) {
  const auto ca = map.find("ca");
  const auto certificate = map.find("certificate");
  const auto key = map.find("key");
  if (!ca && !certificate && !key) return {};
  if (!ca || !certificate || !key) map.whole().fail("ca, certificate and key must be given together");
  return {path_beside(*ca, file), path_beside(*certificate, file), path_beside(*key, file)};
}

LogSettings read_log(const schedule::YamlValue& value, const std::string& file) {
  const schedule::YamlMap map = value.map({"format", "level", "file"});
  LogSettings log;
  if (const auto format = map.find("format")) log.json = choice(*format, {"text", "json"}) == 1;
  if (const auto level = map.find("level")) {
    choice(*level, {"debug", "info", "warning", "error"});
    log.level = level->text();
  }
  if (const auto path = map.find("file")) log.file = path_beside(*path, file);
  return log;
}

}  // namespace tombolo::control
