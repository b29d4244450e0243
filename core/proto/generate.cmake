# Generates profile.pb-c.[ch] and push.pb-c.[ch] in the build tree. This file is
# included with include(), because rules must be in the directory of their target.
set(SPANPROF_PROTO_DIR ${CMAKE_CURRENT_BINARY_DIR}/proto)
file(MAKE_DIRECTORY ${SPANPROF_PROTO_DIR})

foreach(noun profile push)
  set(generated ${SPANPROF_PROTO_DIR}/${noun}.pb-c.c
    ${SPANPROF_PROTO_DIR}/${noun}.pb-c.h)
  add_custom_command(
    OUTPUT ${generated}
    COMMAND ${PROTOC_C} --proto_path=${CMAKE_CURRENT_SOURCE_DIR}/proto
      --c_out=${SPANPROF_PROTO_DIR} ${noun}.proto
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/proto/${noun}.proto
    COMMENT "Generating ${noun}.pb-c.c"
    VERBATIM)
  # Disable warnings in code that another project generates.
  set_source_files_properties(${SPANPROF_PROTO_DIR}/${noun}.pb-c.c
    PROPERTIES COMPILE_OPTIONS -w)
  target_sources(spanprof_objects PRIVATE ${generated})
endforeach()

target_include_directories(spanprof_objects SYSTEM PUBLIC
  $<BUILD_INTERFACE:${SPANPROF_PROTO_DIR}>)
