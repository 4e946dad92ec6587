// Elements are made here. What people typed goes in as text nodes: there is no way in for markup.

export const byId = (id) => document.getElementById(id);

/** Makes an element. Strings among the children become text. */
export function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes))
        made.setAttribute(name, value);
    made.append(...children);
    return made;
}

/** One of the symbols in index.html. Screen readers skip it: say in words what it shows. */
export function icon(name) {
    const space = 'http://www.w3.org/2000/svg';
    const drawing = document.createElementNS(space, 'svg');
    const use = document.createElementNS(space, 'use');
    drawing.setAttribute('class', 'icon');
    drawing.setAttribute('aria-hidden', 'true');
    use.setAttribute('href', `#icon-${name}`);
    drawing.append(use);
    return drawing;
}

/** Sets text only if it differs, so that nothing is announced or laid out needlessly. */
export function setText(node, text) {
    if (node.textContent !== text)
        node.textContent = text;
}

/** The chip of a server: its name, and a colour that is the same everywhere. */
export function showServer(node, name) {
    setText(node, name);
    node.dataset.hue = hueOf(name);
}

const hues = 6;

export function hueOf(name) {
    const [digits] = /\d+$/.exec(name) ?? [];
    const sum = digits ? Number(digits) + hues - 1
        : [...name].reduce((total, letter) => total + letter.codePointAt(0), 0);
    return String(sum % hues);
}
