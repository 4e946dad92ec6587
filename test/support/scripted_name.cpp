#include "support/scripted_name.hpp"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <dlfcn.h>
#include <netdb.h>

namespace redlock::test {

using namespace std::chrono_literals;

/// What is said of one name. A look-up that hangs keeps it.
struct scripted_name::script
{
    /// Waits while the name hangs. @return A code of `getaddrinfo`.
    int answer()
    {
        std::unique_lock lock(mutex);
        ++begun;
        changed.wait_for(lock, 8s, [this] { return code.has_value(); });
        return code.value_or(EAI_AGAIN);
    }

    void set(std::optional<int> to)
    {
        const std::lock_guard lock(mutex);
        code = to;
        changed.notify_all();
    }

    std::mutex mutex;
    std::condition_variable changed;
    std::size_t begun = 0;
    std::optional<int> code;  ///< Empty: it hangs.
};

namespace {

/// All names of the tests.
struct known_names
{
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<scripted_name::script>> scripts;
    std::size_t made = 0;
};

/// Never destroyed: a look-up may outlive `main`.
known_names& known()
{
    static auto& all = *new known_names;
    return all;
}

std::shared_ptr<scripted_name::script> find_script(const char* name)
{
    const std::lock_guard lock(known().mutex);
    const auto at = known().scripts.find(name ? name : "");
    return at == known().scripts.end() ? nullptr : at->second;
}

}  // namespace

scripted_name::scripted_name() : script_(std::make_shared<script>())
{
    const std::lock_guard lock(known().mutex);
    text_ = "name" + std::to_string(++known().made) + ".test";
    known().scripts[text_] = script_;
}

scripted_name::~scripted_name()
{
    fail(EAI_NONAME);
    const std::lock_guard lock(known().mutex);
    known().scripts.erase(text_);
}

void scripted_name::hang()
{
    script_->set(std::nullopt);
}

void scripted_name::lead_here()
{
    script_->set(0);
}

void scripted_name::fail(int code)
{
    script_->set(code);
}

std::size_t scripted_name::lookups() const
{
    const std::lock_guard lock(script_->mutex);
    return script_->begun;
}

}  // namespace redlock::test

extern "C" int getaddrinfo(
    const char* name,
    const char* service,
    const addrinfo* hints,
    addrinfo** result
)
{
    static const auto of_the_system =
        reinterpret_cast<decltype(&getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    const auto script = redlock::test::find_script(name);
    if (!script)
        return of_the_system(name, service, hints, result);
    const int code = script->answer();
    return code ? code : of_the_system("127.0.0.1", service, hints, result);
}
