# Installs a build, or takes the source as a subdirectory, and builds a program with it.
#
#   cmake -D CASE=find_package|pkg_config|subdirectory|fetch_content
#         -D SOURCE=<source> -D BUILD=<build> -D WORK=<new folder>
#         -D BUILD_TYPE=... [-D CONFIGURE=<arguments of cmake>] -P run.cmake

function(run what)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "${what} failed: ${result}")
    endif()
endfunction()

# What is installed must work after the source and the build are gone.
function(check_no_path_of_this_machine prefix)
    file(GLOB_RECURSE files "${prefix}/*.cmake" "${prefix}/*.pc")
    if(NOT files MATCHES "redlockConfig.cmake" OR NOT files MATCHES "redlock.pc")
        message(FATAL_ERROR "Nothing was installed for find_package or pkg-config in ${prefix}")
    endif()
    file(GLOB_RECURSE others "${prefix}/*/LICENSE" "${prefix}/bin/redlock"
        "${prefix}/*/redlock.1")
    list(LENGTH others count)
    if(NOT count EQUAL 3)
        message(FATAL_ERROR "The licence, redlock or its man page is not in ${prefix}")
    endif()
    foreach(file IN LISTS files)
        file(READ "${file}" text)
        foreach(folder "${SOURCE}" "${BUILD}")
            string(FIND "${text}" "${folder}" found)
            if(NOT found EQUAL -1)
                message(FATAL_ERROR "${file} mentions ${folder}")
            endif()
        endforeach()
    endforeach()
endfunction()

file(REMOVE_RECURSE "${WORK}")

set(installed FALSE)
if(CASE MATCHES "find_package|pkg_config")
    set(installed TRUE)
endif()
if(installed)
    run("Installing" "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix")
    check_no_path_of_this_machine("${WORK}/prefix")
    # Found by its new place, and not by the one it was installed to.
    file(RENAME "${WORK}/prefix" "${WORK}/moved")
    list(APPEND CONFIGURE "-DCMAKE_PREFIX_PATH=${WORK}/moved")
    file(GLOB pkgconfig "${WORK}/moved/lib*/pkgconfig" "${WORK}/moved/lib*/*/pkgconfig")
    set(ENV{PKG_CONFIG_PATH} "${pkgconfig}")
else()
    list(APPEND CONFIGURE "-DREDLOCK_SOURCE_DIR=${SOURCE}")
endif()

run("Configuring" "${CMAKE_COMMAND}" -S "${SOURCE}/test/package/${CASE}" -B "${WORK}/build"
    "-DCMAKE_BUILD_TYPE=${BUILD_TYPE}" ${CONFIGURE})
run("Building" "${CMAKE_COMMAND}" --build "${WORK}/build" --target program)
if(installed)
    run("The program" "${WORK}/build/program")
endif()
