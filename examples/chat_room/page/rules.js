// What the server accepts, checked here too, so that people see it before they send. The server
// decides; `welcome` brings its limits.

export const limits = {text: 2000, name: 32, room: 32};

const unseen = new RegExp('[\\p{Cc}\\p{Cf}\\p{Co}\\p{Cs}\\p{Zl}\\p{Zp}'
    + '\\p{Default_Ignorable_Code_Point}]|(?! )\\p{Zs}|  ', 'u');

/** Characters as the server counts them: Unicode code points. */
export const length = (text) => [...text].length;

export function whyNotName(name) {
    if (!name.trim())
        return 'Choose a name.';
    // Otherwise one name could look like another.
    if (unseen.test(name))
        return 'A name has no invisible characters, and only single spaces.';
    if (/^\p{M}|\p{M}{3}/u.test(name))
        return 'A name has at most two marks on a character.';
    if (/^you$/i.test(name))
        return 'Choose another name: the page calls you that.';
    if (length(name) > limits.name)
        return `A name has up to ${limits.name} characters, this one has ${length(name)}.`;
    return '';
}

export function whyNotRoom(room) {
    if (!room)
        return 'Choose a room.';
    if (!/^[a-z0-9][a-z0-9-]*$/.test(room))
        return 'A room has lowercase letters, digits and hyphens, but no hyphen first.';
    if (room.length > limits.room)
        return `A room has up to ${limits.room} characters, this one has ${room.length}.`;
    return '';
}

/** What is left of pasted text when characters that no room takes are gone. */
export const clean = (text) => text.replace(/[^\P{Cc}\n\t]/gu, '').replace(/^\n+|\s+$/g, '');
