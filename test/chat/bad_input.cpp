// What a server answers to input that is not as examples/chat_room/README.md says.

#include <boost/asio/ip/tcp.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <sys/types.h>

#include "chat/fixture.hpp"
#include "chat/visitor.hpp"
#include "support/child_process.hpp"
#include "support/client_runner.hpp"
#include "support/eventually.hpp"
#include "support/needs.hpp"
#include "support/posix.hpp"

BOOST_AUTO_TEST_SUITE(
    test_bad_input,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace json = boost::json;

namespace {

constexpr auto patience = 15s;

std::string say(const std::string& id, const std::string& text)
{
    return R"({"type":"say","id":")" + id + R"(","text":")" + text + R"("})";
}

struct bad_frame
{
    std::string sent;
    std::string code;
};

/// What a member sends who has joined already.
const std::vector<bad_frame> after_join{
    {"", "bad_json"},
    {"hello", "bad_json"},
    {"{", "bad_json"},
    {R"({"type":"say"} and more)", "bad_json"},
    {R"([1,2])", "bad_json"},
    {std::string(9000, '['), "bad_json"},
    {R"({"text":"\ud800"})", "bad_json"},
    {"{}", "bad_type"},
    {R"({"type":7})", "bad_type"},
    {R"({"type":"shout","text":"x"})", "bad_type"},
    {R"({"type":"say","text":"x"})", "bad_field"},
    {R"({"type":"say","id":"x"})", "bad_field"},
    {R"({"type":"say","id":7,"text":"x"})", "bad_field"},
    {say("", "x"), "bad_field"},
    {say("no blanks", "x"), "bad_field"},
    {say(std::string(65, 'i'), "x"), "too_long"},
    {say("x", ""), "bad_field"},
    {say("x", R"( \n\t )"), "bad_field"},
    {say("x", R"(\u0000)"), "bad_field"},
    {say("x", R"(\u001b[31m)"), "bad_field"},
    {say("x", std::string(2001, 't')), "too_long"},
    {R"({"type":"join","room":"other","name":"Visitor"})", "already_joined"},
    {R"({"type":"older","before":-1})", "bad_field"},
    {R"({"type":"older","before":"all"})", "bad_field"},
};

/// What somebody sends who has not joined.
const std::vector<bad_frame> before_join{
    {say("x", "x"), "not_joined"},
    {R"({"type":"older","before":5})", "not_joined"},
    {R"({"type":"join","name":"Ada"})", "bad_field"},
    {R"({"type":"join","room":"Lobby","name":"Ada"})", "bad_field"},
    {R"({"type":"join","room":"-x","name":"Ada"})", "bad_field"},
    {R"({"type":"join","room":"../x","name":"Ada"})", "bad_field"},
    {R"({"type":"join","room":"","name":"Ada"})", "bad_field"},
    {R"({"type":"join","room":")" + std::string(33, 'r') + R"(","name":"Ada"})", "too_long"},
    {R"({"type":"join","room":"lobby","name":" "})", "bad_field"},
    {R"({"type":"join","room":"lobby","name":"a\nb"})", "bad_field"},
    {R"({"type":"join","room":"lobby","name":")" + std::string(33, 'n') + R"("})", "too_long"},
    {R"({"type":"join","room":"lobby","name":"Ada","after":-1})", "bad_field"},
    {R"({"type":"join","room":"lobby","name":"Ada","after":"1"})", "bad_field"},
    {R"({"type":"join","room":"lobby","name":"Ada","after":1.5})", "bad_field"},
    {R"({"type":"join","room":"lobby","name":"Ada","after":9007199254740992})", "bad_field"},
    {R"({"type":"join","room":"lobby","name":"Ada","began":-1})", "bad_field"},
    {R"({"type":"join","room":"lobby","name":"Ada","tail":-1})", "bad_field"},
    {R"({"type":"join","room":"lobby","name":"Ada","tail":10001})", "bad_field"},
    {R"({"type":"join","room":"lobby","name":"Ada","tail":"all"})", "bad_field"},
    {R"({"type":"join","room":"lobby","name":"Ada","tail":null})", "bad_field"},
};

/// Names that look like another one, or like none.
const std::vector<std::string> unclear_names{
    "Ada\u202e",        // right-to-left override
    "\u200fAda",        // right-to-left mark
    "\u2066Ada\u2069",  // isolates
    "A\u200bda",        // zero-width space
    "A\u200dda",        // zero-width joiner
    "Ada\ufeff",        // zero-width no-break space
    "Ada\ufe0f",        // variation selector
    "A\u00adda",        // soft hyphen
    "Ada\u3164",        // Hangul filler
    "Ada\u00a0B",       // no-break space
    "Ada  B",           // two blanks
    " Ada",
    "Ada ",
    "Ada\u2028",                 // line separator
    "A\u0301\u0302\u0303da",     // three marks on one letter
    "\u0e01\u0e47\u0e47\u0e47",  // the same in Thai
    "\u0301Ada",                 // a mark on nothing
    "\u0085",                    // a control character of two bytes
    "\ue000",                    // private use
    "You",
    "yOU",
};

const std::vector<std::string> clear_names{
    "Ada",
    "Jos\u00e9",
    "Jose\u0301",
    "\u0627\u0644\u0639\u0631\u0628\u064a\u0629",
    "\u5c0f\u660e",
    "\u0e19\u0e49\u0e33",
    "\U0001F600",
    "Ada of s1",
    "<i>Ada</i>",
    "Yours",
};

void check_answers(visitor& who, const std::vector<bad_frame>& table)
{
    for (const bad_frame& each : table)
    {
        BOOST_TEST_CONTEXT(each.sent.substr(0, 80))
        {
            who.send(each.sent);
            BOOST_TEST(who.next("error").at("code").as_string() == each.code);
        }
    }
}

/// The status line that a server answers to some bytes.
std::string answer_to(const chat::server_process& server, const std::string& request)
{
    asio::ip::tcp::iostream stream;
    stream.expires_after(patience);
    stream.connect("127.0.0.1", std::to_string(server.port()));
    stream << request << std::flush;
    std::string line;
    std::getline(stream, line);
    return line;
}

std::string upgrade(const std::string& origin, const std::string& host = "chat.example")
{
    return "GET /ws HTTP/1.1\r\nHost: " + host + "\r\nOrigin: " + origin +
           "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
}

/// Lets another process have no more files.
void limit_files(pid_t pid, rlim_t most)
{
    const rlimit limit{most, most};
    if (::prlimit(pid, RLIMIT_NOFILE, &limit, nullptr) != 0)
        throw_errno("prlimit");
}

/// Lets this process have more files, for as long as the object lives.
class limit_of_files
{
public:
    explicit limit_of_files(rlim_t least)
    {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit more{std::max(least, before_.rlim_cur), before_.rlim_max};
        if (::setrlimit(RLIMIT_NOFILE, &more) != 0)
            throw_errno("setrlimit");
    }
    limit_of_files(const limit_of_files&) = delete;
    limit_of_files& operator=(const limit_of_files&) = delete;
    ~limit_of_files() { ::setrlimit(RLIMIT_NOFILE, &before_); }

private:
    rlimit before_{};
};

/// What a server says that does not start, because of `options`.
std::string what_ends_a_server(std::vector<std::string> options)
{
    const temp_folder folder;
    const auto said = folder.path() / "said";
    options.insert(options.begin(), "chat_server");
    child_process server({REDLOCK_CHAT_SERVER, std::move(options), {}, said});

    BOOST_TEST(eventually([&server] { return server.has_ended(); }));
    BOOST_TEST(server.exit_status().value_or(0) != 0);
    return read_file(said);
}

}  // namespace

BOOST_AUTO_TEST_CASE(bad_frames_get_a_clear_answer_and_the_connection_stays)
{
    chat_fixture f({.servers = 1});
    visitor who(f, 0);

    check_answers(who, before_join);
    who.join();
    check_answers(who, after_join);
    who.send_binary("{}");
    BOOST_TEST(who.next("error").at("code").as_string() == "binary");

    who.send(say("good", "still here"));
    BOOST_TEST(who.next("accepted").at("id").as_string() == "good");
    BOOST_TEST(who.next("message").at("text").as_string() == "still here");
}

BOOST_AUTO_TEST_CASE(names_that_could_look_like_another_one_are_refused)
{
    chat_fixture f({.servers = 1});
    const auto join = [](const std::string& name) {
        return R"({"type":"join","room":"lobby","name":")" + name + R"("})";
    };
    visitor who(f, 0);
    for (const std::string& name : unclear_names)
    {
        BOOST_TEST_CONTEXT(name)
        {
            who.send(join(name));
            const json::object told = who.next_of({"error", "welcome"});
            BOOST_TEST_REQUIRE(told.at("type").as_string() == "error");
            BOOST_TEST(told.at("code").as_string() == "bad_field");
        }
    }
    for (const std::string& name : clear_names)
    {
        BOOST_TEST_CONTEXT(name)
        {
            visitor clear(f, 0);
            clear.send(join(name));
            BOOST_TEST(clear.next_of({"error", "welcome"}).at("type").as_string() == "welcome");
        }
    }
}

BOOST_AUTO_TEST_CASE(who_only_connects_does_not_keep_others_from_it)
{
    chat_fixture f({.servers = 1});
    auto& ada = f.add("Ada", 0);
    limit_files(f.on[0].pid(), 1024);
    const limit_of_files more(4096);
    std::vector<asio::ip::tcp::socket> idle;
    for (int count = 0; count < 1200; ++count)
    {
        idle.emplace_back(f.context).connect({asio::ip::address_v4::loopback(), f.on[0].port()});
    }

    BOOST_TEST(f.on[0].get("/healthz") != "");
    visitor(f, 0).join();
    ada.say("still here");
    BOOST_TEST(f.all_heard());
    BOOST_TEST(ada.reconnections() == 0u);
}

BOOST_AUTO_TEST_CASE(members_are_not_told_internal_errors)
{
    chat_fixture f({.servers = 1});
    visitor who(f, 0);
    who.join();

    f.on.store.command({"SET", "chat:{lobby}:inbox", "no stream"});
    who.say("x");

    const std::string text(who.next("error").at("text").as_string());
    BOOST_TEST(text == "the message store does not answer");
}

BOOST_AUTO_TEST_CASE(a_tail_that_is_out_of_range_is_named)
{
    chat_fixture f({.servers = 1});
    visitor who(f, 0);

    who.send(R"({"type":"join","room":"lobby","name":"Ada","tail":20000})");

    BOOST_TEST(
        who.next("error").at("text").as_string() ==
        "'tail' must be a whole number from 0 to 10000, not 20000"
    );
}

BOOST_AUTO_TEST_CASE(a_frame_that_is_too_large_or_no_utf_8_ends_the_connection_with_its_code)
{
    chat_fixture f({.servers = 1});
    auto& ada = f.add("Ada", 0);
    visitor large(f, 0);
    visitor garbled(f, 0);

    large.send(std::string(16'385, 'x'));
    BOOST_TEST(large.closed() == 1009u);
    garbled.send("\xff\xfe");
    BOOST_TEST(garbled.closed() == 1007u);

    ada.say("still here");
    BOOST_TEST(f.all_heard());
}

BOOST_AUTO_TEST_CASE(who_talks_too_fast_is_told_to_say_it_again)
{
    chat_fixture f({.servers = 1, .more = {"--rate", "1", "--burst", "3"}});
    visitor who(f, 0);
    who.join();
    constexpr std::size_t count = 20;

    for (std::size_t number = 0; number < count; ++number)
        who.send(say(std::to_string(number), "x"));

    std::set<std::string> accepted;
    std::set<std::string> refused;
    while (accepted.size() + refused.size() < count)
    {
        const json::object told = who.next_of({"accepted", "error", "message"});
        if (told.at("type") == "accepted")
            accepted.emplace(told.at("id").as_string());
        if (told.at("type") != "error")
            continue;
        BOOST_TEST(told.at("code").as_string() == "rate");
        BOOST_TEST(told.at("retry").as_bool());
        refused.emplace(told.at("id").as_string());
    }
    BOOST_TEST(accepted.size() >= 2u);
    BOOST_TEST(!refused.empty());
}

BOOST_AUTO_TEST_CASE(members_and_rooms_are_limited)
{
    chat_fixture f({.servers = 1, .more = {"--max-rooms", "1", "--max-members", "2"}});
    f.add("Ada", 0);
    visitor who(f, 0);
    visitor third(f, 0);

    who.send(R"({"type":"join","room":"other","name":"Visitor"})");
    BOOST_TEST(who.next("error").at("code").as_string() == "too_many_rooms");
    who.join();
    third.send(R"({"type":"join","room":"lobby","name":"Third"})");
    BOOST_TEST(third.next("error").at("code").as_string() == "too_many_members");
}

BOOST_AUTO_TEST_CASE(who_never_joins_is_sent_away)
{
    chat_fixture f({.servers = 1});
    visitor who(f, 0);

    BOOST_TEST(who.closed() == 1008u);
}

BOOST_AUTO_TEST_CASE(http_requests_get_the_status_that_fits)
{
    chat_fixture f(
        {.servers = 1,
         .more = {"--allow-origin", "https://friend.example", "--allow-host", "chat.example"}}
    );
    const auto& server = f.on[0];
    const auto status = [&server](const std::string& request) {
        return answer_to(server, request).substr(9, 3);
    };
    const std::string end = " HTTP/1.1\r\nHost: chat.example\r\nConnection: close\r\n\r\n";

    BOOST_TEST(status("GET /" + end) == "200");
    BOOST_TEST(status("HEAD /healthz" + end) == "200");
    BOOST_TEST(status("GET /metrics" + end) == "200");
    BOOST_TEST(status("GET /missing.html" + end) == "404");
    BOOST_TEST(status("GET /../CMakeLists.txt" + end) == "404");
    BOOST_TEST(status("GET /%2e%2e/CMakeLists.txt" + end) == "404");
    BOOST_TEST(status("GET //etc/passwd" + end) == "404");
    BOOST_TEST(status("GET /.hidden.html" + end) == "404");
    BOOST_TEST(status("POST /" + end) == "405");
    BOOST_TEST(status("GET /ws" + end) == "426");
    BOOST_TEST(status(upgrade("http://evil.example")) == "403");
    BOOST_TEST(status(upgrade("null")) == "403");
    BOOST_TEST(status(upgrade("ftp://chat.example")) == "403");
    BOOST_TEST(status(upgrade("chrome-extension://chat.example")) == "403");
    BOOST_TEST(status(upgrade("chat.example")) == "403");
    BOOST_TEST(status(upgrade("http://chat.example")) == "101");
    BOOST_TEST(status(upgrade("https://friend.example")) == "101");

    // A site that lets its own name lead here is not this server.
    const auto host = [&](const std::string& name) {
        return status("GET / HTTP/1.1\r\nHost: " + name + "\r\nConnection: close\r\n\r\n");
    };
    BOOST_TEST(host("evil.example") == "421");
    BOOST_TEST(host("evil.example:" + std::to_string(server.port())) == "421");
    BOOST_TEST(host("") == "421");
    BOOST_TEST(host("127.0.0.1.evil.example") == "421");
    BOOST_TEST(host("127.0.0.1:" + std::to_string(server.port())) == "200");
    BOOST_TEST(host("localhost") == "200");
    BOOST_TEST(host("[::1]:80") == "200");
    BOOST_TEST(status(upgrade("http://evil.example", "evil.example")) == "421");

    // No HTTP, or more of it than anybody needs: the connection ends.
    BOOST_TEST(answer_to(server, "\x16\x03\x01 this is TLS\r\n\r\n") == "");
    BOOST_TEST(answer_to(server, "GET /" + std::string(20'000, 'x') + end) == "");
    BOOST_TEST(server.get("/healthz") != "");
}

BOOST_AUTO_TEST_CASE(options_out_of_range_are_named_and_the_server_does_not_start)
{
    const std::vector<std::string> good{
        "--name", "s", "--nodes", "redis://127.0.0.1:1", "--store", "redis://127.0.0.1:2"
    };
    struct bad_option
    {
        std::vector<std::string> words;
        std::string named;
    };
    const std::vector<bad_option> table{
        {{"--listen", "8080"}, "'8080' must be ADDRESS:PORT"},
        {{"--listen", "127.0.0.1:70000"}, "the port must be"},
        {{"--ttl", "1"}, "--ttl"},
        {{"--ttl", "soon"}, "soon"},
        {{"--node-timeout", "0"}, "--node-timeout"},
        {{"--page", "/nowhere"}, "/nowhere"},
        {{"--rate", "0"}, "--rate"},
        {{"--history", "1"}, "--history"},
        {{"--allow-origin", "chat.example"}, "chat.example"},
        {{"--allow-origin", "http://chat.example/path"}, "/path"},
        {{"--allow-host", "Chat Example"}, "Chat Example"},
        {{"--unfenced", "Lobby"}, "'Lobby' must be 1 to 16 lowercase letters"},
        {{"--controls", "ws://192.0.2.1:1"}, "'ws://192.0.2.1:1' must be ws://127.0.0.1:PORT"},
        {{"--listen", "0.0.0.0:0", "--controls", "ws://127.0.0.1:1"}, "needs a --listen on"},
        {{"--peers", "http://a,b"}, "'b' must be http://"},
        {{"--peers", "http://a;script-src"}, "'http://a;script-src' must be one address"},
        {{"--nodes", "http://a"}, "--nodes"},
        {{"--store", "rediss://a"}, "--store"},
        {{"--name", "two words"}, "two words"},
        {{"--unknown"}, "--unknown"},
        {{"--listen", "203.0.113.1:1"}, "cannot listen on 203.0.113.1"},
    };
    for (const bad_option& each : table)
    {
        BOOST_TEST_CONTEXT(each.words.back())
        {
            std::vector<std::string> words;
            for (std::size_t index = 0; index < good.size(); index += 2)
            {
                if (good[index] != each.words.front())
                    words.insert(words.end(), {good[index], good[index + 1]});
            }
            words.insert(words.end(), each.words.begin(), each.words.end());
            BOOST_TEST(what_ends_a_server(words).find(each.named) != std::string::npos);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_limit_of_files_that_is_too_low_for_the_members_is_named)
{
    const std::string said = what_ends_a_server(
        {"--name",
         "s",
         "--listen",
         "127.0.0.1:0",
         "--nodes",
         "redis://127.0.0.1:1",
         "--store",
         "redis://127.0.0.1:2",
         "--max-members",
         "100000"}
    );

    BOOST_TEST(said.find("--max-members 100000 needs") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_password_in_a_bad_url_is_not_printed)
{
    const std::string said = what_ends_a_server(
        {"--name", "s", "--nodes", "redis://user:secret@:x", "--store", "redis://user:secret@a:x"}
    );

    BOOST_TEST(said.find("--nodes") != std::string::npos);
    BOOST_TEST(said.find("secret") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
