#pragma once

#include <string_view>

/// The page's style and scripts, put into the program when it is built: `name_css` is the file name.css here.
namespace tombolo::report::assets {

std::string_view page_css();
std::string_view page_js();
std::string_view map_js();

}  // namespace tombolo::report::assets
