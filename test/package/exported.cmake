# Builds the shared library and looks at the names that it exports.
#
#   cmake -D BUILD=<build> -D LIBRARY=<file> -D NM=<nm> -P exported.cmake

execute_process(COMMAND "${CMAKE_COMMAND}" --build "${BUILD}" --target redlock_exported
    COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${NM}" --dynamic --demangle --defined-only --format=posix "${LIBRARY}"
    OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE ";" "," names "${names}")
string(REPLACE "\n" ";" names "${names}")

# What the templates of the public headers call.
set(called_by_headers
    allocate_recycled attend attend_body free_recycled keep_nothing lead lease_executor lock_lost
    loss_of make_client make_initializer make_serial not_acquired post posted share_of start_[a-z_]*
)
list(JOIN called_by_headers "|" called_by_headers)
set(ours 0)
foreach(name IN LISTS names)
    # Other namespaces: Asio and the standard library share their types, the state of a loop and
    # exceptions with the program. They say so themselves in their headers. What a template returns
    # comes before its name.
    if(NOT name MATCHES "^((typeinfo|vtable|guard variable|typeinfo name|VTT) (for )?)?redlock::" OR
       name MATCHES "^[a-z_:]+[&*]* boost::")
        continue()
    endif()
    math(EXPR ours "${ours} + 1")
    string(REGEX REPLACE "^((typeinfo name|typeinfo|vtable|guard variable) for )" "" name "${name}")
    if(name MATCHES "^redlock::detail::" AND
       NOT name MATCHES "^redlock::detail::(${called_by_headers})[^a-z_]")
        message(SEND_ERROR "The shared library exports ${name}")
    endif()
    if(name MATCHES "^redlock::(core|sim|testing|blocking::detail)::")
        message(SEND_ERROR "The shared library exports ${name}")
    endif()
endforeach()
list(LENGTH names all)
message(STATUS "${ours} names of redlock are exported, of ${all}")
if(ours LESS 50)
    message(FATAL_ERROR "So few cannot be right")
endif()
