# The targets spanprof (shared) and spanprof_static, both from the same objects.
add_library(spanprof SHARED $<TARGET_OBJECTS:spanprof_objects>)

# The archive has one member whose hidden symbols are local, because a program may
# have its own sp_* functions, or its own copy of the code that protoc-c generates.
set(member ${CMAKE_CURRENT_BINARY_DIR}/spanprof.o)
add_custom_command(OUTPUT ${member}
  COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${member}
    $<TARGET_OBJECTS:spanprof_objects>
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${member}
  DEPENDS spanprof_objects $<TARGET_OBJECTS:spanprof_objects>
  COMMENT "Joining spanprof.o" COMMAND_EXPAND_LISTS VERBATIM)
add_library(spanprof_static STATIC ${member})
add_library(spanprof::spanprof ALIAS spanprof)
add_library(spanprof::static ALIAS spanprof_static)

set_target_properties(spanprof spanprof_static PROPERTIES
  OUTPUT_NAME spanprof LINKER_LANGUAGE C)
# Before 1.0 a minor version may change the ABI; see docs/abi.md.
set_target_properties(spanprof PROPERTIES
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set_target_properties(spanprof_static PROPERTIES EXPORT_NAME static)
target_compile_definitions(spanprof_static INTERFACE SPANPROF_STATIC)

foreach(library spanprof spanprof_static)
  target_include_directories(${library} INTERFACE
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${library} PRIVATE ${spanprof_dependencies})
  if(SPANPROF_SANITIZE)
    target_link_options(${library} PUBLIC ${spanprof_sanitize})
  endif()
endforeach()

# nodelete: the library stays loaded, because a signal that is pending at dlclose()
# still runs the handler. now: the handler must never enter the lazy resolver.
set(map ${CMAKE_CURRENT_SOURCE_DIR}/spanprof.map)
target_link_options(spanprof PRIVATE
  -Wl,--version-script=${map} -Wl,-z,now -Wl,-z,relro -Wl,-z,nodelete
  -Wl,-z,noexecstack)
set_property(TARGET spanprof APPEND PROPERTY LINK_DEPENDS ${map})
if(NOT SPANPROF_SANITIZE)
  # The program that loads the library provides the sanitizer's symbols.
  target_link_options(spanprof PRIVATE -Wl,-z,defs)
endif()
