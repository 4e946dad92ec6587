// What a node is sent for the questions of a turn, and which question gets which answer.

#include "node/pipeline.hpp"

#include "scripts.hpp"
#include "wire/resp_reader.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

BOOST_AUTO_TEST_SUITE(test_pipeline)

namespace detail = redlock::detail;
using detail::verb;
using redlock::milliseconds;
using redlock::core::queue_move;

namespace {

class question_of_test final : public detail::question
{
public:
    using question::question;

    void on_reply(std::size_t, const detail::reply& said) noexcept override
    {
        if (told)
            *told += std::string(key()) + " " + to_string(said.vote) + "; ";
    }
    bool wanted() const noexcept override { return wanted_; }

    void give_up() noexcept { wanted_ = false; }

    std::string* told = nullptr;  ///< Where to note the answer.

private:
    bool wanted_ = true;
};

std::shared_ptr<const detail::guard> guard_of_test(bool queue = true)
{
    redlock::client_config config;
    config.nodes.resize(3);
    config.waiting.queue = queue;
    return std::make_shared<detail::guard>(*detail::make_guard(config));
}

std::string wire(const std::vector<std::string>& words)
{
    std::string made = "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string& word : words)
        made += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
    return made;
}

std::string set(char key)
{
    return wire({"SET", {key}, std::string(40, key), "NX", "PX", "1500"});
}

std::string release(char key)
{
    return wire({"EVALSHA", detail::release_script.sha, "1", {key}, std::string(40, key)});
}

/// The pipeline of a node, and questions for it. Keys are "a", "b" and so on, ids 40 times that.
struct pipeline_fixture
{
    std::shared_ptr<detail::command_encoder> encoder =
        std::make_shared<detail::command_encoder>(nullptr, false);
    detail::command_encoder& plain = *encoder;
    detail::pipeline sent{0, encoder};
    std::uint64_t serial = 0;
    std::string told;

    /// @param entry Of a round that waits in queues, or of a release that leaves them.
    boost::intrusive_ptr<question_of_test> make(
        verb what,
        const std::string& key,
        milliseconds ttl = milliseconds(1500),
        detail::queue_entry entry = {}
    )
    {
        auto wanted = std::make_shared<const detail::demand>(key, redlock::acquire_options());
        detail::attempt about{std::move(wanted), {}, {}};
        about.id.fill(key.front());
        auto made = detail::question::keep(std::make_shared<question_of_test>(detail::wording{
            ++serial, what, std::make_shared<const detail::attempt>(std::move(about)), ttl, 0, entry
        }));
        made->told = &told;
        return made;
    }

    boost::intrusive_ptr<question_of_test> make(
        verb what,
        const std::string& key,
        detail::queue_entry entry
    )
    {
        return make(what, key, milliseconds(1500), entry);
    }

    /// What a guarded client puts, behind the hash of the script.
    static std::string put(
        const std::shared_ptr<const detail::guard>& by,
        const std::vector<detail::question_ptr>& asked
    )
    {
        detail::command_encoder encoder(by, false);
        const std::string sha = script_of(encoder.scripts(), asked.front()->what()).sha;
        const std::string bytes(encoder.encode(asked).request.payload());
        return bytes.substr(bytes.find(sha) + sha.size() + 2);
    }

    std::vector<detail::question_ptr> make_many(verb what, std::size_t count)
    {
        std::vector<detail::question_ptr> made;
        for (std::size_t at = 0; at < count; ++at)
            made.push_back(make(what, "a" + std::to_string(at)));
        return made;
    }

    /// What is written at the end of a turn.
    std::string end_turn() { return end_turn(sent); }

    static std::string end_turn(detail::pipeline& of)
    {
        const detail::request* const made = of.take_batch();
        return made ? std::string(made->payload()) : std::string();
    }

    static void reply(detail::pipeline& to, std::string_view input)
    {
        detail::resp::reader reader;
        while (const auto part = reader.next(input))
            to.read(*part);
    }

    /// Writes as many batches as a node may owe answers to.
    void fill()
    {
        for (std::size_t at = 0; at < detail::pipeline::max_written; ++at)
        {
            sent.add(make(verb::acquire, "f"));
            BOOST_TEST_REQUIRE(end_turn() == set('f'));
        }
    }
};

constexpr detail::queue_entry leaving{.move = queue_move::leave};

constexpr detail::queue_entry since(std::uint64_t arrival, milliseconds reservation = {})
{
    return {.move = queue_move::keep, .arrival = arrival, .reservation = reservation};
}

/// The arguments of a command.
std::string words(const std::vector<std::string>& all)
{
    const std::string command = wire(all);
    return command.substr(command.find('$'));
}

std::vector<std::size_t> sizes_of(const detail::encoded_questions& from)
{
    std::vector<std::size_t> sizes;
    std::ranges::transform(from.commands, std::back_inserter(sizes), &detail::command::size);
    return sizes;
}

detail::answer error(const char* text, bool of_all)
{
    detail::answer made{.what = detail::answer::kind::error, .count = 1, .of_all = of_all};
    made.elements[0] = text;
    return made;
}

void check(const std::vector<std::size_t>& sizes, const std::vector<std::size_t>& expected)
{
    BOOST_TEST(sizes == expected, boost::test_tools::per_element());
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(acquisitions_of_plain_mode_are_a_SET_each, pipeline_fixture)
{
    sent.add(make(verb::acquire, "a"));
    sent.add(make(verb::acquire, "b"));
    BOOST_TEST(end_turn() == set('a') + set('b'));
}

BOOST_FIXTURE_TEST_CASE(a_question_about_a_holder_is_a_PTTL, pipeline_fixture)
{
    sent.add(make(verb::holder, "a"));
    BOOST_TEST(end_turn() == wire({"PTTL", "a"}));
}

BOOST_FIXTURE_TEST_CASE(a_lone_release_has_a_script_to_itself, pipeline_fixture)
{
    sent.add(make(verb::release, "a"));
    BOOST_TEST(end_turn() == release('a'));
}

BOOST_FIXTURE_TEST_CASE(releases_of_a_turn_share_a_script, pipeline_fixture)
{
    sent.add(make(verb::release, "a"));
    sent.add(make(verb::release, "b"));
    const std::string ids_of[] = {std::string(40, 'a'), std::string(40, 'b')};
    BOOST_TEST(
        end_turn() ==
        wire({"EVALSHA", detail::release_script.sha, "2", "a", "b", ids_of[0], ids_of[1]})
    );
}

BOOST_FIXTURE_TEST_CASE(extensions_of_a_turn_share_a_script, pipeline_fixture)
{
    sent.add(make(verb::extend, "a"));
    sent.add(make(verb::extend, "b"));
    const std::string ids_of[] = {std::string(40, 'a'), std::string(40, 'b')};
    BOOST_TEST(
        end_turn() ==
        wire({"EVALSHA", detail::extend_script.sha, "2", "a", "b", "1500", ids_of[0], ids_of[1]})
    );
}

BOOST_FIXTURE_TEST_CASE(extensions_of_a_turn_bring_a_ttl_each_if_theirs_differ, pipeline_fixture)
{
    sent.add(make(verb::extend, "a"));
    sent.add(make(verb::extend, "b", milliseconds(2500)));
    const std::string ids_of[] = {std::string(40, 'a'), std::string(40, 'b')};
    BOOST_TEST(
        end_turn() == wire(
                          {"EVALSHA",
                           detail::extend_script.sha,
                           "2",
                           "a",
                           "b",
                           ids_of[0],
                           "1500",
                           ids_of[1],
                           "2500"}
                      )
    );
}

BOOST_FIXTURE_TEST_CASE(
    releases_that_leave_a_queue_say_the_name_of_the_client_once,
    pipeline_fixture
)
{
    const auto by = guard_of_test();
    const std::string ids_of[] = {std::string(40, 'a'), std::string(40, 'b')};
    BOOST_TEST(
        put(by, {make(verb::release, "a", leaving), make(verb::release, "b", leaving)}) ==
        words({"2", "a", "b", by->queue_name, ids_of[0], "0", ids_of[1], "0"})
    );
}

BOOST_FIXTURE_TEST_CASE(releases_bring_a_place_each_if_theirs_differ, pipeline_fixture)
{
    const auto by = guard_of_test();
    const std::string ids_of[] = {std::string(40, 'a'), std::string(40, 'b')};
    BOOST_TEST(
        put(by, {make(verb::release, "a", since(77)), make(verb::release, "b")}) ==
        words({"2", "a", "b", ids_of[0], "0", by->queue_name + ":77", ids_of[1], "0", ""})
    );
}

BOOST_FIXTURE_TEST_CASE(
    a_release_that_leaves_a_queue_says_nothing_of_a_far_client,
    pipeline_fixture
)
{
    const auto by = guard_of_test();
    detail::queue_entry entry = since(77, milliseconds(120));
    const auto placed = [&] { return put(by, {make(verb::release, "a", entry)}); };
    const std::string id(40, 'a');
    BOOST_TEST(placed() == words({"1", "a", by->queue_name + ":77:120", id, "0"}));
    entry.move = queue_move::leave;
    BOOST_TEST(placed() == words({"1", "a", by->queue_name, id, "0"}));
}

BOOST_FIXTURE_TEST_CASE(
    an_acquisition_says_when_it_arrived_unless_that_was_just_now,
    pipeline_fixture
)
{
    const auto by = guard_of_test();
    const auto asked = [&](detail::queue_entry entry) {
        return put(by, {make(verb::acquire, "a", entry)});
    };
    const auto with = [&](const std::string& place) {
        const std::string value = std::string(40, 'a') + " 0 " + by->queue_name + " 0 0 ";
        return words({"1", "a", "1500", place, value});
    };
    BOOST_TEST(asked(since(0)) == with(by->queue_name));  // Its stamp is 0.
    BOOST_TEST(asked(since(77)) == with(by->queue_name + ":77"));
    BOOST_TEST(asked(since(0, milliseconds(120))) == with(by->queue_name + ":0:120"));
    BOOST_TEST(asked({}) == with(""));
}

BOOST_FIXTURE_TEST_CASE(clients_that_poll_have_no_place, pipeline_fixture)
{
    const auto by = guard_of_test(false);
    BOOST_TEST(
        put(by, {make(verb::release, "a", since(77))}) ==
        words({"1", "a", "-", std::string(40, 'a'), "0"})
    );
}

BOOST_FIXTURE_TEST_CASE(an_acquisition_brings_its_note_along, pipeline_fixture)
{
    const auto by = guard_of_test();
    detail::demand wanted("a", {.note = "ships it"});
    const auto asked = detail::question::keep(std::make_shared<question_of_test>(detail::wording{
        .attempt = std::make_shared<const detail::attempt>(
            detail::attempt{std::make_shared<const detail::demand>(wanted), {}, {}}
        ),
        .ttl = milliseconds(1500)
    }));
    const std::string id(asked->id());
    const std::string value = id + " 0 " + by->queue_name + " 0 0 ships it";
    BOOST_TEST(put(by, {asked}) == words({"1", "a", "1500", "", value}));
}

BOOST_FIXTURE_TEST_CASE(an_extension_brings_an_announcement_along, pipeline_fixture)
{
    const auto by = guard_of_test();
    detail::wording says = make(verb::extend, "a")->says();
    says.announced = std::make_shared<detail::announcement>(detail::announcement{"ends", 5});
    const auto asked = detail::question::keep(std::make_shared<question_of_test>(std::move(says)));
    const std::string id(asked->id());
    BOOST_TEST(put(by, {asked}) == words({"1", "a", "1500", "5", "ends", id, "0", "0"}));
}

// The stamp is the time at which it is asked, the token that of the acquisition.
BOOST_FIXTURE_TEST_CASE(
    a_guarded_extension_has_its_stamp_and_brings_its_token_along,
    pipeline_fixture
)
{
    const auto guarded = guard_of_test();
    const auto scripted = std::make_shared<detail::command_encoder>(guarded, false);
    detail::pipeline to(0, scripted);
    to.address_to("run");
    const auto wanted = std::make_shared<detail::demand>("a", redlock::acquire_options());
    const auto asked = detail::question::keep(std::make_shared<question_of_test>(detail::wording{
        1,
        verb::extend,
        std::make_shared<const detail::attempt>(
            detail::attempt{wanted, {}, redlock::fencing_token::from_value(7)}
        ),
        milliseconds(1500),
        9
    }));
    to.add(asked);
    const std::string id(asked->id());
    BOOST_TEST(
        end_turn(to) == wire(
                            {"EVALSHA",
                             script_of(scripted->scripts(), verb::extend).sha,
                             "1",
                             "a",
                             "run",
                             "1500",
                             "0",
                             "",
                             id,
                             "9",
                             "7"}
                        )
    );
}

// The bytes are made once, and then copied for each node.
BOOST_FIXTURE_TEST_CASE(
    each_node_gets_its_own_run_id_once_for_all_questions_of_a_command,
    pipeline_fixture
)
{
    const auto guarded = guard_of_test();
    const auto scripted = std::make_shared<detail::command_encoder>(guarded, false);
    const auto asked = make_many(verb::extend, 65);
    for (const std::string run_id : {"first", "second"})
    {
        detail::pipeline to(0, scripted);
        to.address_to(run_id);
        for (const auto& each : asked)
            to.add(each);
        const std::string bytes = end_turn(to);
        const std::string argument = "$" + std::to_string(run_id.size()) + "\r\n" + run_id;
        const std::size_t once = bytes.find(argument);
        const std::size_t twice = bytes.find(argument, once + 1);
        BOOST_TEST((once != bytes.npos && twice != bytes.npos));
        BOOST_TEST((bytes.find(argument, twice + 1) == bytes.npos));
    }
}

BOOST_FIXTURE_TEST_CASE(a_forgotten_script_that_votes_has_the_run_id_too, pipeline_fixture)
{
    const auto scripted = std::make_shared<detail::command_encoder>(guard_of_test(), false);
    detail::pipeline to(0, scripted);
    to.address_to("run");
    to.add(make(verb::extend, "a"));
    (void)end_turn(to);
    reply(to, "-NOSCRIPT No matching script\r\n");
    const std::string& text = script_of(scripted->scripts(), verb::extend).text;
    const std::string id(40, 'a');
    BOOST_TEST(
        end_turn(to) == wire({"EVAL", text, "1", "a", "run", "1500", "0", "", id, "0", "0"})
    );
}

BOOST_FIXTURE_TEST_CASE(no_script_has_more_than_64_questions, pipeline_fixture)
{
    check(sizes_of(plain.encode(make_many(verb::release, 130))), {64, 64, 2});
    check(sizes_of(plain.encode(make_many(verb::extend, 65))), {64, 1});
    detail::command_encoder guarded(guard_of_test(), false);
    check(sizes_of(guarded.encode(make_many(verb::acquire, 65))), {64, 1});
}

BOOST_FIXTURE_TEST_CASE(several_questions_are_answered_with_a_list_and_one_is_not, pipeline_fixture)
{
    const auto& commands = plain.encode(make_many(verb::release, 65)).commands;
    BOOST_TEST_REQUIRE(commands.size() == 2u);
    BOOST_TEST(commands[0].is_list());
    BOOST_TEST(!commands[1].is_list());
}

BOOST_FIXTURE_TEST_CASE(
    where_a_command_may_have_one_key_only_each_question_has_its_own,
    pipeline_fixture
)
{
    detail::command_encoder of_cluster(nullptr, true);
    check(sizes_of(of_cluster.encode(make_many(verb::release, 3))), {1, 1, 1});
}

// The serial says which question it is, so one with the same serial is not looked at.
BOOST_FIXTURE_TEST_CASE(the_same_questions_are_encoded_once, pipeline_fixture)
{
    const std::vector<detail::question_ptr> first{make(verb::release, "a")};
    serial = 0;
    const std::vector<detail::question_ptr> again{make(verb::release, "b")};
    BOOST_TEST(plain.encode(first).request.payload() == release('a'));
    BOOST_TEST(plain.encode(again).request.payload() == release('a'));
}

BOOST_FIXTURE_TEST_CASE(other_questions_are_not_taken_for_the_last_ones, pipeline_fixture)
{
    const auto first = make_many(verb::release, 2);
    const std::vector<detail::question_ptr> second{
        make(verb::release, "b"), make(verb::release, "c")
    };
    const std::string of_first(plain.encode(first).request.payload());
    BOOST_TEST(plain.encode(second).request.payload() != of_first);
    const std::vector<detail::question_ptr> part{first[0]};
    BOOST_TEST(plain.encode(part).request.payload() != of_first);
    BOOST_TEST(plain.encode(first).request.payload() == of_first);
}

// What is given back in a turn is free for who asks in it.
BOOST_FIXTURE_TEST_CASE(releases_go_before_the_acquisitions_of_their_turn, pipeline_fixture)
{
    sent.add(make(verb::acquire, "a"));
    sent.add(make(verb::release, "a"));
    BOOST_TEST(end_turn() == release('a') + set('a'));
}

BOOST_FIXTURE_TEST_CASE(releases_go_behind_the_acquisitions_of_earlier_turns, pipeline_fixture)
{
    fill();
    sent.add(make(verb::acquire, "a"));
    BOOST_TEST(end_turn().empty());
    sent.add(make(verb::release, "a"));
    BOOST_TEST(end_turn().empty());
    reply(sent, "+OK\r\n");
    BOOST_TEST(end_turn() == set('a') + release('a'));
}

// Or its release, which goes before it, would leave the key to its ttl.
BOOST_FIXTURE_TEST_CASE(an_acquisition_that_was_given_up_in_its_turn_is_not_sent, pipeline_fixture)
{
    const auto given_up = make(verb::acquire, "a");
    sent.add(given_up);
    sent.add(make(verb::acquire, "b"));
    given_up->give_up();
    sent.add(make(verb::release, "a"));
    BOOST_TEST(end_turn() == release('a') + set('b'));
    BOOST_TEST(told == "a refused; ");
}

BOOST_FIXTURE_TEST_CASE(a_batch_of_nothing_but_what_was_given_up_is_empty, pipeline_fixture)
{
    const auto given_up = make(verb::acquire, "a");
    sent.add(given_up);
    given_up->give_up();
    BOOST_TEST(end_turn().empty());
    BOOST_TEST(!sent.owed());
    BOOST_TEST(sent.unanswered() == 0u);
}

BOOST_FIXTURE_TEST_CASE(what_was_not_written_can_be_taken_back, pipeline_fixture)
{
    fill();
    sent.add(make(verb::acquire, "a"));
    BOOST_TEST(end_turn().empty());
    sent.add(make(verb::release, "b"));
    sent.add(make(verb::holder, "c"));
    while (sent.fail_some({}, 100))
        told.clear();
    BOOST_TEST(told.ends_with("a unknown; b unknown; c unknown; "));
}

BOOST_FIXTURE_TEST_CASE(what_has_no_answer_fails_in_parts, pipeline_fixture)
{
    for (const char* key : {"a", "b", "c"})
    {
        sent.add(make(verb::acquire, key));
        sent.add(make(verb::holder, key));
        (void)end_turn();
    }
    reply(sent, "+OK\r\n");
    told.clear();
    sent.add(make(verb::acquire, "d"));
    BOOST_TEST(sent.fail_some({}, 2));
    BOOST_TEST(told == "a unknown; b unknown; ");
    BOOST_TEST(sent.fail_some({}, 3));
    BOOST_TEST(!sent.fail_some({}, 3));
    BOOST_TEST(told == "a unknown; b unknown; b unknown; c unknown; c unknown; d unknown; ");
    BOOST_TEST(sent.unanswered() == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_forgotten_script_is_sent_with_a_question_of_its_own, pipeline_fixture)
{
    sent.add(make(verb::release, "a"));
    sent.add(make(verb::release, "b"));
    (void)end_turn();
    reply(sent, "-NOSCRIPT No matching script\r\n");
    const auto whole = [](char key) {
        return wire({"EVAL", detail::release_script.text, "1", {key}, std::string(40, key)});
    };
    BOOST_TEST(end_turn() == whole('a') + whole('b'));
}

BOOST_FIXTURE_TEST_CASE(a_forgotten_script_is_worth_another_command, pipeline_fixture)
{
    using form = detail::script_form;
    const auto alone = error("NOSCRIPT No matching script", false);
    const auto of_all = error("NOSCRIPT No matching script", true);
    BOOST_TEST(is_worth_another({1, form::hash}, alone));
    BOOST_TEST(is_worth_another({2, form::hash}, of_all));
    BOOST_TEST(!is_worth_another({1, form::text}, alone));
}

BOOST_FIXTURE_TEST_CASE(
    a_forbidden_key_is_worth_other_commands_if_there_were_more,
    pipeline_fixture
)
{
    using form = detail::script_form;
    BOOST_TEST(is_worth_another({2, form::hash}, error("NOPERM No permissions", true)));
    BOOST_TEST(!is_worth_another({1, form::hash}, error("NOPERM No permissions", false)));
    BOOST_TEST(!is_worth_another({2, form::hash}, error("OOM command not allowed", true)));
}

// It was run, and may have had its effect before it failed.
BOOST_FIXTURE_TEST_CASE(an_error_within_a_list_is_not_worth_another_command, pipeline_fixture)
{
    using form = detail::script_form;
    BOOST_TEST(!is_worth_another({2, form::hash}, error("NOPERM No permissions", false)));
    BOOST_TEST(!is_worth_another({2, form::hash}, error("NOSCRIPT No matching script", false)));
}

// A server that says so of SET is mad, and gets no script instead.
BOOST_FIXTURE_TEST_CASE(a_command_that_is_no_script_is_not_worth_another, pipeline_fixture)
{
    const auto alone = error("NOSCRIPT No matching script", false);
    BOOST_TEST(!is_worth_another({1, detail::script_form::none}, alone));
    for (const verb what : {verb::acquire, verb::holder})
    {
        const auto& put = plain.encode(make_many(what, 1)).commands[0];
        BOOST_TEST((put.script == detail::script_form::none));
    }
}

BOOST_FIXTURE_TEST_CASE(each_question_gets_its_answer, pipeline_fixture)
{
    sent.add(make(verb::acquire, "a"));
    sent.add(make(verb::release, "b"));
    sent.add(make(verb::release, "c"));
    (void)end_turn();
    reply(sent, "*2\r\n:1\r\n-no\r\n+OK\r\n");
    BOOST_TEST(told == "b granted; c refused; a granted; ");
    BOOST_TEST(!sent.owed());
}

BOOST_AUTO_TEST_SUITE_END()
