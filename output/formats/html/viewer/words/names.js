/* names.js - names of functions in little room.
 *
 *   int std::map<std::string, Table<int, 3> >::at<long>(std::string const&)
 *   std::map<…>::at<…>                 shortName: without type and arguments
 *   …::at<…>                           fitName: without what encloses it,
 *   std::m…                            then without its end
 *
 * The whole name is always a tooltip away, and `names: whole` shows nothing else. */

const MARK = "…";
/** Whose brackets are none. */
const VERBATIM = ["->", "=>", "(anonymous namespace)", "(anonymous)"];
/** The word with its symbol, and the blank before the brackets of a template. */
const OPERATOR =
    /operator(?:<=>|<<=|>>=|->\*|->|\(\)|\[\]|&&|\|\||\+\+|--|<<|>>|[-+*/%^&|=!<>]=|[-+*/%^&|=!<>~,])(?: (?=<))?/y;
const ABI_TAG = /\[abi:[^\]]*\]/y;
const CLOSING = {
    "<": ">",
    "(": ")",
    "{": "}",
    "[": "]"
};
/** So many brackets of a name that nothing closes are looked at; what follows is copied. */
const MAX_UNCLOSED = 16;
// Of what must not be taken for the end of a type; for private use, and allowed in XML.
const INNER_BLANK = "\ue000";

function isNameChar(char)
{
    return char !== undefined && /[\w$\u0080-\uffff]/.test(char);
}

/** Length of what stands at `at` and is to be copied as it is; 0: nothing such. */
function verbatimLength(name, at)
{
    for (const text of VERBATIM)
        if (name.startsWith(text, at))
            return text.length;
    return isNameChar(name[at - 1]) ? 0 : matchLength(OPERATOR, name, at);
}

function matchLength(expression, text, at)
{
    expression.lastIndex = at;
    const match = expression.exec(text);
    return match === null ? 0 : match[0].length;
}

/** Offset after the bracket that closes the one at `open`; -1: none does. */
function groupEnd(name, open)
{
    const closing = [];
    for (let at = open; at < name.length;) {
        const length = verbatimLength(name, at);
        if (length > 0) {
            at += length;
            continue;
        }
        if (CLOSING[name[at]] !== undefined)
            closing.push(CLOSING[name[at]]);
        else if (name[at] === closing[closing.length - 1])
            closing.pop();
        at++;
        if (closing.length === 0)
            return at;
    }
    return -1;
}

/** Without the type of the result, the arguments, and what is in the brackets of templates. */
export function shortName(name)
{
    let out = "", hasArguments = false, isOperator = false, nUnclosed = 0;
    for (let at = 0; at < name.length;) {
        const length = verbatimLength(name, at);
        if (length > 0) {
            out += name.slice(at, at + length).replaceAll(" ", INNER_BLANK);
            at += length;
            isOperator = !VERBATIM.includes(name.slice(at - length, at));
            continue;
        }
        const tag = matchLength(ABI_TAG, name, at);
        if (tag > 0) {
            at += tag;
            continue;
        }
        const char = name[at], before = name[at - 1];
        const follows = isNameChar(before) || (before !== undefined && ")>}]".includes(before)) ||
                        isOperator; // operator+<char>(...)
        isOperator = false;
        const isGroup =
            (char === "{" || (follows && "<(".includes(char))) && nUnclosed < MAX_UNCLOSED;
        const end = isGroup ? groupEnd(name, at) : -1;
        if (isGroup && end < 0)
            nUnclosed++;
        if (end < 0) {
            out += char;
            at++;
        } else if (char === "{") {
            out += name.slice(at, end).replaceAll(" ", INNER_BLANK);
            at = end;
        } else if (char === "<") {
            out += "<" + MARK + ">";
            at = end;
        } else {
            hasArguments = true;
            at = end + (name.startsWith(" const", end) ? 6 : 0);
        }
    }
    if (hasArguments)
        out = withoutType(out);
    return out.replaceAll(INNER_BLANK, " ");
}

/** "int f" is f, "operator new" stays. */
function withoutType(name)
{
    let blank = name.lastIndexOf(" ");
    if (blank >= 8 && name.startsWith("operator", blank - 8))
        blank = name.lastIndexOf(" ", blank - 1);
    return name.slice(blank + 1);
}

/** At most `columns` characters of a name that is short already; "" if there is room for none. */
export function fitName(name, columns)
{
    if (name.length <= columns)
        return name;
    if (columns < 3)
        return "";
    for (let at = name.indexOf("::"); at >= 0; at = name.indexOf("::", at + 2))
        if (MARK.length + name.length - at <= columns)
            return MARK + name.slice(at);
    const last = name.lastIndexOf("::");
    const own = last > 0 && columns >= 6 ? MARK + name.slice(last) : name;
    return own.slice(0, columns - 1) + MARK;
}
