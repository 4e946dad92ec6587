# What we compile our own code with. Private to the build: users get none of it.

add_library(redlock_warnings INTERFACE)
if(MSVC)
    target_compile_options(redlock_warnings INTERFACE
        /W4 /permissive-
        $<$<BOOL:${REDLOCK_WERROR}>:/WX>
    )
    target_compile_definitions(redlock_warnings INTERFACE _CRT_SECURE_NO_WARNINGS)
else()
    target_compile_options(redlock_warnings INTERFACE
        -Wall -Wextra -Wpedantic -Wshadow -Woverloaded-virtual
        $<$<BOOL:${REDLOCK_WERROR}>:-Werror>
        # GCC takes the allocator of Asio's coroutine frames for two.
        $<$<CXX_COMPILER_ID:GNU>:-Wno-mismatched-new-delete>
        # GCC takes a source that is compiled together with others for a header.
        $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>
        # GCC 12 sees overlaps in the string concatenations of its own library (GCC PR 105651).
        $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
    )
endif()

# Sanitizers must be in every object of a program, so they are not private.
# With them GCC warns of uninitialized values in Asio that are none, and of string concatenations.
if(NOT REDLOCK_SANITIZE STREQUAL "" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-maybe-uninitialized -Wno-array-bounds
        -Wno-stringop-overflow)
endif()
if(REDLOCK_SANITIZE STREQUAL "address")
    add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all
        -fno-omit-frame-pointer)
    add_link_options(-fsanitize=address,undefined)
elseif(REDLOCK_SANITIZE STREQUAL "thread")
    add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
    add_link_options(-fsanitize=thread)
elseif(NOT REDLOCK_SANITIZE STREQUAL "")
    message(FATAL_ERROR
        "REDLOCK_SANITIZE is '${REDLOCK_SANITIZE}', must be empty, address or thread")
endif()
