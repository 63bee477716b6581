#include "control/rpc/transport.h"

#include <fmt/format.h>
#include <grpc/support/log.h>
#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

namespace tombolo::control {
namespace {

constexpr std::size_t kMaxPemBytes = 1U << 20;

struct PemSet {
  std::string ca;
  std::string certificate;
  std::string key;
};

Result<std::string> read_pem(const std::string& path, std::string_view what) {
  const auto close_file = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close_file)> file(std::fopen(path.c_str(), "rbe"), close_file);
  std::string text;
  if (file) {
    std::array<char, 4096> part;
    while (const std::size_t count = std::fread(part.data(), 1, part.size(), file.get())) {
      text.append(part.data(), count);
      if (text.size() > kMaxPemBytes) break;
    }
  }
  if (!file || std::ferror(file.get()) != 0)
    return Error{ErrorCode::kNotFound, fmt::format("{} {}: {}", what, path, std::strerror(errno))};
  if (text.find("-----BEGIN ") == std::string::npos)
    return invalid_input(fmt::format("{} {}: is not a PEM file", what, path));
  return text;
}

Result<PemSet> read_set(const Transport& transport) {
  PemSet set;
  const std::array<std::pair<std::string PemSet::*, std::pair<const char*, const std::string*>>, 3> files{
      {{&PemSet::ca, {"ca", &transport.ca}},
       {&PemSet::certificate, {"certificate", &transport.certificate}},
       {&PemSet::key, {"key", &transport.key}}}};
  for (const auto& [into, from] : files) {
    auto text = read_pem(*from.second, from.first);
    if (!text) return std::move(text).error();
    set.*into = std::move(text).value();
  }
  return set;
}

/// Plain text is never the result of something that was forgotten.
Status check_choice(const Transport& transport) {
  if (transport.address.empty()) return invalid_input("address: is missing (host:port)");
  const bool any = !transport.ca.empty() || !transport.certificate.empty() || !transport.key.empty();
  const bool all = !transport.ca.empty() && !transport.certificate.empty() && !transport.key.empty();
  if (transport.insecure && any)
    return invalid_input("--insecure and TLS files exclude each other; leave one of them out");
  if (!transport.insecure && !all)
    return invalid_input(
        "TLS needs the files ca, certificate and key; plain text, on a wire that nobody else can reach, "
        "needs --insecure");
  return ok_status();
}

bool contains(const std::vector<grpc::string_ref>& values, const std::string& name) {
  return std::any_of(values.begin(), values.end(),
                     [&name](grpc::string_ref value) { return value == grpc::string_ref(name); });
}

}  // namespace

Result<std::shared_ptr<grpc::ServerCredentials>> server_credentials(const Transport& transport) {
  if (Status chosen = check_choice(transport); !chosen) return std::move(chosen).error();
  if (transport.insecure) return grpc::InsecureServerCredentials();
  auto set = read_set(transport);
  if (!set) return std::move(set).error();
  grpc::SslServerCredentialsOptions options(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = set->ca;
  options.pem_key_cert_pairs.push_back({set->key, set->certificate});
  return grpc::SslServerCredentials(options);
}

Result<std::shared_ptr<grpc::ChannelCredentials>> channel_credentials(const Transport& transport) {
  if (Status chosen = check_choice(transport); !chosen) return std::move(chosen).error();
  if (transport.insecure) return grpc::InsecureChannelCredentials();
  auto set = read_set(transport);
  if (!set) return std::move(set).error();
  return grpc::SslCredentials(
      {.pem_root_certs = set->ca, .pem_private_key = set->key, .pem_cert_chain = set->certificate});
}

bool may_speak_for(const grpc::AuthContext& peer, const std::string& name) {
  if (!peer.IsPeerAuthenticated()) return true;
  return contains(peer.FindPropertyValues("x509_common_name"), name) ||
         contains(peer.FindPropertyValues("x509_subject_alternative_name"), name);
}

void quiet_grpc() {
  gpr_set_log_function([](gpr_log_func_args* line) {
    // It says this before it ends the process, as CHECK does.
    if (std::string_view(line->message).starts_with("assertion failed"))
      std::fprintf(stderr, "%s:%d: %s\n", line->file, line->line, line->message);
  });
}

}  // namespace tombolo::control
