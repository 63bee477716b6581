#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "control/rpc/transport.h"
#include "tests/unit/control/temporary_folder.h"

namespace tombolo::control {

/// A set of test certificates, made by tools/dev/make-certs.
class Certificates {
 public:
  /// `names`: separated by spaces.
  explicit Certificates(const std::string& names) {
    const std::string command = std::string(TOMBOLO_MAKE_CERTS) + " " + folder_.path() + " " + names;
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }

  Transport transport(const std::string& address, const std::string& name) const {
    Transport transport;
    transport.address = address;
    transport.ca = folder_.file("ca.pem");
    transport.certificate = folder_.file(name + ".pem");
    transport.key = folder_.file(name + ".key");
    return transport;
  }
  std::string file(const std::string& name) const { return folder_.file(name); }

 private:
  TemporaryFolder folder_;
};

}  // namespace tombolo::control
