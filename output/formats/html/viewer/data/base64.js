/* base64.js - the bytes of the profile that the page carries as text. */

/**
 * @param {string} text  base64 (RFC 4648), white space allowed
 * @returns {Uint8Array}
 * @throws {Error} where it is not base64
 */
export function base64Decode(text)
{
    let binary;
    try {
        binary = atob(text);
    } catch {
        throw new Error("The profile in this page is damaged: it is no base64.");
    }
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++)
        bytes[i] = binary.charCodeAt(i);
    return bytes;
}
