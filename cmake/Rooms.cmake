# Rooms: the folders inside a component, and what stands above what.
#
#   sampler_room(COMPONENT ROOM [SOURCES FILE...] [LINK LIBRARY...] [USES ROOM...])
#       The folder COMPONENT/ROOM. With SOURCES it becomes the OBJECT library COMPONENT_ROOM (`/` as `_`), linked with
#       LINK; without, it holds headers only. Its files see its own headers and those of rooms of the component that were
#       declared before it, by their path from the component's folder ("unwind/step.h"). So the order of the calls is
#       the order of the layers, and a forbidden include does not compile. Cousins do not see each other: of
#       formats/folded and formats/htdump neither sees the other, nor what is in it, whatever the order; but for a room
#       that says that it USES an earlier one. What is inside formats/nytprof is one family: there the order counts again.
#   sampler_room_objects(VARIABLE COMPONENT [ROOM...])
#       The objects of these rooms (default: all declared so far), to make a library of.
#   sampler_component_includes(TARGET COMPONENT)
#       TARGET, a library made of rooms, shows the whole component to those who link it.
#
# A compiler that is given the component's folder sees all of it. So each room gets a view, a folder in the build tree
# with links to its headers, and a file is compiled with the views of the rooms it may use. What the compiler writes
# into debug information is the path of the header itself. scripts/check_layers checks the same order once more in
# the objects, as a function can be declared by hand.

function(sampler_room component room)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;LINK;USES")
  set(folder "${PROJECT_SOURCE_DIR}/${component}/${room}")
  set(views "${PROJECT_BINARY_DIR}/rooms/${component}")
  string(REPLACE "/" "_" name "${component}_${room}")

  file(REMOVE_RECURSE "${views}/${name}")
  file(MAKE_DIRECTORY "${views}/${name}/${room}")
  file(GLOB headers CONFIGURE_DEPENDS RELATIVE "${folder}" "${folder}/*.h")
  foreach(header IN LISTS headers)
    file(CREATE_LINK "${folder}/${header}" "${views}/${name}/${room}/${header}" SYMBOLIC)
  endforeach()

  get_property(rooms GLOBAL PROPERTY "SAMPLER_ROOMS_${component}")
  list(APPEND rooms "${room}")
  set_property(GLOBAL PROPERTY "SAMPLER_ROOMS_${component}" "${rooms}")
  if(NOT arg_SOURCES)
    return()
  endif()

  list(TRANSFORM arg_SOURCES PREPEND "${folder}/")
  add_library(${name} OBJECT ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK})
  foreach(other IN LISTS rooms)
    sampler_rooms_apart(apart "${room}" "${other}")
    if(NOT apart OR other IN_LIST arg_USES)
      string(REPLACE "/" "_" view "${component}_${other}")
      target_compile_options(${name} PRIVATE "SHELL:-iquote ${views}/${view}"
        "-ffile-prefix-map=${views}/${view}/=${PROJECT_SOURCE_DIR}/${component}/")
    endif()
  endforeach()
endfunction()

# Whether two rooms are cousins: in two different folders of one folder of the component.
function(sampler_rooms_apart out one other)
  string(REGEX MATCH "^([^/]+)/[^/]+" a "${one}")
  set(above "${CMAKE_MATCH_1}")
  string(REGEX MATCH "^([^/]+)/[^/]+" b "${other}")
  set(${out} FALSE PARENT_SCOPE)
  if(a AND b AND above STREQUAL CMAKE_MATCH_1 AND NOT a STREQUAL b)
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()

function(sampler_room_objects out component)
  set(rooms ${ARGN})
  if(NOT rooms)
    get_property(rooms GLOBAL PROPERTY "SAMPLER_ROOMS_${component}")
  endif()
  set(objects "")
  foreach(room IN LISTS rooms)
    string(REPLACE "/" "_" name "${component}_${room}")
    if(TARGET ${name})
      list(APPEND objects "$<TARGET_OBJECTS:${name}>")
    endif()
  endforeach()
  set(${out} "${objects}" PARENT_SCOPE)
endfunction()

function(sampler_component_includes target component)
  target_compile_options(${target} INTERFACE "SHELL:-iquote ${PROJECT_SOURCE_DIR}/${component}")
endfunction()
