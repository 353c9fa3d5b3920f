// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "support/pair/loaded_pair.hpp"
#include "support/program/console.hpp"

namespace specdec::examples {

/// A token on one line: spaces as middle dots, other control bytes and broken characters in hex,
/// the names of control tokens as they are.
[[nodiscard]] inline std::string printable(const vocabulary& table, std::size_t id) {
    const std::string_view bytes = table.entry(id);
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        char hex[8];
        if (byte == ' ') {
            out += "·";
        } else if (byte == '\n') {
            out += "\\n";
        } else if (const std::size_t length = visible_bytes(bytes, i); length > 0) {
            out += bytes.substr(i, length);
            i += length - 1;
        } else {
            std::snprintf(hex, sizeof hex, "<%02X>", byte);
            out += hex;
        }
    }
    return out;
}

/// Prints the rounds to standard error in the columns of Table 13 of the OmniDraft paper: proposed
/// draft tokens (those that were joined into one target token by +), the target tokens they became,
/// those accepted; and the target's own token behind them. Of a tree all of its nodes are listed.
class tracer {
public:
    tracer(const vocabulary& target, const vocabulary* draft, bool color)
        : target_(&target), draft_(draft), color_(color) {}

    void print(const round_result& r) {
        if (rounds_++ == 0)
            line("drafter's tokens", "target's tokens", "accepted", "then the target's own");
        const std::string accepted = joined(r.tokens.first(r.accepted), target_);
        const char* origin = r.last == token_origin::corrected  ? " (corrected)"
                             : r.last == token_origin::residual ? " (residual)"
                                                                : " (free)";
        const std::string own =
            r.ended() ? "- (the end)" : printable(*target_, r.tokens.back().index()) + origin;
        const std::string reason(name(r.reason));
        line(drafted(r), r.proposed.empty() ? reason : joined(r.proposed, target_), accepted, own);
    }

private:
    template <class Tokens>
    static std::string joined(const Tokens& tokens, const vocabulary* table) {
        std::string out;
        for (const auto id : tokens) {
            if (!out.empty())
                out += " , ";
            out += id.valid() && table != nullptr ? printable(*table, id.index()) : "(not shared)";
        }
        return out.empty() ? "-" : out;
    }

    /// The draft tokens, a + where no target token ends.
    std::string drafted(const round_result& r) const {
        std::vector<std::size_t> ends{0};
        for (const target_id t : r.proposed)
            if (t.valid())
                ends.push_back(ends.back() + target_->text(t.index()).size());
        std::string out;
        std::size_t place = 0;
        for (const draft_id d : r.drafted) {
            const bool inside =
                place < ends.back() && !std::binary_search(ends.begin(), ends.end(), place);
            if (!out.empty())
                out += inside ? " + " : " , ";
            const bool known = d.valid() && draft_ != nullptr;
            out += known ? printable(*draft_, d.index()) : "(not shared)";
            place += known ? draft_->text(d.index()).size() : 0;
        }
        return out.empty() ? "-" : out;
    }

    void line(const std::string& draft, const std::string& target, const std::string& accepted,
              const std::string& next) const {
        const bool green = color_ && rounds_ > 1 && accepted != "-";
        std::fprintf(stderr, "%s  %s  %s%s%s  %s\n", padded(draft, 36).c_str(),
                     padded(target, 36).c_str(), green ? "\x1b[32m" : "",
                     padded(accepted, 30).c_str(), green ? "\x1b[0m" : "", next.c_str());
    }

    const vocabulary* target_;
    const vocabulary* draft_;
    bool color_;
    std::size_t rounds_ = 0;
};

} // namespace specdec::examples
