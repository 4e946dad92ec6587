# redlock_embed_scripts(<header> NAMESPACE <namespace> FILES <file>...)
#
# Writes a header with the text and the SHA-1 of each Lua script: EVALSHA needs a hash, and a script
# that is read at run time could be missing or changed. A line `--include <file>` in a script stands
# for that file, which several scripts have in common. Each text is a variable by itself, in whose
# place a linker can take another one: see scripts/mutants_build.py.

function(redlock_embed_scripts header)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAMESPACE" "FILES")
    set(body "")
    foreach(file IN LISTS arg_FILES)
        get_filename_component(name "${file}" NAME_WE)
        get_filename_component(directory "${file}" DIRECTORY)
        file(READ "${file}" text)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
        string(REGEX MATCHALL "--include [a-z_]+[.]lua\n" includes "${text}")
        foreach(include IN LISTS includes)
            string(REGEX REPLACE "--include (.*)\n" "${directory}/\\1" part "${include}")
            file(READ "${part}" common)
            string(REPLACE "${include}" "${common}" text "${text}")
            set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${part}")
        endforeach()
        string(SHA1 sha "${text}")
        string(APPEND body
            "inline constexpr char ${name}_text[] = R\"lua(${text})lua\";\n"
            "inline constexpr script ${name}_script{\"${sha}\", ${name}_text};\n\n"
        )
    endforeach()
    string(MAKE_C_IDENTIFIER "${arg_NAMESPACE}" guard)
    string(TOUPPER "${guard}" guard)
    file(CONFIGURE OUTPUT "${header}" @ONLY CONTENT [[
// Generated from Lua scripts by cmake/EmbedScripts.cmake.
#ifndef REDLOCK_GENERATED_@guard@_SCRIPTS_HPP
#define REDLOCK_GENERATED_@guard@_SCRIPTS_HPP

namespace @arg_NAMESPACE@ {

struct script
{
    const char* sha;
    const char* text;
};

@body@}  // namespace @arg_NAMESPACE@

#endif
]])
endfunction()
