cmake_minimum_required(VERSION 3.13)
project({{NAME}} C)

add_library({{NAME}} STATIC IMPORTED GLOBAL)
set_target_properties({{NAME}} PROPERTIES
    IMPORTED_LOCATION ${CMAKE_CURRENT_SOURCE_DIR}/lib{{NAME}}.a
    INTERFACE_INCLUDE_DIRECTORIES ${CMAKE_CURRENT_SOURCE_DIR})
if(NOT WIN32)
    target_link_libraries({{NAME}} INTERFACE m)
endif()

add_executable({{NAME}}_example main.c)
target_link_libraries({{NAME}}_example {{NAME}})
