#include "support/at_every_step.hpp"

#include <chrono>

namespace redlock::test {

using namespace std::chrono_literals;
using detail::verb;

void slow_down(client_fixture& fixture, milliseconds answer, milliseconds run)
{
    for (std::size_t index = 0; index < fixture.node_count(); ++index)
    {
        const auto nth = static_cast<int>(index + 1);
        for (const verb what : {verb::acquire, verb::extend, verb::release, verb::holder})
            fixture.node(index).on(what).after(nth * answer).runs_after(nth * run);
    }
}

const behaviour at_once{"all answer at once", [](client_fixture&) {}};

const behaviour one_after_the_other{"all answer one after the other", [](client_fixture& fixture) {
                                        slow_down(fixture, 5ms, 0ms);
                                    }};

const behaviour late{"commands run late", [](client_fixture& fixture) {
                         slow_down(fixture, 0ms, 9ms);
                     }};

const behaviour contended_and_slow{
    "the resource is held for a while and nodes are slow",
    [](client_fixture& fixture) {
        fixture.hold_elsewhere("orders:42", 100ms, 1, 4);
        slow_down(fixture, 4ms, 1ms);
    },
    effect::another_holds
};

const std::vector<behaviour> behaviours{
    at_once,
    one_after_the_other,
    late,
    behaviour{
        "commands run after the timeout",
        [](client_fixture& fixture) { slow_down(fixture, 0ms, 60ms); },
        effect::times_out
    },
    behaviour{
        "two answers are lost",
        [](client_fixture& fixture) {
            fixture.each_node(0, 2, [](fake_node& node) {
                node.on(verb::acquire).loses_answer();
                node.on(verb::extend).loses_answer();
            });
        }
    },
    behaviour{
        "three answers are lost",
        [](client_fixture& fixture) {
            fixture.each_node(0, 3, [](fake_node& node) {
                node.on(verb::acquire).loses_answer();
                node.on(verb::extend).loses_answer();
            });
        }
    },
    behaviour{
        "three nodes are away",
        [](client_fixture& fixture) {
            fixture.each_node(0, 3, [](fake_node& node) {
                node.on(verb::acquire).absent(reason::down);
                node.on(verb::extend).absent(reason::down);
            });
        }
    },
    behaviour{
        "the resource is held for a while",
        [](client_fixture& fixture) { fixture.hold_elsewhere("orders:42", 100ms, 0, 3); },
        effect::another_holds
    },
    contended_and_slow,
    behaviour{
        "a connection breaks",
        [](client_fixture& fixture) {
            fixture.node(0).on(verb::acquire).after(5ms).once();
            fixture.node(1).on(verb::acquire).breaks_connection(20ms).once();
            fixture.node(2).on(verb::release).breaks_connection(20ms).once();
        },
        effect::reconnects
    },
    behaviour{
        "two nodes refuse and one is slow",
        [](client_fixture& fixture) {
            fixture.each_node(0, 2, [](fake_node& node) {
                node.on(verb::acquire).error("LOADING");
                node.on(verb::extend).error("LOADING");
            });
            fixture.node(2).on(verb::acquire).after(10ms);
            fixture.node(2).on(verb::extend).after(10ms);
        }
    },
};

void check_keys(client_fixture& fixture, lease& held)
{
    fixture.advance(settling_time);
    if (held)
    {
        BOOST_TEST(!held.expired());
        BOOST_TEST(fixture.keys_left() >= 3u);
        held = lease();
        fixture.advance(settling_time);
    }
    BOOST_TEST(fixture.keys_left() == 0u);
}

acquisition acquire_patiently(client_fixture& fixture)
{
    return launch(fixture.locks().async_acquire("orders:42", {.ttl = long_ttl, .wait = 400ms}));
}

}  // namespace redlock::test
