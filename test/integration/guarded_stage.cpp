#include "integration/guarded_stage.hpp"

#include "node/guard.hpp"
#include "node/verbs.hpp"

namespace redlock::test::guarded {

namespace {

detail::guard guard_of_three()
{
    client_config config;
    config.nodes.resize(3);
    return *detail::make_guard(config);
}

}  // namespace

scripts real_scripts()
{
    client_config config;
    config.nodes.resize(3);
    const detail::guard guarded = *detail::make_guard(config);
    const detail::script_set made = detail::make_scripts(&guarded);
    return {
        .acquire = script_of(made, detail::verb::acquire).text,
        .extend = script_of(made, detail::verb::extend).text,
        .restore = script_of(made, detail::verb::restore).text,
        .release = script_of(made, detail::verb::release).text,
        .finish = script_of(made, detail::verb::finish).text,
        .revoke = script_of(made, detail::verb::revoke).text
    };
}

std::string fingerprint()
{
    return guard_of_three().fingerprint;
}

std::string end_for(const std::string& life)
{
    return guard_of_three().end_of(fingerprint() + life);
}

}  // namespace redlock::test::guarded
