#include <redlock/config.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

BOOST_AUTO_TEST_SUITE(test_node_config)

using namespace redlock;

namespace {

/// What the parser says about a malformed URL. Empty if it says nothing.
template <class Parser>
std::string complaint(Parser parse, std::string_view text)
{
    try
    {
        (void)parse(text);
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
    return {};
}

void check_tcp(std::string_view url, const char* host, unsigned port)
{
    BOOST_TEST_CONTEXT(url)
    {
        const node_config node = parse_node(url);
        BOOST_TEST(node.host == host);
        BOOST_TEST(node.port == port);
        BOOST_TEST(node.unix_socket.empty());
    }
}

void check_login(std::string_view url, std::string_view username, std::string_view password)
{
    BOOST_TEST_CONTEXT(url)
    {
        const node_config node = parse_node(url);
        BOOST_TEST(node.username == username);
        BOOST_TEST(node.password == password);
        BOOST_TEST(node.host == "h");
    }
}

void check_unix(std::string_view url, const char* path)
{
    BOOST_TEST_CONTEXT(url)
    {
        const node_config node = parse_node(url);
        BOOST_TEST(node.unix_socket == path);
        BOOST_TEST(node.name() == std::string("unix:") + path);
        BOOST_TEST(!node.tls.has_value());
    }
}

std::string encoded(std::string_view text)
{
    static constexpr char digits[] = "0123456789ABCDEF";
    std::string result;
    for (const char c : text)
    {
        const auto byte = static_cast<unsigned char>(c);
        result += {'%', digits[byte >> 4], digits[byte & 15]};
    }
    return result;
}

/// Checks what is said about `url` with `password` in the place of '$', alone and in a list.
void check_redacted(const std::string& url, const std::string& password, const char* rest_of_list)
{
    std::string text = url;
    text.replace(text.find('$'), 1, password);
    const std::string listed = text + rest_of_list;

    for (const std::string& said : {complaint(parse_node, text), complaint(parse_nodes, listed)})
    {
        BOOST_TEST(said != "", text << " is not malformed");
        BOOST_TEST(said.find(password) == said.npos, text << " gives '" << said << "'");
        BOOST_TEST(said.find("SEC") == said.npos, text << " gives '" << said << "'");
        BOOST_TEST(said.find("RET") == said.npos, text << " gives '" << said << "'");
    }
}

std::string every_byte()
{
    std::string text;
    for (int byte = 0; byte < 256; ++byte)
        text += static_cast<char>(byte);
    return text;
}

using namespace std::chrono_literals;
using namespace std::string_view_literals;

// What the messages say.
constexpr const char* bad_scheme =
    "it must start with redis://, rediss://, valkey://, valkeys://, unix:// or redis+sentinel://";
constexpr const char* no_host = "the host is missing";
constexpr const char* bad_port = "the port must be a number from 1 to 65535";
constexpr const char* bad_database = "the path must be a database number";
constexpr const char* bad_percent = "'%' is not followed by two hexadecimal digits";
constexpr const char* has_query = "a query may set overlap, ca (with TLS)";
constexpr const char* not_encoded = "percent-encode '/', '?' and '#' in a user or password";
constexpr const char* bad_brackets = "write an IPv6 address, and nothing else, in brackets";
constexpr const char* bad_character = "the host contains a character that isn't allowed";
constexpr const char* has_control = "the host or path contains a control character";
constexpr const char* not_absolute = "the path of a unix socket must be absolute";
constexpr const char* a_sentinel = "for Sentinels write redis+sentinel://host1,host2,host3/NAME";
constexpr const char* no_master = "the master's name is missing";
constexpr const char* bad_overlap =
    "overlap must be a whole number with ms, s or min, as in overlap=15s";
constexpr const char* several = "separate the URLs of a list with commas";

struct malformed_url
{
    std::string_view url;
    const char* expected;
};

const malformed_url malformed_urls[] = {
    {"", bad_scheme},
    {"localhost", bad_scheme},
    {"localhost:6379", bad_scheme},
    {"http://h", bad_scheme},
    {"REDIS://h", bad_scheme},
    {" redis://h", bad_scheme},
    {"redis:h", bad_scheme},
    {"redis:/h", bad_scheme},
    {"://h", bad_scheme},
    {"redis://", no_host},
    {"redis://:6379", no_host},
    {"redis:///0", no_host},
    {"redis://:secret@", no_host},
    {"redis://:secret@:6379", no_host},
    {"redis://[]", no_host},
    {"redis://h:", bad_port},
    {"redis://h:0", bad_port},
    {"redis://h:65536", bad_port},
    {"redis://h:4294967297", bad_port},
    {"redis://h:99999999999999999999", bad_port},
    {"redis://h:-1", bad_port},
    {"redis://h:+1", bad_port},
    {"redis://h: 1", bad_port},
    {"redis://h:1 ", bad_port},
    {"redis://h:6379x", bad_port},
    {"redis://h:6379:6380", bad_port},
    {"redis://h:http", bad_port},
    {"redis://h:%31", bad_port},
    {"redis://fe80::1", bad_port},
    {"redis://[::1]6379", bad_port},
    {"redis://[::1]x", bad_port},
    {"redis://h/x", bad_database},
    {"redis://h/-1", bad_database},
    {"redis://h/ 1", bad_database},
    {"redis://h/1/", bad_database},
    {"redis://h//1", bad_database},
    {"redis://h/0:1", bad_database},
    {"redis://h/4294967296", bad_database},
    {"redis://h/0?timeout=1", has_query},
    {"redis://h?timeout=1:2", has_query},
    {"redis://h?", has_query},
    {"redis://h/0#x", has_query},
    {"redis://h#", has_query},
    {"unix:///run/r.sock?db=1", has_query},
    {"unix:///run/r.sock#1", has_query},
    {"redis://h?ca=/ca.pem", has_query},
    {"unix:///run/r.sock?ca=/ca.pem", has_query},
    {"rediss://h?cert=/c.pem", has_query},
    {"rediss://h?ca", has_query},
    {"rediss://h?ca=/ca.pem&verify=0", has_query},
    {"rediss://h?ca=/ca.pem#x", has_query},
    {"rediss://h?", has_query},
    {"rediss://h?ca=", "the path after ca= is missing"},
    {"rediss://h?ca=/a%00b", has_control},
    {"rediss://h?ca=/%zz", bad_percent},
    {"rediss://h?ca=/a@b.pem", not_encoded},
    {"redis://h/0@x", not_encoded},
    {"redis://:pa/ss@h", not_encoded},
    {"redis://:pa?ss@h", not_encoded},
    {"redis://:pa#ss@h", not_encoded},
    {"redis://:pa%@h", bad_percent},
    {"redis://:pa%4@h", bad_percent},
    {"redis://:pa%4x@h", bad_percent},
    {"redis://m%-1:secret@h", bad_percent},
    {"redis://h%", bad_percent},
    {"unix:///run/%zz", bad_percent},
    {"redis://[::1", "the ']' of the IPv6 address is missing"},
    {"redis://[h]", bad_brackets},
    {"redis://%3A%3A1", bad_brackets},
    {"redis://a b", bad_character},
    {"redis://a;b", bad_character},
    {"redis://a|b", bad_character},
    {"redis-sentinel://h:26379/mymaster", a_sentinel},
    {"sentinel://h:26379/mymaster", a_sentinel},
    {"redis+sentinel://h:26379", no_master},
    {"redis+sentinel://h:26379/", no_master},
    {"redis+sentinel://h//0", no_master},
    {"redis+sentinel://h,/m", no_host},
    {"redis+sentinel:///m", no_host},
    {"redis+sentinel://h:0/m", bad_port},
    {"redis+sentinel://h,i:x/m", bad_port},
    {"redis+sentinel://h/m/x", bad_database},
    {"redis+sentinel://h/m?ca=/ca.pem", has_query},
    {"redis://h?sentinel_user=u", has_query},
    {"redis://h?overlap=15", bad_overlap},
    {"redis://h?overlap=s", bad_overlap},
    {"redis://h?overlap=-1s", bad_overlap},
    {"redis://h?overlap=1.5s", bad_overlap},
    {"redis://h?overlap=9999999999s", bad_overlap},
    {"redis://h?overlap=1s&", has_query},
    {"http://h:6379", "Redis does not speak HTTP"},
    {"https://h:6379", "Redis does not speak HTTP"},
    {"h:6379", "write redis:// before a host"},
    {"10.0.0.1", "write redis:// before a host"},
    {"redis://a redis://b", several},
    {"redis://a:6379;redis://b:6379", several},
    {"redis://a\nredis://b", several},
    {"unix:///run/a.sock unix:///run/b.sock", several},
    {"rediss://a\tvalkey://b", several},
    {"redis://a]", bad_character},
    {"redis://a%40b", bad_character},
    {"redis://a%2Fb", bad_character},
    {"redis://a%00b", has_control},
    {"redis://a\0b"sv, has_control},
    {"redis://a%0Ab", has_control},
    {"redis://a\x7f", has_control},
    {"unix:///run/%00", has_control},
    {"unix://", not_absolute},
    {"unix://run/redis.sock", not_absolute},
    {"unix://:secret@", not_absolute},
    {"unix://:secret@run/redis.sock", not_absolute},
    {"unix://:se/cret@/run/redis.sock", not_absolute},
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_url_with_a_host_only_has_the_defaults)
{
    const node_config node = parse_node("redis://cache.example");

    BOOST_TEST(node.host == "cache.example");
    BOOST_TEST(node.port == 6379);
    BOOST_TEST(node.username.empty());
    BOOST_TEST(node.password.empty());
    BOOST_TEST(node.database == 0u);
    BOOST_TEST(node.unix_socket.empty());
    BOOST_TEST(!node.tls.has_value());
}

BOOST_AUTO_TEST_CASE(every_part_of_a_url_is_read)
{
    const node_config node = parse_node("redis://me:secret@cache.example:6380/2");

    BOOST_TEST(node.username == "me");
    BOOST_TEST(node.password == "secret");
    BOOST_TEST(node.host == "cache.example");
    BOOST_TEST(node.port == 6380);
    BOOST_TEST(node.database == 2u);
}

BOOST_AUTO_TEST_CASE(the_scheme_rediss_means_verified_tls)
{
    const node_config node = parse_node("rediss://:secret@cache.example:6380/2");

    BOOST_REQUIRE(node.tls.has_value());
    BOOST_TEST(node.tls->verify);
    BOOST_TEST(node.tls->ca_file.empty());
    BOOST_TEST(node.tls->cert_file.empty());
    BOOST_TEST(node.host == "cache.example");
    BOOST_TEST(node.port == 6380);
    BOOST_TEST(node.database == 2u);
}

BOOST_AUTO_TEST_CASE(a_url_with_tls_may_name_the_authorities)
{
    const auto authorities = [](std::string_view url) { return parse_node(url).tls->ca_file; };

    BOOST_TEST(authorities("rediss://h?ca=/etc/ca.pem") == "/etc/ca.pem");
    BOOST_TEST(authorities("valkeys://:s@h:1/2?ca=/etc/my%20ca%2Cs.pem") == "/etc/my ca,s.pem");
    BOOST_TEST(parse_node("rediss://h:1/2?ca=/ca.pem").port == 1);
    BOOST_TEST(parse_node("rediss://h:1/2?ca=/ca.pem").database == 2u);
    BOOST_TEST(parse_node("rediss://h?ca=/ca.pem").tls->verify);
    BOOST_TEST(parse_nodes("rediss://a?ca=/ca.pem,rediss://b").size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_url_of_sentinels_has_their_addresses_and_the_name_of_the_master)
{
    const node_config node = parse_node(
        "redis+sentinel://me:secret@a:1,[::1],c/mymaster/2?sentinel_user=s&sentinel_password=p%26"
    );

    BOOST_TEST_REQUIRE(node.sentinel.has_value());
    BOOST_TEST(node.sentinel->master == "mymaster");
    BOOST_TEST_REQUIRE(node.sentinel->addresses.size() == 3u);
    BOOST_TEST(node.sentinel->addresses[0].host == "a");
    BOOST_TEST(node.sentinel->addresses[0].port == 1);
    BOOST_TEST(node.sentinel->addresses[1].host == "::1");
    BOOST_TEST(node.sentinel->addresses[2].port == 26379);
    BOOST_TEST(node.sentinel->username == "s");
    BOOST_TEST(node.sentinel->password == "p&");
    BOOST_TEST(!node.sentinel->tls.has_value());
    BOOST_TEST(node.username == "me");
    BOOST_TEST(node.password == "secret");
    BOOST_TEST(node.database == 2u);
    BOOST_TEST(!node.overlap.has_value());
    BOOST_TEST(node.name() == "mymaster of a:1,[::1]:26379,c:26379");
}

BOOST_AUTO_TEST_CASE(tls_goes_to_the_sentinels_and_to_the_master)
{
    const node_config node = parse_node("rediss+sentinel://a/m?ca=/ca.pem&overlap=1min");

    BOOST_TEST(node.tls->ca_file == "/ca.pem");
    BOOST_TEST(node.sentinel->tls->ca_file == "/ca.pem");
    BOOST_TEST((node.overlap == 1min));
    BOOST_TEST(parse_node("valkeys+sentinel://a/m").tls.has_value());
    BOOST_TEST(!parse_node("valkey+sentinel://a/m").tls.has_value());
}

BOOST_AUTO_TEST_CASE(an_overlap_has_a_unit)
{
    BOOST_TEST((parse_node("redis://h?overlap=1500ms").overlap == 1500ms));
    BOOST_TEST((parse_node("redis://h/1?overlap=15s").overlap == 15s));
    BOOST_TEST((parse_node("redis://h?overlap=0s").overlap == 0s));
    BOOST_TEST((parse_node("rediss://h?overlap=2min&ca=/ca.pem").overlap == 2min));
}

BOOST_AUTO_TEST_CASE(a_comma_between_sentinels_separates_no_nodes)
{
    const auto nodes = parse_nodes("redis://a, redis+sentinel://b,c:1 ,d/m?overlap=1s, redis://e");

    BOOST_TEST_REQUIRE(nodes.size() == 3u);
    BOOST_TEST(nodes[1].name() == "m of b:26379,c:1,d:26379");
    BOOST_TEST(nodes[2].name() == "e:6379");
    BOOST_TEST(parse_nodes("redis+sentinel://a/m,redis+sentinel://b,c/n").size() == 2u);
}

BOOST_AUTO_TEST_CASE(the_nodes_of_a_client_can_be_a_list_of_urls)
{
    const client_config config = detail::with_nodes("redis://a, redis://b:1");

    BOOST_TEST_REQUIRE(config.nodes.size() == 2u);
    BOOST_TEST(config.nodes[0].name() == "a:6379");
    BOOST_TEST(config.nodes[1].name() == "b:1");
    BOOST_TEST(complaint(detail::with_nodes, "a,b") != "");
}

BOOST_AUTO_TEST_CASE(host_and_port_are_what_lies_between_the_at_sign_and_the_path)
{
    check_tcp("redis://10.0.0.1", "10.0.0.1", 6379);
    check_tcp("redis://h:1", "h", 1);
    check_tcp("redis://h:65535", "h", 65535);
    check_tcp("redis://h:06380", "h", 6380);
    check_tcp("redis://h/", "h", 6379);
    check_tcp("redis://h:6380/", "h", 6380);
    check_tcp("redis://a.b-c_d.example.:6380/0", "a.b-c_d.example.", 6380);
    check_tcp("redis://h%6Fst", "host", 6379);
}

BOOST_AUTO_TEST_CASE(an_ipv6_address_in_brackets_is_the_host_without_them)
{
    check_tcp("redis://[::1]", "::1", 6379);
    check_tcp("redis://[::1]:6380", "::1", 6380);
    check_tcp("redis://[2001:db8::7]:6380/3", "2001:db8::7", 6380);
    check_tcp("rediss://:secret@[2001:db8::7]", "2001:db8::7", 6379);
    check_tcp("redis://[fe80::1%25eth0]:6380", "fe80::1%eth0", 6380);
    check_tcp("redis://u:p:[x@[::1]:6380", "::1", 6380);
}

BOOST_AUTO_TEST_CASE(the_database_is_the_number_after_the_host)
{
    BOOST_TEST(parse_node("redis://h/15").database == 15u);
    BOOST_TEST(parse_node("redis://h:6380/0").database == 0u);
    BOOST_TEST(parse_node("redis://h/").database == 0u);
    BOOST_TEST(parse_node("redis://h/4294967295").database == 4294967295u);
}

BOOST_AUTO_TEST_CASE(user_and_password_are_separated_by_the_first_colon)
{
    check_login("redis://h", "", "");
    check_login("redis://@h", "", "");
    check_login("redis://:@h", "", "");
    check_login("redis://:secret@h", "", "secret");
    check_login("redis://me:secret@h", "me", "secret");
    check_login("redis://me:@h", "me", "");
    check_login("redis://me@h", "me", "");
    check_login("redis://me:a:b:c@h:6380/1", "me", "a:b:c");
    check_login("redis://::@h", "", ":");
}

BOOST_AUTO_TEST_CASE(an_at_sign_in_a_password_does_not_end_it)
{
    check_login("redis://:p@ss@h", "", "p@ss");
    check_login("redis://me:p@ss@word@h:6380/1", "me", "p@ss@word");
    check_login("redis://:@@h", "", "@");
}

BOOST_AUTO_TEST_CASE(user_and_password_are_percent_decoded)
{
    check_login("redis://m%65:se%63ret@h", "me", "secret");
    check_login("redis://m%3Ae:a%3ab@h", "m:e", "a:b");
    check_login("redis://:p%40ss%2Fword%3f%23@h", "", "p@ss/word?#");
    check_login("redis://:100%25@h", "", "100%");
    check_login("redis://:%252F@h", "", "%2F");
    check_login("redis://:" + encoded(every_byte()) + "@h", "", every_byte());
}

BOOST_AUTO_TEST_CASE(a_unix_socket_is_an_absolute_path)
{
    check_unix("unix:///run/redis.sock", "/run/redis.sock");
    check_unix("unix:///run/with%20blank%3F.sock", "/run/with blank?.sock");
    check_unix("unix:///run/redis@1.sock", "/run/redis@1.sock");
    check_unix("unix:///run/a:b@/redis.sock", "/run/a:b@/redis.sock");
}

BOOST_AUTO_TEST_CASE(a_unix_socket_may_need_a_login)
{
    const node_config node = parse_node("unix://me:a:b%2F@c@/run/redis@1.sock");

    BOOST_TEST(node.username == "me");
    BOOST_TEST(node.password == "a:b/@c");
    BOOST_TEST(node.unix_socket == "/run/redis@1.sock");
}

BOOST_AUTO_TEST_CASE(a_name_is_the_address_and_never_the_login)
{
    BOOST_TEST(parse_node("redis://me:secret@h").name() == "h:6379");
    BOOST_TEST(parse_node("rediss://me:secret@h:6380/2").name() == "h:6380");
    BOOST_TEST(parse_node("redis://:secret@[::1]:6380").name() == "[::1]:6380");
    BOOST_TEST(parse_node("unix://:secret@/run/r.sock").name() == "unix:/run/r.sock");
    BOOST_TEST(parse_node("redis://:p@ss:w@rd@h").name() == "h:6379");
}

BOOST_AUTO_TEST_CASE(a_list_is_separated_by_commas_with_any_blanks_around_them)
{
    const std::vector<node_config> nodes =
        parse_nodes(" redis://a:1 ,\trediss://:secret@[::1]:2/3,\r\n unix:///run/c.sock\n");

    BOOST_REQUIRE(nodes.size() == 3u);
    BOOST_TEST(nodes[0].name() == "a:1");
    BOOST_TEST(!nodes[0].tls.has_value());
    BOOST_TEST(nodes[1].name() == "[::1]:2");
    BOOST_TEST(nodes[1].password == "secret");
    BOOST_TEST(nodes[1].database == 3u);
    BOOST_TEST(nodes[1].tls.has_value());
    BOOST_TEST(nodes[2].name() == "unix:/run/c.sock");
}

BOOST_AUTO_TEST_CASE(a_list_may_have_one_entry)
{
    BOOST_TEST(parse_nodes("redis://a").size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_list_names_the_entry_that_is_not_a_url)
{
    struct
    {
        const char* list;
        const char* expected;
    } const cases[] = {
        {"", "entry 1 of the list of node URLs is empty"},
        {" \t", "entry 1 of the list of node URLs is empty"},
        {",redis://a", "entry 1 of the list of node URLs is empty"},
        {"redis://a,,redis://b", "entry 2 of the list of node URLs is empty"},
        {"redis://a,redis://b,", "entry 3 of the list of node URLs is empty"},
        {"redis://a;redis://b", several},
        {"redis://a redis://b", several},
        {"redis://a\nredis://b,redis://c", several},
        {"redis://a,b",
         "entry 2 of the list of node URLs does not start with redis://, rediss://, valkey://, "
         "valkeys://, unix:// or redis+sentinel://; write redis:// before a host; write ',' in a "
         "password as %2C"},
        {"a:6379,b:6379", "unix:// or redis+sentinel://; write redis:// before a host$"},
        {"redis-sentinel://a:26379", a_sentinel},
        {"ftp://b", "unix:// or redis+sentinel://$"},
        {"redis://a,http://b", "entry 2 of the list of node URLs does not start with"},
        {"redis://a,redis://b:0", "redis://b:0"},
    };

    for (const auto& each : cases)
    {
        const std::string said = complaint(parse_nodes, each.list);
        BOOST_TEST(
            (said + '$').find(each.expected) != said.npos,
            "'" << each.list << "' gives '" << said << "'"
        );
    }
}

BOOST_AUTO_TEST_CASE(a_url_of_valkey_is_one_of_redis)
{
    const node_config plain = parse_node("valkey://user:secret@h:1/2");
    BOOST_TEST(plain.name() == "h:1");
    BOOST_TEST(plain.password == "secret");
    BOOST_TEST(plain.database == 2u);
    BOOST_TEST(!plain.tls);
    BOOST_TEST(parse_node("valkeys://h").tls.has_value());
}

BOOST_AUTO_TEST_CASE(a_malformed_url_is_rejected_with_the_reason)
{
    for (const auto& each : malformed_urls)
    {
        const std::string said = complaint(parse_node, each.url);
        BOOST_TEST(
            said.find(each.expected) != said.npos, "'" << each.url << "' gives '" << said << "'"
        );
    }
}

BOOST_AUTO_TEST_CASE(a_message_shows_the_rest_of_the_url)
{
    BOOST_TEST(
        complaint(parse_node, "redis://me:secret@cache.example:6380/x") ==
        "redlock: node URL 'redis://***@cache.example:***': "
        "the path must be a database number"
    );
    BOOST_TEST(
        complaint(parse_node, "rediss://cache.example:70000/1") ==
        "redlock: node URL 'rediss://cache.example:70000/1': "
        "the port must be a number from 1 to 65535"
    );
    BOOST_TEST(
        complaint(parse_node, "redis://[::1]:0") ==
        "redlock: node URL 'redis://[::1]:0': the port must be a number from 1 to 65535"
    );
}

// Each password takes part in each malformed URL. 'SEC' and 'RET' stand at its ends, so that a part
// of it shows as well as all of it.
BOOST_AUTO_TEST_CASE(no_message_holds_a_password_or_a_part_of_one)
{
    const std::vector<std::string> passwords = {
        "SECxRET",    "SEC:RET",         "SEC%RET",    "SEC%40RET", "SEC/RET",     "SEC?RET",
        "SEC#RET",    "SEC[RET",         "SEC]RET",    "SEC://RET", "SEC RET",     "SEC\nRET",
        "SEC,RET",    "SEC@RET",         "SEC@h:RET",  "SEC@h/RET", "SEC@h:1/RET", "SEC@[::1]:RET",
        "SEC,RET://", "SEC;redis://RET", "SEC?ca=RET",
    };
    // '$' is where the password goes.
    const std::vector<std::string> urls = {
        "redis://:$@h:0",
        "redis://:$@h:x",
        "redis://:$@h/x",
        "redis://:$@h?x",
        "redis://:$@h#x",
        "redis://:$@",
        "redis://:$@:6379",
        "redis://:$@[::1",
        "redis://:$@[::1]x",
        "redis://:$@a b",
        "redis://:$@h/0/x",
        "redis://:%$@h",
        "redis://me:$@h:0",
        "redis://$:me@h:0",
        "redis://$@h:0",
        "rediss://me:$@h:0",
        "http://me:$@h",
        "me:$@h",
        "//me:$@h",
        "redis:/:$@h",
        "unix://me:$@run/s",
        "unix://me:$@",
        "unix://me:$@/run/%",
        "unix://me:$@/run/s?x",
        "redis+sentinel://:$@h:0/m",
        "redis+sentinel://me:$@h,i/m/x",
        "redis+sentinel://$@h",
        "redis+sentinel://h/m?sentinel_password=$&x",
        "redis+sentinel://me:p@h/m?sentinel_password=$&overlap=15",
    };

    for (const std::string& url : urls)
        for (const std::string& password : passwords)
            for (const char* const list : {"", ",redis://b", ",x"})
                check_redacted(url, password, list);
}

BOOST_AUTO_TEST_CASE(no_message_holds_a_password_whose_host_was_forgotten)
{
    const std::vector<std::string> passwords = {
        "SECxRET",
        "SEC:RET",
        "SEC%RET",
        "SEC/RET",
        "SEC?RET",
        "SEC%40RET",
        "SEC,RET",
        "SEC?ca=/RET",
        "SEC,sentinel://RET",
        "82736455",
        "/82736455",
        "0/82736455"
    };

    for (const char* const url : {"redis://:$", "redis://me:$", "rediss://me:$/0"})
        for (const std::string& password : passwords)
            check_redacted(url, password, "");
}

// What is accepted must not show a part of the password as the host either.
BOOST_AUTO_TEST_CASE(no_part_of_a_password_becomes_a_part_of_the_name)
{
    const char* const passwords[] = {
        "SEC@RET", "SEC:RET", "SEC@RET:1", "SEC[RET", "@SECRET:", "%53"
    };

    for (const std::string_view password : passwords)
        for (const std::string_view host : {"h:6379", "[::1]:6379"})
        {
            const std::string url =
                "redis://me:" + std::string(password) + "@" + std::string(host) + "/0";
            BOOST_TEST(parse_node(url).name() == host, url);
            const std::string group = "redis+sentinel" + url.substr(url.find(':'));
            const std::string named = group.substr(0, group.rfind('/')) + "/m";
            BOOST_TEST(parse_node(named).name() == "m of " + std::string(host), named);
        }
}

BOOST_AUTO_TEST_SUITE_END()
