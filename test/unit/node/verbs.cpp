#include "node/verbs.hpp"

#include <redlock/config.hpp>

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <set>
#include <string_view>

#include "support/printing.hpp"

using namespace redlock;
using namespace redlock::detail;

namespace {

guard guard_of_test(bool queue)
{
    client_config config;
    config.nodes.resize(3);
    config.waiting.queue = queue;
    return *make_guard(config);
}

bool can_be_put(const phrasing& how)
{
    return how.read && (how.script != nullptr) != (how.put != nullptr);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(test_verbs)

BOOST_AUTO_TEST_CASE(the_questions_of_a_turn_are_written_whatever_their_verb)
{
    const std::set<verb> written(write_order.begin(), write_order.end());
    BOOST_TEST(written.size() == verb_count);
}

BOOST_AUTO_TEST_CASE(each_verb_has_a_name_of_its_own)
{
    std::set<std::string_view> names;
    for (const verb each : write_order)
        BOOST_TEST(names.insert(rules_of(each).name).second);
}

BOOST_AUTO_TEST_CASE(each_verb_is_a_script_or_a_command_whose_answer_is_read)
{
    for (const verb each : write_order)
    {
        const verb_rules& rules = rules_of(each);
        BOOST_TEST(can_be_put(rules.guarded), rules.name);
        BOOST_TEST(can_be_put(rules.plain) == !rules.for_queues, rules.name);
    }
}

BOOST_AUTO_TEST_CASE(guarded_scripts_begin_with_the_constants_of_the_client)
{
    const guard guarded = guard_of_test(true);
    const script_set scripts = make_scripts(&guarded);
    for (const verb each : write_order)
    {
        const lua_script& made = script_of(scripts, each);
        BOOST_TEST(made.text.empty() == !rules_of(each).guarded.script);
        BOOST_TEST((made.text.empty() || made.text.starts_with(guarded.constants)));
    }
}

BOOST_AUTO_TEST_CASE(clients_that_poll_have_no_scripts_for_queues)
{
    const guard guarded = guard_of_test(false);
    const script_set scripts = make_scripts(&guarded);
    BOOST_TEST(script_of(scripts, verb::leave).text.empty());
    BOOST_TEST(!script_of(scripts, verb::release).text.empty());
}

// By redis-cli SCRIPT LOAD.
BOOST_AUTO_TEST_CASE(a_script_is_known_by_its_hash)
{
    BOOST_TEST(make_script("return 1").sha == "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
}

BOOST_AUTO_TEST_SUITE_END()
