#include "sim/script_engine.hpp"

#include "node/verbs.hpp"

#include <array>
#include <cstdio>
#include <iterator>
#include <lua.hpp>
#include <stdexcept>

namespace redlock::sim {

namespace {

/// Where an engine keeps what `redis.call` does, in the registry.
char call_key;

/// What Redis installs as the handler of errors: a text becomes a table, and the place is noted.
constexpr const char* error_handler = R"lua(
local debug = debug
function __redis__err__handler(err)
    local i = debug.getinfo(2, 'nSl')
    if i and i.what == 'C' then
        i = debug.getinfo(3, 'nSl')
    end
    if type(err) ~= 'table' then
        err = {err = 'ERR ' .. tostring(err)}
    end
    if i then
        err['source'] = i.source
        err['line'] = i.currentline
    end
    return err
end
)lua";

void push(lua_State* lua, std::string_view text)
{
    ::lua_pushlstring(lua, text.data(), text.size());
}

void push_field(lua_State* lua, const char* name, std::string_view text)
{
    ::lua_createtable(lua, 0, 1);
    push(lua, text);
    ::lua_setfield(lua, -2, name);
}

void push(lua_State* lua, const answer& from)
{
    using enum answer::kind;

    switch (from.what)
    {
    case status: return push_field(lua, "ok", from.text);
    case error: return push_field(lua, "err", from.text);
    case integer: return ::lua_pushnumber(lua, static_cast<lua_Number>(from.number));
    case bulk:
    case real:
    case verbatim: return push(lua, from.text);
    case null: return ::lua_pushboolean(lua, 0);
    case array:
    case pushed:
    case map: break;
    }
    ::lua_createtable(lua, static_cast<int>(from.elements.size()), 0);
    int index = 0;
    for (const answer& each : from.elements)
    {
        push(lua, each);
        ::lua_rawseti(lua, -2, ++index);
    }
}

/// An argument of `redis.call`: a string, or a number as Redis writes it.
bool read_argument(lua_State* lua, int index, std::string& to)
{
    if (::lua_type(lua, index) == LUA_TNUMBER)
    {
        char text[64];
        const int size = std::snprintf(text, sizeof text, "%.17g", ::lua_tonumber(lua, index));
        to.assign(text, static_cast<std::size_t>(size));
        return true;
    }
    std::size_t size = 0;
    const char* const text = ::lua_tolstring(lua, index, &size);
    if (text)
        to.assign(text, size);
    return text;
}

answer call_server(lua_State* lua)
{
    ::lua_pushlightuserdata(lua, &call_key);
    ::lua_rawget(lua, LUA_REGISTRYINDEX);
    const auto* call =
        static_cast<const std::function<answer(const arguments&)>*>(::lua_touserdata(lua, -1));
    lua_pop(lua, 1);

    const int count = ::lua_gettop(lua);
    if (count == 0)
        return answer::error("ERR Please specify at least one argument for this redis.call()");
    arguments given(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i)
    {
        if (!read_argument(lua, i + 1, given[static_cast<std::size_t>(i)]))
            return answer::error("ERR Lua redis lib command arguments must be strings or integers");
    }
    return (*call)(given);
}

/// Lua leaves a function with an error by `longjmp`: no object with a destructor may be alive then.
bool call_and_push(lua_State* lua)
{
    const answer got = call_server(lua);
    push(lua, got);
    return !got.is_error();
}

int redis_call(lua_State* lua)
{
    return call_and_push(lua) ? 1 : ::lua_error(lua);
}

int redis_pcall(lua_State* lua)
{
    call_and_push(lua);
    return 1;
}

/// A reply of one field. Redis takes a minus sign for a part of the protocol.
int redis_error_reply(lua_State* lua)
{
    const char* text = luaL_checkstring(lua, 1);
    if (*text == '-')
        ++text;
    ::lua_createtable(lua, 0, 1);
    ::lua_pushstring(lua, text);
    ::lua_setfield(lua, -2, "err");
    return 1;
}

int redis_status_reply(lua_State* lua)
{
    luaL_checkstring(lua, 1);
    ::lua_createtable(lua, 0, 1);
    ::lua_pushvalue(lua, 1);
    ::lua_setfield(lua, -2, "ok");
    return 1;
}

std::string text_at_top(lua_State* lua)
{
    std::size_t size = 0;
    const char* const text = ::lua_tolstring(lua, -1, &size);
    return text ? std::string(text, size) : std::string();
}

/// A field of the table at the top that is a text, or nothing.
bool read_field(lua_State* lua, const char* name, std::string& to)
{
    ::lua_getfield(lua, -1, name);
    const bool found = ::lua_type(lua, -1) == LUA_TSTRING || ::lua_type(lua, -1) == LUA_TNUMBER;
    if (found)
        to = text_at_top(lua);
    lua_pop(lua, 1);
    return found;
}

/// What a script returned, which is at the top.
answer pop_answer(lua_State* lua);

answer read_table(lua_State* lua)
{
    answer made;
    if (read_field(lua, "err", made.text))
    {
        made.what = answer::kind::error;
        return made;
    }
    if (read_field(lua, "ok", made.text))
    {
        made.what = answer::kind::status;
        return made;
    }
    made.what = answer::kind::array;
    for (int index = 1;; ++index)
    {
        ::lua_rawgeti(lua, -1, index);
        if (lua_isnil(lua, -1))
            break;
        made.elements.push_back(pop_answer(lua));
    }
    lua_pop(lua, 1);
    return made;
}

answer pop_answer(lua_State* lua)
{
    answer made;
    switch (::lua_type(lua, -1))
    {
    case LUA_TSTRING: made = answer::bulk(text_at_top(lua)); break;
    case LUA_TNUMBER:
        made = answer::integer(static_cast<std::int64_t>(::lua_tonumber(lua, -1)));
        break;
    case LUA_TBOOLEAN:
        if (::lua_toboolean(lua, -1))
            made = answer::integer(1);
        break;
    case LUA_TTABLE: made = read_table(lua); break;
    default: break;
    }
    lua_pop(lua, 1);
    return made;
}

/// The error that a script ended with, which is at the top.
answer pop_error(lua_State* lua, const std::string& sha)
{
    std::string text;
    std::string source;
    std::string place;
    read_field(lua, "err", text);
    if (read_field(lua, "source", source) && read_field(lua, "line", place))
        text += " script: " + sha + ", on " + source + ":" + place + ".";
    lua_pop(lua, 1);
    return answer::error(text);
}

void set_list(lua_State* lua, const char* name, std::span<const std::string> list)
{
    ::lua_createtable(lua, static_cast<int>(list.size()), 0);
    int index = 0;
    for (const std::string& each : list)
    {
        push(lua, each);
        ::lua_rawseti(lua, -2, ++index);
    }
    lua_setglobal(lua, name);
}

}  // namespace

void script_engine::closer::operator()(lua_State* state) const
{
    ::lua_close(state);
}

script_engine::script_engine() : state_(::luaL_newstate())
{
    lua_State* const lua = state_.get();
    ::luaL_openlibs(lua);
    const luaL_Reg functions[] = {
        {"call", redis_call},
        {"pcall", redis_pcall},
        {"error_reply", redis_error_reply},
        {"status_reply", redis_status_reply},
        {nullptr, nullptr},
    };
    ::luaL_register(lua, "redis", functions);
    ::lua_settop(lua, 0);
    // Compiled scripts are most of the memory and never garbage: to look at them all costs time.
    ::lua_gc(lua, LUA_GCSETPAUSE, 1000);
    if (luaL_dostring(lua, error_handler) != 0)
        throw std::runtime_error(text_at_top(lua));
    for (const char* forbidden : {"debug", "io", "os", "dofile", "loadfile", "print"})
    {
        ::lua_pushnil(lua);
        lua_setglobal(lua, forbidden);
    }
}

const script_engine::compiled& script_engine::compile(std::string_view text)
{
    const auto known = by_text_.find(text);
    if (known != by_text_.end())
        return known->second;

    lua_State* const lua = state_.get();
    compiled made{detail::make_script(std::string(text)).sha, 0, {}};
    std::string changed(text);
    for (const auto& [words, by] : replaced_)
    {
        const std::size_t at = changed.find(words);
        if (at == changed.npos)
            continue;
        changed.replace(at, words.size(), by);
        ++replacements_;
    }
    if (::luaL_loadbuffer(lua, changed.data(), changed.size(), "@user_script") == 0)
        made.function = ::luaL_ref(lua, LUA_REGISTRYINDEX);
    else
    {
        made.error = text_at_top(lua);
        lua_pop(lua, 1);
    }
    const compiled& kept = by_text_.emplace(text, std::move(made)).first->second;
    by_sha_[kept.sha] = &kept;
    return kept;
}

const script_engine::compiled* script_engine::find(const std::string& sha) const
{
    const auto found = by_sha_.find(sha);
    return found == by_sha_.end() ? nullptr : found->second;
}

answer script_engine::run(
    const compiled& script,
    std::span<const std::string> keys,
    std::span<const std::string> values,
    const std::function<answer(const arguments&)>& call
)
{
    lua_State* const lua = state_.get();
    ::lua_pushlightuserdata(lua, &call_key);
    ::lua_pushlightuserdata(lua, const_cast<std::function<answer(const arguments&)>*>(&call));
    ::lua_rawset(lua, LUA_REGISTRYINDEX);
    set_list(lua, "KEYS", keys);
    set_list(lua, "ARGV", values);
    lua_getglobal(lua, "__redis__err__handler");
    ::lua_rawgeti(lua, LUA_REGISTRYINDEX, script.function);
    const bool failed = ::lua_pcall(lua, 0, 1, -2) != 0;
    answer made = failed ? pop_error(lua, script.sha) : pop_answer(lua);
    lua_pop(lua, 1);
    return made;
}

}  // namespace redlock::sim
