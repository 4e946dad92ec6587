#include "node/vetting.hpp"

#include "scripts.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace redlock::detail {

namespace redis = boost::redis;

namespace {

/// What makes a server durable: it answers after its disk has the data, always.
constexpr std::array durable_settings{
    std::pair{"appendonly", "yes"},
    std::pair{"appendfsync", "always"},
    std::pair{"no-appendfsync-on-rewrite", "no"},
};

}  // namespace

redis::request make_vetting_request(const node_config& config, const guard* guarded)
{
    redis::request request;
    const bool login = !config.username.empty() || !config.password.empty();
    if (login)
    {
        const std::string user = config.username.empty() ? "default" : config.username;
        request.hello_setname(user, config.password, "redlock");
    }
    else
    {
        request.hello_setname("redlock");
    }
    if (config.database != 0)
        request.push("SELECT", config.database);
    const auto scripts = guarded ? std::vector<std::string_view>{guarded->acquire.text,
                                                                 guarded->extend.text,
                                                                 guarded->release.text}
                                 : std::vector<std::string_view>{extend_script.text,
                                                                 release_script.text};
    for (const std::string_view each : scripts)
        request.push("SCRIPT", "LOAD", each);
    // One at a time, for several sections in one command need Redis 7.
    for (const char* section : {"server", "replication", "memory", "cluster"})
        request.push("INFO", section);
    return request;
}

std::string without_login(const std::string& error, const node_config& config)
{
    // Redis quotes the arguments of a command that it does not know, and long ones in part.
    std::string shown = error.substr(0, error.find(", with args beginning with"));
    const auto begins_with = [&shown](const char* code) { return shown.starts_with(code); };
    // What stands before a server may quote them in other ways, but not behind these codes.
    if (!config.password.empty() && shown.find(config.password) != shown.npos &&
        std::ranges::none_of(std::array{"WRONGPASS ", "NOPERM ", "NOAUTH "}, begins_with))
        return "the server's words are not shown, for they hold the password";
    return shown;
}

redis::request make_settings_request()
{
    redis::request request;
    for (const auto& [name, value] : durable_settings)
        request.push("CONFIG", "GET", name);
    return request;
}

bool is_durable(const std::vector<std::string>& told)
{
    return std::ranges::all_of(durable_settings, [&told](const auto& setting) {
        for (std::size_t i = 0; i + 1 < told.size(); i += 2)
        {
            if (told[i] == setting.first)
                return told[i + 1] == setting.second;
        }
        return false;
    });
}

}  // namespace redlock::detail
