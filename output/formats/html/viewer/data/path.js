/* path.js - paths of files as people read them. */

/** The name of the file: what comes after the last "/". */
export function baseName(path)
{
    return path.slice(path.lastIndexOf("/") + 1);
}

/** Without "." and "x/.." in it, which compilers leave behind. */
export function plainPath(path)
{
    const parts = [];
    for (const part of path.split("/")) {
        const last = parts[parts.length - 1];
        if (part === ".." && last !== undefined && last !== ".." && last !== "")
            parts.pop();
        else if (part !== ".")
            parts.push(part);
    }
    return parts.join("/");
}

const LIBRARY_FOLDERS = [
    "/usr/", "/lib/", "/lib32/", "/lib64/", "/nix/", "/gnu/store/", "/rustc/", "/rust/deps/",
    "<frozen ", "node:"
];
const PACKAGE_FOLDERS = [
    "/.cargo/registry/", "/.cargo/git/", "/.rustup/", "/go/pkg/mod/", "/site-packages/",
    "/dist-packages/", "/node_modules/", "/lib/python2.", "/lib/python3."
];

/** Whether a source file is the user's own and none of a library: what --my-code goes by (select/my_code.c). */
export function isOwn(path)
{
    return !LIBRARY_FOLDERS.some((folder) => path.startsWith(folder)) &&
           !PACKAGE_FOLDERS.some((folder) => path.includes(folder));
}
