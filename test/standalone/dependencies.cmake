# Fails if a file that includes nothing but <redlock.hpp> depends on a header of Boost.Redis: it is
# slow to compile, and a part of our implementation.
#
#   cmake -D COMPILER=<c++> -D "FLAGS=<flag>;..." -D SOURCE=<a file with the include> -P ...

execute_process(
    COMMAND "${COMPILER}" ${FLAGS} -M "${SOURCE}"
    OUTPUT_VARIABLE dependencies
    RESULT_VARIABLE result
)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "The compiler failed: ${result}")
endif()

if(NOT dependencies MATCHES "/redlock\\.hpp" OR NOT dependencies MATCHES "/boost/asio/")
    message(FATAL_ERROR "This is not the list of what <redlock.hpp> depends on:\n${dependencies}")
endif()
string(REGEX MATCHALL "[^ \n]*/boost/redis[^ \n]*" found "${dependencies}")
if(found)
    list(JOIN found "\n  " found)
    message(FATAL_ERROR "<redlock.hpp> depends on Boost.Redis:\n  ${found}")
endif()
