#include "control/rpc/transport.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <string>

#include "tests/unit/control/rpc/certificates.h"

namespace tombolo::control {
namespace {

void expect_refused(const Transport& transport, ErrorCode code, const std::string& says) {
  const auto server = server_credentials(transport);
  ASSERT_FALSE(server.ok()) << says;
  EXPECT_EQ(server.error().code, code);
  EXPECT_NE(server.error().message.find(says), std::string::npos) << server.error().message;
  const auto channel = channel_credentials(transport);
  ASSERT_FALSE(channel.ok()) << says;
  EXPECT_EQ(channel.error().message, server.error().message);
}

TEST(Transport, PlainTextOnlyWhenAskedFor) {
  Transport transport;
  transport.address = "127.0.0.1:0";
  expect_refused(transport, ErrorCode::kInvalidInput, "needs --insecure");
  transport.insecure = true;
  EXPECT_TRUE(server_credentials(transport).ok());
  EXPECT_TRUE(channel_credentials(transport).ok());
  transport.ca = "ca.pem";
  expect_refused(transport, ErrorCode::kInvalidInput, "exclude each other");
  transport.address.clear();
  expect_refused(transport, ErrorCode::kInvalidInput, "address: is missing");
}

TEST(Transport, EachMissingFileIsNamed) {
  const Certificates certificates("controller");
  const Transport good = certificates.transport("127.0.0.1:0", "controller");
  EXPECT_TRUE(server_credentials(good).ok());
  EXPECT_TRUE(channel_credentials(good).ok());
  for (const auto& [name, member] : {std::pair{"ca", &Transport::ca},
                                     {"certificate", &Transport::certificate},
                                     {"key", &Transport::key}}) {
    Transport transport = good;
    transport.*member = certificates.file("none.pem");
    expect_refused(transport, ErrorCode::kNotFound,
                   std::string(name) + " " + certificates.file("none.pem") + ": No such file");
    std::ofstream(certificates.file("rubbish.pem")) << "rubbish";
    transport.*member = certificates.file("rubbish.pem");
    expect_refused(transport, ErrorCode::kInvalidInput,
                   std::string(name) + " " + certificates.file("rubbish.pem") + ": is not a PEM file");
    transport.*member = "";
    expect_refused(transport, ErrorCode::kInvalidInput, "TLS needs the files ca, certificate and key");
  }
}

}  // namespace
}  // namespace tombolo::control
