#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace grpc {
class AuthContext;
class ChannelCredentials;
class ServerCredentials;
}  // namespace grpc

namespace tombolo::control {

/// How controller and edges reach each other: mutual TLS, or plain text if, and only if, somebody asked for
/// it.
struct Transport {
  std::string address;    ///< host:port; of the controller, for both sides.
  bool insecure = false;  ///< Plain text: on loopback or in a testbed only.
  std::string ca;         ///< PEM files; all three or, when insecure, none.
  std::string certificate;
  std::string key;
  /// An edge's only: the name that the controller's certificate must bear.
  std::string controller_name = "controller";
};

/// Both read the files at once. Errors: kInvalidInput when neither or both of plain text and files were asked
/// for, or a file is not PEM; kNotFound for a file that cannot be read, naming it.
Result<std::shared_ptr<grpc::ServerCredentials>> server_credentials(const Transport& transport);
Result<std::shared_ptr<grpc::ChannelCredentials>> channel_credentials(const Transport& transport);

/// Whether the peer may speak for `name`: its certificate bears it as common name or as alternative name. A
/// peer without a certificate, which only a plain text server lets in, may.
bool may_speak_for(const grpc::AuthContext& peer, const std::string& name);

/// gRPC's own lines go nowhere, but for those of a broken invariant: what matters comes back as an Error or a
/// status. Called by all that start it.
void quiet_grpc();

}  // namespace tombolo::control
