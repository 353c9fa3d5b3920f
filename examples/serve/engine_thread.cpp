// SPDX-License-Identifier: MIT
#include "serve/engine_thread.hpp"

#include <algorithm>
#include <exception>
#include <random>
#include <span>
#include <string_view>
#include <utility>

#include <specdec/core/error.hpp>

namespace specdec::serve {

namespace {

/// Whether a seed's output depends neither on drafts nor on their lengths.
bool repeats(rule r) {
    return matches_exactly(r) || is_coupled(r) || !takes_drafter(r);
}

token_text named(const token_log_probability& t, const vocabulary& table) {
    return {std::string(table.entry(t.token.index())), t.log_probability};
}

} // namespace

/// A text that has joined, and its listener: what a round gives is sent as one event.
class engine_thread::running_text final : public listener {
public:
    running_text(waiting_text w, const vocabulary& table) : asked_(std::move(w)), table_(table) {
        news_.choice = asked_.choice;
    }

    bool bytes(std::string_view part, token_origin origin) override {
        news_.pieces.push_back(
            {std::string(part), origin, origin == token_origin::looked_up && forces});
        return !asked_.to->gone();
    }
    bool round(const round_result& r) override {
        if (asked_.request->origins) {
            round_report& report = news_.rounds.emplace_back();
            for (const target_id id : r.proposed)
                report.proposed.emplace_back(table_.entry(id.index()));
            report.accepted = r.accepted;
            if (!r.ended())
                report.target = std::string(table_.entry(r.tokens.back().index()));
        }
        return !asked_.to->gone();
    }
    void committed(std::span<const target_id> tokens,
                   std::span<const token_report> reports) override {
        made_ += tokens.size();
        for (const token_report& report : reports) {
            reported_token& one = news_.tokens.emplace_back();
            one.chosen = named(report.chosen, table_);
            for (const token_log_probability& other : report.likeliest)
                if (other.token.valid())
                    one.likeliest.push_back(named(other, table_));
        }
    }

    /// Sends what there is.
    void send() {
        if (!news_.begun && news_.pieces.empty() && news_.tokens.empty() &&
            news_.finish == finish_reason::none && news_.failed == failure::none)
            return;
        asked_.to->push(std::exchange(news_, {.choice = asked_.choice}));
    }

    [[nodiscard]] const waiting_text& asked_for() const { return asked_; }
    [[nodiscard]] event& news() { return news_; }
    [[nodiscard]] std::size_t made() const { return made_; }

    std::unique_ptr<speculative_text> text{};
    clock::time_point began = clock::now();
    bool forces = false; ///< what is looked up is forced by a grammar
    bool first_told = false;
    bool ended = false;

private:
    waiting_text asked_;
    const vocabulary& table_;
    event news_;
    std::size_t made_ = 0;
};

engine_thread::engine_thread(decoder& pair, engine_settings settings)
    : pair_(pair), settings_(std::move(settings)),
      batch_(pair.target_models(), {}, settings_.decoding.together, settings_.prompt_piece),
      thread_([this] { run(); }) {}

engine_thread::~engine_thread() {
    stop(std::chrono::seconds(0));
}

std::shared_ptr<channel> engine_thread::submit(const asked& request) {
    auto to = std::make_shared<channel>();
    const auto shared = std::make_shared<const asked>(request);
    std::uint64_t seed = request.seed.value_or(0);
    if (!request.seed) {
        std::random_device random;
        seed = std::uint64_t{random()} << 32 | random();
    }
    const std::scoped_lock lock(mutex_);
    if (stopping_)
        throw refused(503, "the server is stopping");
    if (waiting_.size() + request.choices > settings_.waiting) {
        ++counts_.refused;
        throw refused(429, "too many requests are waiting (" + std::to_string(waiting_.size()) +
                               "); try again later");
    }
    ++counts_.requests;
    const auto place = std::ranges::upper_bound(
        waiting_, request.priority, {}, [](const waiting_text& w) { return w.request->priority; });
    std::vector<waiting_text> all;
    for (std::size_t i = 0; i < request.choices; ++i)
        all.push_back({shared, i, seed, clock::now(), to});
    waiting_.insert(place, all.begin(), all.end());
    counts_.waiting = waiting_.size();
    some_.notify_one();
    return to;
}

void engine_thread::stop(std::chrono::seconds grace) {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
        give_up_ = std::min(give_up_, clock::now() + grace);
        some_.notify_one();
    }
    if (thread_.joinable())
        thread_.join();
}

engine_thread::clock::time_point engine_thread::when_to_give_up() {
    const std::scoped_lock lock(mutex_);
    return give_up_;
}

void engine_thread::run() {
    for (;;) {
        {
            std::unique_lock lock(mutex_);
            if (running_.empty())
                some_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
            if (stopping_ && running_.empty() && waiting_.empty())
                return;
        }
        admit();
        make_round();
        look_after_all();
    }
}

/// Waiting texts take the sequences that are free: by priority, then in the order in which they
/// came.
void engine_thread::admit() {
    const clock::time_point now = clock::now();
    for (;;) {
        waiting_text next;
        {
            const std::scoped_lock lock(mutex_);
            std::erase_if(waiting_, [&](const waiting_text& w) {
                const bool late = now - w.arrived > settings_.longest || now > give_up_;
                if (late)
                    w.to->push({.choice = w.choice,
                                .failed = now > give_up_ ? failure::stopped : failure::too_late,
                                .error = "no sequence was free in time"});
                return late || w.to->gone();
            });
            counts_.waiting = waiting_.size();
            if (waiting_.empty() || !batch_.room() || running_.size() == pair_.sequences())
                return;
            next = std::move(waiting_.front());
            waiting_.pop_front();
            counts_.waiting = waiting_.size();
        }
        begin(std::move(next));
    }
}

std::vector<target_id> engine_thread::prompt_of(const asked& request) const {
    using namespace specdec::examples;
    if (request.chat && !settings_.form)
        throw error("model", "messages", settings_.no_form);
    const std::vector<target_id> ids =
        request.chat ? chat_prompt(pair_, *settings_.form, request.messages, "model")
                     : plain_prompt(pair_, request.prompt);
    const std::size_t most = pair_.target_models().capacity();
    if (ids.empty() || ids.size() >= most)
        throw error("request", request.chat ? "messages" : "prompt",
                    "expected 1 to " + std::to_string(most - 1) + " tokens, found " +
                        std::to_string(ids.size()));
    return ids;
}

/// A request with a seed repeats: its rule's output depends neither on the drafts nor on the other
/// requests. (At temperature 0 every rule's does.)
decode_settings engine_thread::settings_of(const asked& request, std::uint64_t seed) const {
    decode_settings s = settings_.decoding;
    s.sampling = request.sampling;
    s.seed = seed;
    s.limits = {.max_tokens = request.max_tokens, .stop_strings = request.stops};
    if (const std::string end = request.chat ? settings_.form->end() : std::string(); !end.empty())
        if (!is_end(pair_.end_tokens(), *pair_.control(end)))
            s.limits.stop_strings.push_back(end); // an answer ends with its turn
    s.log_probabilities = request.likeliest;
    if (request.seed && s.sampling.temperature > 0 && !repeats(pair_.rule_for(s))) {
        s.lookup.beside = false;
        if (pair_.applies(rule::coupled)) {
            s.rule = rule::coupled;
        } else { // a drafter that reads features follows `identity` alone
            s.rule = rule::identity;
            s.lengths = {.kind = length_kind::fixed, .length = 3};
        }
    }
    if (!request.draft) {
        s.shared_noise = is_coupled(pair_.rule_for(s));
        s.rule = rule::autoregressive;
        s.lookup.beside = false;
    }
    return s;
}

void engine_thread::begin(waiting_text w) {
    auto one = std::make_unique<running_text>(std::move(w), pair_.target_table());
    const asked& request = *one->asked_for().request;
    try {
        const std::vector<target_id> prompt = prompt_of(request);
        text_request text{.prompt = prompt,
                          .sequence = one->asked_for().choice,
                          .key = request.key,
                          .reader = one.get()};
        if (request.grammar)
            text.grammar = *request.grammar;
        const decode_settings s = settings_of(request, one->asked_for().seed);
        one->forces =
            request.grammar.has_value() && takes_drafter(pair_.rule_for(s)) && !s.lookup.beside;
        one->text = pair_.open(text, s);
        const joined_sequence joined = batch_.join(*one->text);
        one->news().begun = true;
        one->news().prompt_tokens = prompt.size();
        one->news().cached_tokens = joined.reused;
        counts_.prompt_tokens += prompt.size();
        counts_.cached_tokens += joined.reused;
        one->send();
        running_.push_back(std::move(one));
        counts_.running = running_.size();
    } catch (const error& problem) { // of what was asked
        ++counts_.failed;
        one->news().failed = failure::request;
        one->news().error = problem.what();
        one->news().field = problem.field();
        one->send();
    } catch (const std::exception& problem) {
        ++counts_.failed;
        one->news().failed = failure::engine;
        one->news().error = problem.what();
        one->send();
    }
}

void engine_thread::make_round() {
    constexpr std::size_t most_failing = 3;
    try {
        (void)batch_.round();
        failing_ = 0;
    } catch (const std::exception& problem) {
        speculative_text* const thrower = batch_.thrower();
        for (const auto& one : running_)
            if (one->text.get() == thrower)
                return fail(*one, failure::engine, problem.what());
        if (++failing_ >= most_failing) { // the pass that all share
            failing_ = 0;
            end_all(failure::engine, problem.what());
        }
    }
    const batch_counts& c = batch_.counts();
    counts_.passes = c.passes;
    counts_.rows = c.rows;
}

/// Sends what the round gave, and takes leave of texts that have ended or whose client has gone.
void engine_thread::look_after_all() {
    const clock::time_point now = clock::now(), give_up = when_to_give_up();
    for (const auto& one : running_) {
        if (one->ended)
            continue;
        const waiting_text& w = one->asked_for();
        if (!one->first_told && one->made() > 0) {
            one->first_told = true;
            ++counts_.first_tokens;
            counts_.first_token_microseconds += static_cast<std::uint64_t>(
                std::chrono::duration_cast<std::chrono::microseconds>(now - w.arrived).count());
        }
        if (w.to->gone()) {
            ++counts_.hung_up;
            end(*one);
        } else if (const finish_reason why = one->text->finish(); why != finish_reason::none) {
            ++counts_.finished;
            one->news().finish = why;
            one->news().counts = one->text->counts();
            one->news().seconds = std::chrono::duration<double>(now - one->began).count();
            end(*one);
        } else if (now > give_up) {
            fail(*one, failure::stopped, "the server has stopped");
        } else if (now - w.arrived > settings_.longest) {
            fail(*one, failure::too_late, "the request took too long");
        }
        one->send();
    }
    std::erase_if(running_, [](const auto& one) { return one->ended; });
    counts_.running = running_.size();
}

void engine_thread::end(running_text& one) {
    batch_.leave(*one.text);
    one.ended = true;
    const statistics& c = one.text->counts();
    counts_.tokens += c.committed;
    counts_.proposed += c.proposed;
    counts_.accepted += c.accepted;
    counts_.drafter_failures += one.text->result().drafter_failures;
}

void engine_thread::fail(running_text& one, failure why, const std::string& what) {
    ++counts_.failed;
    end(one);
    one.news().failed = why;
    one.news().error = what;
    one.send();
}

void engine_thread::end_all(failure why, const std::string& what) {
    for (const auto& one : running_)
        if (!one->ended)
            fail(*one, why, what);
}

} // namespace specdec::serve
