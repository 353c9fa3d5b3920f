// SPDX-License-Identifier: MIT
#include <specdec/testing/contract/checkpoint_contract.hpp>

#include <string>

#include <catch2/catch.hpp>

#include "support/recurrent_model.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace checkpoint_contract_tests {

using recurrent = recurrent_model<target_id>;
using several = recurrent_batch<target_id>;

template <class Engine>
std::string broken_by(const Engine& engine) {
    const contract_report report = check_checkpoints<target_id>([&] { return engine; });
    return report.ok() ? "" : report.violations.front().clause;
}

TEST_CASE("recurrent toys keep the contract of checkpoints, alone and side by side") {
    const contract_report alone = check_checkpoints<target_id>([] { return recurrent(5); });
    INFO(alone.text());
    CHECK(alone.ok());
    CHECK(alone.keeps("checkpoint.refusal"));
    CHECK(alone.keeps("model.rejected_tokens"));
    CHECK_FALSE(alone.keeps("checkpoint.sequences_apart"));
    const contract_report many = check_checkpoints<target_id>([] { return several(3, 5); });
    INFO(many.text());
    CHECK(many.ok());
    CHECK(many.keeps("checkpoint.sequences_apart"));
    CHECK(many.keeps("batch.refused_pass"));
}

TEST_CASE("each clause is broken by an engine that does what it forbids") {
    struct forgets_to_restore : recurrent {
        using recurrent::recurrent;
        void restore() {}
    };
    CHECK(broken_by(forgets_to_restore(5)) == "checkpoint.restore");

    struct restores_once : recurrent {
        using recurrent::recurrent;
        bool used = false;
        void checkpoint() {
            used = false;
            recurrent::checkpoint();
        }
        void restore() {
            if (!used)
                recurrent::restore();
            used = true;
        }
    };
    CHECK(broken_by(restores_once(5)) == "checkpoint.again");

    struct keeps_the_first : recurrent {
        using recurrent::recurrent;
        bool there = false;
        void checkpoint() {
            if (!there)
                recurrent::checkpoint();
            there = true;
        }
        void clear() {
            there = false;
            recurrent::clear();
        }
    };
    CHECK(broken_by(keeps_the_first(5)) == "checkpoint.replaced");

    struct never_clears : recurrent {
        using recurrent::recurrent;
        void clear() {}
    };
    CHECK(broken_by(never_clears(5)) == "checkpoint.clear");

    struct half_a_refusal : recurrent {
        using recurrent::recurrent;
        [[nodiscard]] logits_rows<target_id> score(std::span<const target_id> ids) {
            if (ids.size() > capacity() - size())
                clear();
            return recurrent::score(ids);
        }
    };
    CHECK(broken_by(half_a_refusal(5)) == "checkpoint.refusal");

    struct one_checkpoint_for_all : several {
        using several::several;
        void checkpoint(std::size_t s) {
            for (std::size_t i = 0; i < models.size(); ++i)
                models[i].checkpoint();
            several::checkpoint(s);
        }
    };
    CHECK(broken_by(one_checkpoint_for_all(2, 5)) == "checkpoint.sequences_apart");

    struct clears_behind : several {
        using several::several;
        void clear(std::size_t s) {
            for (; s < models.size(); ++s)
                models[s].clear();
        }
    };
    CHECK(broken_by(clears_behind(2, 5)) == "checkpoint.sequences_apart");
}

} // namespace checkpoint_contract_tests
