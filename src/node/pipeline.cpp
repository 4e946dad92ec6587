#include "node/pipeline.hpp"

#include <algorithm>
#include <iterator>

namespace redlock::detail {

namespace {

constexpr encoded_argument eval{"$4\r\nEVAL\r\n"};
constexpr encoded_argument evalsha{"$7\r\nEVALSHA\r\n"};

/// Adds a question's arguments.
void add(request& to, const argument_list& what, const question& asked, const guard* guarded)
{
    for (const argument each : what.all())
        each(to, asked, guarded);
}

/// Whether arguments are the same for all questions of a command.
bool are_alike(const argument_list& what, std::span<const question_ptr> asked, const guard* guarded)
{
    request first;
    add(first, what, *asked.front(), guarded);
    request other;
    return std::ranges::all_of(asked.subspan(1), [&](const auto& each) {
        other.clear();
        add(other, what, *each, guarded);
        return other.payload() == first.payload();
    });
}

/// If a question has several commands, only the reply to the last one matters.
void push_single(encoded_questions& to, const question& asked, const phrasing& how)
{
    how.put(to.request, asked);
    to.commands.resize(to.request.size() - 1, {0, script_form::none});
    to.commands.push_back({1, script_form::none});
}

}  // namespace

bool is_worth_another(const command& put, const answer& said) noexcept
{
    if (put.script != script_form::hash || (put.is_list() && !said.of_all))
        return false;
    // The scripts were flushed. Or the list has a key that the user may not touch, and the others
    // must not fail because of it.
    return said.is_error("NOSCRIPT") || (put.is_list() && said.is_error("NOPERM"));
}

command_encoder::command_encoder(
    std::shared_ptr<const guard> guarded,
    bool single_keys,
    script_set scripts
)
    : guarded_(std::move(guarded)),
      scripts_(std::move(scripts)),
      max_list_(single_keys ? 1 : max_list)
{
}

command_encoder::command_encoder(std::shared_ptr<const guard> guarded, bool single_keys)
    : command_encoder(guarded, single_keys, make_scripts(guarded.get()))
{
}

void command_encoder::push_script(
    encoded_questions& to,
    std::span<const question_ptr> asked,
    script_form form
) const
{
    const verb what = asked.front()->what();
    const verb_rules& rules = rules_of(what);
    const phrasing& how = phrasing_of(rules, guarded_.get());
    const lua_script& script = script_of(scripts_, what);
    const bool has_marker_end = guarded_ && rules.compares_marker;
    const bool alike = are_alike(how.shared, asked, guarded_.get());
    const std::size_t shared_by = alike ? 1 : asked.size();
    const std::size_t shared = how.shared.all().size() * shared_by;
    const std::size_t own = (1 + how.arguments.all().size()) * asked.size();

    request& commands = to.request;
    commands.begin(3 + has_marker_end + shared + own);
    const bool whole = form == script_form::text;
    commands.add(whole ? eval : evalsha);
    commands.add(std::string_view(whole ? script.text : script.sha));
    commands.add(asked.size());
    for (const auto& each : asked)
        commands.add(each->key());
    if (has_marker_end)
        commands.add_gap();
    if (alike)
        add(commands, how.shared, *asked.front(), guarded_.get());
    for (const auto& each : asked)
    {
        add(commands, how.arguments, *each, guarded_.get());
        if (!alike)
            add(commands, how.shared, *each, guarded_.get());
    }
    to.commands.push_back({asked.size(), form});
}

const encoded_questions& command_encoder::encode(std::span<const question_ptr> asked)
{
    const verb what = asked.front()->what();
    encoded_questions& kept = kept_.at(static_cast<std::size_t>(what));
    const auto serial = [](const auto& each) { return each->serial(); };
    if (std::ranges::equal(asked, kept.serials, {}, serial))
        return kept;

    // Without serials it matches no question, so an encoding that failed halfway is never used.
    kept.serials.clear();
    kept.serials.reserve(asked.size());
    kept.request.clear();
    kept.commands.clear();
    const phrasing& how = phrasing_of(rules_of(what), guarded_.get());
    if (how.script)
    {
        for (std::size_t at = 0; at < asked.size(); at += max_list_)
        {
            const std::size_t size = std::min(max_list_, asked.size() - at);
            push_script(kept, asked.subspan(at, size), script_form::hash);
        }
    }
    else
    {
        for (const auto& each : asked)
            push_single(kept, *each, how);
    }
    std::ranges::transform(asked, std::back_inserter(kept.serials), serial);
    return kept;
}

encoded_questions command_encoder::encode_whole(const question_ptr& asked) const
{
    encoded_questions made;
    push_script(made, {&asked, 1}, script_form::text);
    return made;
}

pipeline::pipeline(std::size_t index, std::shared_ptr<command_encoder> encoder)
    : index_(index), encoder_(std::move(encoder))
{
    spare_.reserve(max_spare);
}

void pipeline::add(question_ptr asked)
{
    question& added = *asked;
    ++open_batch().size;
    added_[static_cast<std::size_t>(added.what())].push_back(std::move(asked));
    added.mark_sent(index_);
    ++unanswered_;
    releases_ += rules_of(added.what()).gives_back;
}

void pipeline::count_down(const question& answered) noexcept
{
    --unanswered_;
    releases_ -= rules_of(answered.what()).gives_back;
}

pipeline::batch& pipeline::open_batch()
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

const request* pipeline::take_batch()
{
    ask_again();
    if (!open_)
        return nullptr;
    // Do this even if it isn't written yet: the order of verbs is right only within a turn.
    encode_added();
    if (open_->commands.empty() || written_.size() == max_written)
        return nullptr;
    written_.push_back(std::move(open_));
    return &written_.back()->bytes;
}

void pipeline::ask_again()
{
    for (; !to_ask_again_.empty(); to_ask_again_.pop_front())
    {
        question_ptr& asked = to_ask_again_.front();
        if (!asked->wanted())
        {
            withdraw(*asked);
            continue;
        }
        open_batch();
        append({&asked, 1}, encoder_->encode_whole(asked));
    }
}

/// Turns this turn's questions into commands.
void pipeline::encode_added()
{
    for (const verb what : write_order)
    {
        question_list& asked = added_[static_cast<std::size_t>(what)];
        if (asked.empty())
            continue;
        std::erase_if(asked, [this](const question_ptr& each) {
            const bool unwanted = !each->wanted();
            if (unwanted)
                withdraw(*each);
            return unwanted;
        });
        if (!asked.empty())
            append(asked, encoder_->encode(asked));
        asked.clear();
    }
}

/// Adds commands to the open batch, and the questions that they put.
void pipeline::append(std::span<question_ptr> asked, const encoded_questions& encoded)
{
    open_->bytes.append(encoded.request, marker_end_);
    std::ranges::copy(encoded.commands, std::back_inserter(open_->commands));
    std::ranges::move(asked, std::back_inserter(open_->asked));
}

/// Answers a question that was released before it was written, because its command would come after
/// its release.
void pipeline::withdraw(question& asked)
{
    count_down(asked);
    asked.on_reply(index_, {vote::refused, reason::error_reply});
}

void pipeline::read(const resp::part& part)
{
    batch& of = *written_.front();
    const command& replied = of.commands[next_command_];
    const auto next = [&](const answer& said) {
        take_answer(of.asked[next_question_++], replied, said);
    };
    if (part.depth == 0)
        answers_.begin(replied.size, replied.is_list());
    answers_.read(part, next);
    if (!part.last)
        return;
    answers_.end(next);
    if (++next_command_ == of.commands.size())
        end_batch();
}

/// All replies to the first batch are there.
void pipeline::end_batch()
{
    std::unique_ptr<batch> ended = std::move(written_.front());
    written_.pop_front();
    next_command_ = next_question_ = 0;
    ended->bytes.clear();
    ended->commands.clear();
    ended->asked.clear();
    ended->size = 0;
    if (spare_.size() < max_spare)
        spare_.push_back(std::move(ended));
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

bool pipeline::fail_some(error_code why, std::size_t most)
{
    if (open_)
        written_.push_back(std::exchange(open_, nullptr));
    for (; !written_.empty(); end_batch())
    {
        for (const auto& asked = written_.front()->asked; next_question_ < asked.size(); --most)
        {
            if (most == 0)
                return true;
            fail(asked[next_question_++], why);
        }
    }
    for (; !to_ask_again_.empty(); to_ask_again_.pop_front(), --most)
    {
        if (most == 0)
            return true;
        fail(to_ask_again_.front(), why);
    }
    for (question_list& added : added_)
    {
        for (; !added.empty(); added.pop_back(), --most)
        {
            if (most == 0)
                return true;
            fail(added.back(), why);
        }
    }
    return false;
}

void pipeline::fail(const question_ptr& asked, error_code why)
{
    count_down(*asked);
    asked->on_reply(index_, {vote::unknown, reason::connection_lost, why});
    if (rules_of(asked->what()).outlives_link)
        lost_releases_.push_back(asked);
}

}  // namespace redlock::detail
