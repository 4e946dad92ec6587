#include "chaos/worker_options.hpp"

#include <charconv>
#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace redlock::test {

namespace {

template <class Integer>
Integer read_number(std::string_view text)
{
    Integer value{};
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (ec != std::errc() || end != text.data() + text.size())
        throw std::invalid_argument("not a number: " + std::string(text));
    return value;
}

void read(std::string& into, const std::string& text)
{
    into = text;
}

void read(std::filesystem::path& into, const std::string& text)
{
    into = text;
}

void read(milliseconds& into, const std::string& text)
{
    into = milliseconds(read_number<milliseconds::rep>(text));
}

void read(bool& into, const std::string& text)
{
    into = read_number<int>(text) != 0;
}

template <class Integer>
void read(Integer& into, const std::string& text)
{
    into = read_number<Integer>(text);
}

std::string text_of(const std::string& value)
{
    return value;
}

std::string text_of(const std::filesystem::path& value)
{
    return value.string();
}

std::string text_of(milliseconds value)
{
    return std::to_string(value.count());
}

std::string text_of(std::uint64_t value)
{
    return std::to_string(value);
}

/// Calls `what` with the name and the value of each option: the one list of them.
template <class Options, class F>
void each_option(Options& options, F what)
{
    what("nodes", options.nodes);
    what("mode", options.how.mode);
    what("ttl_max", options.how.ttl_max);
    what("durable_nodes", options.how.durable_nodes);
    what("log", options.log);
    what("acquisitions", options.acquisitions);
    what("first_resource", options.first_resource);
    what("resources", options.resources);
    what("ttl", options.ttl);
    what("node_timeout", options.node_timeout);
    what("wait", options.wait);
    what("hold", options.hold);
    what("long_hold", options.long_hold);
    what("one_long_of", options.one_long_of);
}

}  // namespace

std::vector<std::string> to_arguments(const worker_options& options)
{
    std::vector<std::string> all;
    each_option(options, [&all](const char* name, const auto& value) {
        all.emplace_back(name);
        all.push_back(text_of(value));
    });
    return all;
}

worker_options worker_options_from(const std::vector<std::string>& arguments)
{
    worker_options options;
    for (std::size_t index = 0; index < arguments.size(); index += 2)
    {
        bool known = false;
        each_option(options, [&](std::string_view name, auto& value) {
            if (name != arguments[index])
                return;
            read(value, arguments.at(index + 1));
            known = true;
        });
        if (!known)
            throw std::invalid_argument("no such option: " + arguments[index]);
    }
    return options;
}

std::string resource_name(std::uint32_t number)
{
    return "chaos:" + std::to_string(number);
}

}  // namespace redlock::test
