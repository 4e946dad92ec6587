#include <redlock/diagnostics.hpp>
#include <redlock/error.hpp>
#include <redlock/initialize.hpp>
#include <redlock/release_outcome.hpp>
#include <redlock/revocation.hpp>
#include <redlock/watcher.hpp>

#include "tool/commands.hpp"
#include "tool/printing.hpp"
#include "tool/session.hpp"
#include "tool/signals.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <chrono>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

/// The commands that ask the nodes and then end.
namespace redlock::tool {

namespace {

/// Whether a quorum has answered. Otherwise there is no answer.
bool is_answer(const client& locks, const holding& seen)
{
    return 2 * seen.answered > locks.nodes().size();
}

std::string describe_absent(const client& locks)
{
    std::string words;
    for (const node_status& each : locks.nodes())
    {
        if (each.state != node_state::ready)
            words += "\n  " + each.node + ": " + to_string(each.state) + " " + each.because;
    }
    return words;
}

void tell_not_held(const std::string& resource, const holding& seen, std::size_t nodes, bool json)
{
    if (json)
    {
        boost::json::object told = as_json(resource, seen, nodes);
        told["revoked"] = false;
        std::cout << boost::json::serialize(told) << '\n';
        return;
    }
    const bool held = seen.state == holding_state::held;
    std::cerr << "redlock: " << shown(resource) << " is " << to_string(seen.state)
              << (held ? " by a holder without a token" : "") << '\n';
}

}  // namespace

int show(const options& given)
{
    session with(given.nodes);
    std::vector<std::vector<std::string>> lines;
    boost::json::array list;
    bool answered = true;
    for (const std::string& resource : given.query.resources)
    {
        const auto seen =
            with.result<holding>(with.locks().async_inspect(resource), shown(resource));
        answered = answered && is_answer(with.locks(), seen);
        lines.push_back(cells_of(resource, seen, with.locks().nodes().size()));
        list.push_back(as_json(resource, seen, with.locks().nodes().size()));
    }
    if (given.nodes.json)
        std::cout << boost::json::serialize(list) << '\n';
    else
        print_table(holding_titles(), lines);
    if (answered)
        return 0;
    std::cerr << "redlock: too few nodes answered:" << describe_absent(with.locks()) << '\n';
    return static_cast<int>(status::ours);
}

int watch(const options& given)
{
    session with(given.nodes);
    const std::string resource = given.query.resources.front();
    watcher looks = with.locks().watch(resource);
    signals heard(with.context());
    error_code ended;
    std::function<void()> next = [&]() {
        looks.async_next([&](error_code ec, holding seen) {
            if ((ended = ec))
                return with.context().stop();
            if (given.nodes.json)
                std::cout << boost::json::serialize(
                                 as_json(resource, seen, with.locks().nodes().size())
                             )
                          << std::endl;
            else
                print_table(
                    holding_titles(), {cells_of(resource, seen, with.locks().nodes().size())}
                );
            flush_output();
            next();
        });
    };
    heard.on_signal([&](int number) {
        if (signals::asks_to_stop(number))
            signals::stop(number, false);
        if (signals::asks_to_end(number))
            with.context().stop();
    });
    next();
    with.context().run();
    if (ended)
        throw boost::system::system_error(ended, shown(resource));
    return heard.asked_to_end() == 0 ? 0 : 128 + heard.asked_to_end();
}

int revoke(const options& given)
{
    session with(given.nodes);
    const std::string resource = given.query.resources.front();
    auto token = fencing_token::from_value(given.query.token);
    if (!token)
    {
        const auto seen =
            with.result<holding>(with.locks().async_inspect(resource), shown(resource));
        if (!is_answer(with.locks(), seen))
            throw boost::system::system_error(error::quorum_unreachable, shown(resource));
        if (seen.state != holding_state::held || !seen.token)
        {
            tell_not_held(resource, seen, with.locks().nodes().size(), given.nodes.json);
            return static_cast<int>(status::no);
        }
        token = seen.token;
    }
    const auto [ec, made] = with.complete<revocation>(with.locks().async_revoke(resource, token));
    if (ec == error::no_such_hold)
    {
        std::cerr << "redlock: " << shown(resource) << ": " << ec.message() << '\n';
        return static_cast<int>(status::no);
    }
    if (ec)
        throw boost::system::system_error(ec, shown(resource));
    const auto left = std::chrono::ceil<milliseconds>(made.until - time_point::clock::now());
    if (given.nodes.json)
    {
        boost::json::object told;
        told["resource"] = in_utf8(resource);
        told["token"] = token.value();
        told["free_within_ms"] = left.count();
        told["marked"] = made.marked;
        std::cout << boost::json::serialize(told) << '\n';
    }
    else
    {
        std::cout << shown(resource) << ": its holder stops within " << in_words(left)
                  << "; then it is free, unless it is kept by --at-least\n";
    }
    return 0;
}

int free_kept(const options& given)
{
    session with(given.nodes);
    const std::string resource = given.query.resources.front();
    const auto outcome =
        with.result<release_outcome>(with.locks().async_free(resource), shown(resource));
    if (outcome == release_outcome::unconfirmed)
        throw boost::system::system_error(error::quorum_unreachable, shown(resource));
    const bool freed = outcome == release_outcome::released;
    if (given.nodes.json)
    {
        boost::json::object told;
        told["resource"] = in_utf8(resource);
        told["freed"] = freed;
        std::cout << boost::json::serialize(told) << '\n';
    }
    else
    {
        std::cout << shown(resource) << (freed ? " is free" : " was not kept") << '\n';
    }
    return freed ? 0 : static_cast<int>(status::no);
}

int init(const options& given)
{
    boost::asio::io_context context{1};
    diagnostics report;
    error_code outcome;
    async_initialize_nodes(context, make_config(given.nodes), &report, [&outcome](error_code ec) {
        outcome = ec;
    });
    context.run();
    if (given.nodes.json)
    {
        boost::json::object told;
        told["admitted"] = !outcome;
        told["message"] = outcome ? outcome.message() : "the nodes may vote";
        told["nodes"] = to_string(report);
        std::cout << boost::json::serialize(told) << '\n';
    }
    else
    {
        std::cout << (outcome ? outcome.message() : "the nodes may vote") << '\n' << report << '\n';
    }
    return outcome ? static_cast<int>(status::no) : 0;
}

}  // namespace redlock::tool
