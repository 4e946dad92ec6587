#include "node/pipeline.hpp"

#include "node/verbs.hpp"

#include <algorithm>
#include <utility>

namespace redlock::detail {

pipeline::pipeline(std::size_t index, std::shared_ptr<command_encoder> encoder)
    : index_(index), encoder_(std::move(encoder))
{
    spare_.reserve(max_spare);
}

void pipeline::add(question_ptr asked)
{
    question& added = *asked;
    open_batch().add(std::move(asked));
    added.mark_sent(index_);
    ++unanswered_;
    releases_ += rules_of(added.what()).gives_back;
}

void pipeline::count_down(const question& answered) noexcept
{
    --unanswered_;
    releases_ -= rules_of(answered.what()).gives_back;
}

batch& pipeline::open_batch()
{
    if (open_)
        return *open_;
    if (spare_.empty())
    {
        open_ = std::make_unique<batch>();
        return *open_;
    }
    open_ = std::move(spare_.back());
    spare_.pop_back();
    return *open_;
}

const request* pipeline::prepare()
{
    ask_again();
    if (!open_)
        return nullptr;
    // Do this even if it isn't written yet: the order of verbs is right only within a turn.
    const request& made =
        open_->put_together(*encoder_, marker_end_, [this](question& each) { withdraw(each); });
    return open_->empty() || written_ == max_written ? nullptr : &made;
}

std::unique_ptr<batch> pipeline::take() noexcept
{
    ++written_;
    return std::move(open_);
}

void pipeline::ask_again()
{
    for (; !to_ask_again_.empty(); to_ask_again_.pop_front())
    {
        const question_ptr& asked = to_ask_again_.front();
        if (asked->wanted())
            open_batch().add_whole(asked, *encoder_, marker_end_);
        else
            withdraw(*asked);
    }
}

/// Answers a question that was released before it was written, because its command would come after
/// its release.
void pipeline::withdraw(question& asked)
{
    count_down(asked);
    asked.on_reply(index_, {vote::refused, reason::error_reply});
}

void pipeline::read(batch& of, const resp::part& part)
{
    of.read(part, [this](const question_ptr& asked, const command& put, const answer& said) {
        take_answer(asked, put, said);
    });
}

void pipeline::take_answer(const question_ptr& asked, const command& put, const answer& said)
{
    if (is_worth_another(put, said) && asked->wanted())
        return to_ask_again_.push_back(asked);
    count_down(*asked);
    const reply meant = interpret(asked->what(), asked->stamp(), said);
    if (said.what == answer::kind::error)
        note_error(asked->what(), said.text().value_or(""));
    else
        answered_.set(static_cast<std::size_t>(asked->what()));
    if (meant.why == reason::unmarked)
        found().unmarked = true;
    if (meant.why == reason::too_few_replicas)
        found().too_few_replicas = {meant.why, std::string(meant.text)};
    if (meant.why == reason::quarantined)
        found().quarantined_for = meant.ready_in;
    asked->on_reply(index_, meant);
}

findings& pipeline::found()
{
    if (!findings_)
        findings_ = std::make_unique<findings>();
    return *findings_;
}

void pipeline::note_error(verb what, std::string_view error)
{
    const auto is_of_verb = [what](const auto& noted) { return noted.first == what; };
    findings& noted = found();
    if (refusal now = judge_error(error))
        noted.not_a_master = std::move(now);
    if (std::ranges::none_of(noted.errors, is_of_verb))
        noted.errors.emplace_back(what, error);
}

void pipeline::done(std::unique_ptr<batch> answered)
{
    --written_;
    answered->clear();
    if (spare_.size() < max_spare)
        spare_.push_back(std::move(answered));
}

void pipeline::fail(batch& written, error_code why)
{
    while (const auto asked = written.take_unanswered())
        fail(asked, why);
}

void pipeline::fail_unwritten(error_code why)
{
    for (; !to_ask_again_.empty(); to_ask_again_.pop_front())
        fail(to_ask_again_.front(), why);
    if (const auto unwritten = std::exchange(open_, nullptr))
        fail(*unwritten, why);
}

void pipeline::fail(const question_ptr& asked, error_code why)
{
    count_down(*asked);
    asked->on_reply(index_, {vote::unknown, reason::connection_lost, why});
    if (rules_of(asked->what()).outlives_link)
        lost_releases_.push_back(asked);
}

}  // namespace redlock::detail
