# The page of the html format, put together at build time, without a network.
#
#   sampler_html_page(FOLDER VARIABLE)
#       Of FOLDER (page.html, style.css, main.js and the modules it imports, in folders of their own) makes two files, html/before and html/after:
#       the page up to where the profile goes, and what comes after it. VARIABLE: the two files.
#
# Script (Scripts.cmake) and style lie in the page, and the page's policy
# (Content-Security-Policy) names them by their hashes, so that no other script or style is ever run in it.

if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.23)
  # cmake -D PAGE= -D STYLE= -D SCRIPT= -D OUT= -P HtmlPage.cmake
  function(hash_for_policy out text)
    string(SHA256 hex "${text}")
    # CMake knows hexadecimal, the policy base64: three bytes are six digits of the one and four of the other.
    set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    set(base64 "")
    string(APPEND hex "0000") # 32 bytes are ten times three and two: one digit of padding
    foreach(at RANGE 0 60 6)
      string(SUBSTRING "${hex}" ${at} 6 digits)
      math(EXPR bits "0x${digits}")
      foreach(shift 18 12 6 0)
        math(EXPR index "(${bits} >> ${shift}) & 63")
        string(SUBSTRING "${alphabet}" ${index} 1 letter)
        string(APPEND base64 "${letter}")
      endforeach()
    endforeach()
    string(SUBSTRING "${base64}" 0 43 base64)
    set(${out} "'sha256-${base64}='" PARENT_SCOPE)
  endfunction()

  file(READ "${PAGE}" page)
  file(READ "${STYLE}" style)
  file(READ "${SCRIPT}" script)
  hash_for_policy(script_hash "${script}")
  hash_for_policy(style_hash "${style}")
  string(REPLACE "@POLICY@"
    "default-src 'none'; script-src ${script_hash}; style-src ${style_hash}; base-uri 'none'; form-action 'none'"
    page "${page}")
  string(REPLACE "@STYLE@" "${style}" page "${page}")
  string(FIND "${page}" "@PROFILE@" at)
  string(LENGTH "@PROFILE@" length)
  math(EXPR after_at "${at} + ${length}")
  string(SUBSTRING "${page}" 0 ${at} before)
  string(SUBSTRING "${page}" ${after_at} -1 after)
  string(REPLACE "@SCRIPT@" "${script}" after "${after}")
  file(WRITE "${OUT}/before" "${before}")
  file(WRITE "${OUT}/after" "${after}")
  return()
endif()

include(Scripts)
set(SAMPLER_HTML_PAGE_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

function(sampler_html_page folder variable)
  set(out "${CMAKE_CURRENT_BINARY_DIR}/html")
  sampler_script("${folder}" "${out}/viewer.js")
  add_custom_command(OUTPUT "${out}/before" "${out}/after"
    COMMAND "${ESBUILD}" "${folder}/style.css" --minify --charset=ascii --log-level=warning "--outfile=${out}/style.css"
    COMMAND "${CMAKE_COMMAND}" -D "PAGE=${folder}/page.html" -D "STYLE=${out}/style.css" -D "SCRIPT=${out}/viewer.js"
      -D "OUT=${out}" -P "${SAMPLER_HTML_PAGE_SCRIPT}"
    DEPENDS "${out}/viewer.js" "${folder}/style.css" "${folder}/page.html" "${SAMPLER_HTML_PAGE_SCRIPT}"
    COMMENT "Putting together the page of the html format" VERBATIM)
  set(${variable} "${out}/before;${out}/after" PARENT_SCOPE)
endfunction()
