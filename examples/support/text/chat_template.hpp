// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "support/text/prompt.hpp"

/// Chat templates, which say in Jinja how a talk is written. They are not run: the common ones are
/// recognised by what stands in them.
namespace specdec::examples {

/// The template that a model brings: a GGUF file's tokenizer.chat_template, or a folder's
/// chat_template.jinja or chat_template in tokenizer_config.json (the one that is called default,
/// if there are several). Empty: it brings none. Errors: specdec::error for files that cannot be
/// read.
[[nodiscard]] std::string read_chat_template(const std::filesystem::path& model);

/// The form that a template writes: that of its marks, with the system message that it puts where a
/// talk brings none. `source` is for errors. Errors: specdec::error that names the marks that are
/// there, for a template of no known form, and for one that writes the date or begins answers with
/// reasoning.
[[nodiscard]] chat_form form_of_template(std::string_view text, const std::string& source);

} // namespace specdec::examples
