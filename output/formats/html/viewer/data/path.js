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
