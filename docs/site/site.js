// The script of every page: its colors, copy buttons, the mark in the list of sections, search.
//
// It runs in the head, before anything is painted, so that no page flashes in the wrong colors.
// All else waits until the page is there. Pages are read at file:// too, where nothing can be
// fetched: the index of search is a script, which is loaded when someone begins to search.

'use strict';

const root = new URL('.', document.currentScript.src);
const byId = (id) => document.getElementById(id);

function make(tag, className, ...content) {
    const made = document.createElement(tag);
    made.className = className;
    made.append(...content);
    return made;
}

// Colors: as the system has them, or as chosen here.

const themes = ['auto', 'light', 'dark'];
const themeKey = 'redlock-theme';
let theme = storedTheme();

/** The choice made on any page before. Storage may be forbidden. */
function storedTheme() {
    try {
        const stored = localStorage.getItem(themeKey);
        return themes.includes(stored) ? stored : 'auto';
    } catch {
        return 'auto';
    }
}

function storeTheme() {
    try {
        localStorage.setItem(themeKey, theme);
    } catch {
        // The choice then holds for this page only.
    }
}

function showTheme() {
    document.documentElement.dataset.theme = theme;
    const name = byId('site-theme-name');
    if (name)
        name.textContent = theme[0].toUpperCase() + theme.slice(1);
}

function openThemes() {
    byId('site-theme').addEventListener('click', () => {
        theme = themes[(themes.indexOf(theme) + 1) % themes.length];
        storeTheme();
        showTheme();
    });
    const follow = () => {
        theme = storedTheme();
        showTheme();
    };
    addEventListener('storage', follow);
    addEventListener('pageshow', ({persisted}) => persisted && follow());  // Back to this page.
    showTheme();
}

// Code: it can be copied, and scrolled by keyboard.

async function copyText(text) {
    try {
        await navigator.clipboard.writeText(text);
    } catch {
        // A page from http:// has no clipboard, and a browser may refuse it.
        const area = make('textarea', 'unseen', text);
        document.body.append(area);
        area.select();
        const copied = document.execCommand('copy');
        area.remove();
        if (!copied)
            throw new Error('no clipboard');
    }
}

async function copyCode(button, code, status) {
    const said = await copyText(code.textContent.trimEnd()).then(() => 'Copied', () => 'Failed');
    button.focus();  // The other way to copy moves the focus.
    button.textContent = status.textContent = said;
    setTimeout(() => {
        button.textContent = 'Copy';
        status.textContent = '';
    }, 2000);
}

function addCopyButtons() {
    const status = make('p', 'unseen');
    status.setAttribute('role', 'status');
    for (const box of document.querySelectorAll('.code')) {
        const button = make('button', 'copy', 'Copy');
        button.type = 'button';
        button.addEventListener('click', () => copyCode(button, box.firstElementChild, status));
        box.append(button);
    }
    byId('content').append(status);
}

/** Makes a block that scrolls sideways a stop of the Tab key, and no other block. */
function setReachable(box) {
    const scrolls = box.scrollWidth > box.clientWidth;
    const label = box.tagName === 'PRE' ? 'Code' : 'Table';
    const wanted = {tabindex: '0', role: 'group', 'aria-label': label};
    for (const [name, value] of Object.entries(wanted)) {
        if (scrolls)
            box.setAttribute(name, value);
        else
            box.removeAttribute(name);
    }
}

function watchScrollers() {
    const observer = new ResizeObserver((entries) =>
        entries.forEach(({target}) => setReachable(target)));
    document.querySelectorAll('main pre, main .scroll').forEach((box) => observer.observe(box));
}

// The lists beside the text: the current entry is marked, and in sight.

function keepInSight(box, item) {
    const outer = box.getBoundingClientRect();
    const inner = item.getBoundingClientRect();
    if (inner.top < outer.top || inner.bottom > outer.bottom)
        box.scrollTop += inner.top - outer.top - outer.height / 3;
}

/**
 * The last heading above a line at a third of the window. The last headings of a page never reach
 * that line: at the end of the page, it is the target of the link followed, or the last heading.
 */
function currentHeading(headings, end) {
    const top = (part) => part.getBoundingClientRect().top;
    const atEnd = top(end) < innerHeight;
    const target = headings.find((heading) => heading.matches(':target'));
    if (atEnd && target && top(target) >= 0 && top(target) < innerHeight)
        return target;
    const line = atEnd && scrollY > 0 ? innerHeight : innerHeight / 3;
    return headings.filter((heading) => top(heading) < line).pop();
}

function markCurrent(list, heading) {
    list.querySelector('[aria-current]')?.removeAttribute('aria-current');
    const link = heading && list.querySelector(`a[href="#${CSS.escape(heading.id)}"]`);
    if (!link)
        return;
    link.setAttribute('aria-current', 'location');
    keepInSight(list, link);
}

function watchSections() {
    const lists = document.querySelectorAll('.toc, .toc-above');
    const headings = [...document.querySelectorAll('main :is(h2, h3)[id]')];
    const end = document.querySelector('main > :last-child');
    const mark = () => lists.forEach((list) => markCurrent(list, currentHeading(headings, end)));
    const atLine = new IntersectionObserver(mark, {rootMargin: '0px 0px -66% 0px'});
    headings.forEach((heading) => atLine.observe(heading));
    new IntersectionObserver(mark).observe(end);
    addEventListener('hashchange', mark);
}

function showPlaceInMenu() {
    const current = document.querySelector('#menu [aria-current]');
    if (current)
        keepInSight(byId('menu'), current);
}

// Search: each word of the query is looked for in the sections of all pages.

const stopWords = new Set(
    'a an and are can do does for from how i in is it my of on or the to what with'.split(' '));
const shown = 12;
const shownOfPage = 3;
let loading = null;

function loadIndex() {
    loading = loading ?? new Promise((resolve, reject) => {
        const script = make('script', '');
        script.src = new URL('search.js', root);
        script.onload = () => resolve(unpack(searchIndex));
        script.onerror = reject;
        document.head.append(script);
    });
    return loading;
}

/** The sections, with their page, and in small letters what is searched. */
function unpack({pages, sections, synonyms}) {
    const unpacked = sections.map(([page, anchor, heading, text, code]) => {
        const [place, title, group, weight] = pages[page];
        // A file is often named by the word that people search for. Titles of headers have it.
        const name = place.startsWith('reference/') ? ''
            : place.replace(/(\/index)?\.html$/, '').replace(/.*\//, '').replace(/-/g, ' ');
        const lower = Object.fromEntries(Object.entries({heading, title, name, text, code})
            .map(([part, value]) => [part, value.toLowerCase()]));
        return {place, anchor, heading, text, title, group, weight, lower};
    });
    return {sections: unpacked, synonyms};
}

function wordsOf(query) {
    const words = query.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
    const telling = words.filter((word) => !stopWords.has(word));
    return telling.length > 0 ? telling : words;
}

/** "cancelled" and "cancellation" are "cancel", "threads" is "thread". */
function stemOf(word) {
    const stem = word.replace(/(ations?|ings?|ies|ed|es|s)$/, '').replace(/([lnprt])\1$/, '$1');
    return stem.length > 2 ? stem : word;
}

/** Ways in which a text can have a word, from the best one on. "_" and ":" part words. */
function waysOf(word, synonyms) {
    const way = (plain, weight, end = '') => {
        const source = `(?<![\\p{L}\\p{N}])${plain}${end}`;
        return {plain, weight, source, pattern: new RegExp(source, 'u')};
    };
    const stem = stemOf(word);
    const others = synonyms[word] ?? synonyms[stem] ?? [];
    return [
        way(word, 1, '(?![\\p{L}\\p{N}])'),
        way(word, 0.7),
        ...others.map((other) => way(other.toLowerCase(), 0.4)),
        way(stem, 0.25),
    ];
}

/** The best way in which the text has the word. The pattern is slow, so it is asked last. */
const bestWay = (text, ways) =>
    ways.find(({plain, pattern}) => text.includes(plain) && pattern.test(text));

const quality = (text, ways) => bestWay(text, ways)?.weight ?? 0;

/** How well the parts of a section have a word. A heading of few other words is the better one. */
function scoreOfWord(word, ways, {anchor, lower}) {
    const heading = (0.5 + 0.5 * Math.min(1, word.length / lower.heading.length))
        * quality(lower.heading, ways);
    const page = Math.max(quality(lower.title, ways), quality(lower.name, ways));
    const text = quality(lower.text, ways);
    const rest = (anchor ? 3 : 8) * page + 2 * text + 0.5 * quality(lower.code, ways);
    return {heading: 10 * heading, rest, found: heading + rest > 0};
}

/** More if the section has the query as it was typed. */
function scoreOfPhrase(query, {heading, text}) {
    if (!query.includes(' '))
        return 0;
    return heading.includes(query) ? 20 : text.includes(query) ? 10 : 0;
}

/** Of one section. A heading counts less if it has but some of the words. */
function scoreOfSection(query, row, rarity, {lower, weight}) {
    const sum = (part) => row.reduce((total, score, at) => total + rarity[at] * score[part], 0);
    const headed = row.filter(({heading}) => heading > 0).length / row.length;
    const score = headed * sum('heading') + sum('rest') + scoreOfPhrase(query, lower);
    // A name of the library leads to its reference.
    return /[_:]/.test(query) ? score : weight * score;
}

/** Scores of all sections. A word that few of them have tells more than one that most have. */
function scoresOf(query, words, ways, sections) {
    const rows = sections.map((section) =>
        words.map((word, at) => scoreOfWord(word, ways[at], section)));
    const rarity = words.map((_, at) =>
        Math.log(1 + sections.length / (1 + rows.filter((row) => row[at].found).length)));
    return rows.map((row, number) => {
        const section = sections[number];
        const found = row.filter((score) => score.found).length;
        return {section, found, score: scoreOfSection(query, row, rarity, section)};
    });
}

/** The sections that have most words of the query, the best first, and a few of each page. */
function findSections({sections, synonyms}, query) {
    const words = wordsOf(query);
    const ways = words.map((word) => waysOf(word, synonyms));
    const scored = scoresOf(query.trim().toLowerCase(), words, ways, sections);
    const most = Math.max(1, ...scored.map(({found}) => found));
    const ofPage = new Map();
    const results = scored.filter(({found}) => found === most)
        .sort((one, other) => other.score - one.score)
        .map(({section}) => section)
        .filter(({place}) => {
            ofPage.set(place, (ofPage.get(place) ?? 0) + 1);
            return ofPage.get(place) <= shownOfPage;
        });
    return {results: results.slice(0, shown), ways};
}

/** Where a piece of the text begins that has hits of most words, as near to its start as can be. */
function beginOfPiece(text, ways) {
    const hits = ways.flatMap((ofWord) => {
        const best = bestWay(text.toLowerCase(), ofWord);
        const all = best ? [...text.matchAll(new RegExp(best.source, 'giu'))] : [];
        return all.map(({index}) => ({index, word: ofWord, weight: best.weight}));
    });
    const worth = ({index}) => {
        const near = hits.filter((hit) => hit.index >= index && hit.index < index + 100);
        const best = new Map(near.map(({word, weight}) => [word, weight]));
        return [...best.values()].reduce((sum, weight) => sum + weight, 0);
    };
    const [first] = hits.map((hit) => ({...hit, worth: worth(hit)}))
        .sort((one, other) => other.worth - one.worth || one.index - other.index);
    return !first || first.index < 60 ? 0 : text.indexOf(' ', first.index - 40) + 1;
}

/** A piece of the text with the hits marked. */
function excerptOf(text, ways) {
    const begin = beginOfPiece(text, ways);
    const piece = text.slice(begin, begin + 160);
    const whole = begin + 160 >= text.length ? piece : `${piece.replace(/\s\S*$/, '')} …`;
    const hits = new RegExp(`(${ways.flat().map(({source}) => source).join('|')})`, 'giu');
    const out = make('span', 'excerpt', begin > 0 ? '… ' : '');
    whole.split(hits).forEach((part, at) => out.append(at % 2 ? make('mark', '', part) : part));
    return out;
}

function optionOf({place, anchor, heading, text, title, group}, ways, number) {
    const where = heading === title ? group : `${group} · ${title}`;
    const option = make('a', '', make('strong', '', heading), make('span', 'where', where),
        excerptOf(text, ways));
    option.href = new URL(anchor ? `${place}#${anchor}` : place, root);
    option.id = `site-result-${number}`;
    option.tabIndex = -1;  // The focus stays in the field.
    option.setAttribute('role', 'option');
    return option;
}

/** The field and the list below it: the pattern of a combobox whose focus stays in the field. */
class Search {
    constructor() {
        this.box = byId('site-search');
        this.field = byId('site-query');
        this.list = byId('site-results');
        this.status = byId('site-found');
        this.at = 0;
        this.field.addEventListener('focus', () => this.update());
        this.field.addEventListener('input', () => this.update());
        this.field.addEventListener('keydown', (event) => this.press(event));
        this.box.addEventListener('submit', (event) => event.preventDefault());
        this.box.addEventListener('focusout', ({relatedTarget}) =>
            this.box.contains(relatedTarget) || this.close());
        this.list.addEventListener('mousedown', (event) => event.preventDefault());
        this.list.addEventListener('click', () => this.leave());
        document.addEventListener('keydown', (event) => this.pressOnPage(event));
    }

    async update() {
        const query = this.field.value;
        try {
            const index = await loadIndex();
            if (query === this.field.value)
                this.show(index, query);
        } catch {
            this.status.textContent = 'The index of the search cannot be loaded.';
            this.status.className = 'seen';
        }
    }

    show(index, query) {
        if (wordsOf(query).length === 0 || document.activeElement !== this.field) {
            this.close();
            return;
        }
        const {results, ways} = findSections(index, query);
        this.list.replaceChildren(...results.map((each, at) => optionOf(each, ways, at)));
        this.list.hidden = results.length === 0;
        this.list.scrollTop = 0;
        this.field.setAttribute('aria-expanded', String(results.length > 0));
        this.status.textContent = results.length > 0
            ? `${results.length} results` : `No page has “${query.trim()}”.`;
        this.status.className = results.length > 0 ? '' : 'seen';
        this.choose(0);
    }

    close() {
        this.list.hidden = true;
        this.list.replaceChildren();
        this.field.setAttribute('aria-expanded', 'false');
        this.field.removeAttribute('aria-activedescendant');
        this.status.textContent = this.status.className = '';
    }

    leave() {
        this.close();
        this.field.blur();
    }

    /** Chooses an option; after the last comes the first. */
    choose(at) {
        const options = [...this.list.children];
        this.at = options.length > 0 ? (at + options.length) % options.length : 0;
        options.forEach((option, each) =>
            option.setAttribute('aria-selected', String(each === this.at)));
        const chosen = options[this.at];
        if (chosen) {
            this.field.setAttribute('aria-activedescendant', chosen.id);
            chosen.scrollIntoView({block: 'nearest'});
        } else {
            this.field.removeAttribute('aria-activedescendant');
        }
    }

    press(event) {
        const act = {
            ArrowDown: () => this.choose(this.at + 1),
            ArrowUp: () => this.choose(this.at - 1),
            Enter: () => this.list.children[this.at]?.click(),
            Escape: () => this.escape(),
        }[event.key];
        if (!act || event.isComposing)
            return;
        event.preventDefault();
        act();
    }

    /** Clears the field. If it is empty already, leaves it. */
    escape() {
        if (this.field.value === '')
            this.field.blur();
        this.field.value = '';
        this.close();
    }

    pressOnPage(event) {
        const {key, target, ctrlKey, metaKey, altKey} = event;
        const types = target.closest('input:not([type=checkbox]), textarea, select');
        if (key !== '/' || ctrlKey || metaKey || altKey || types)
            return;
        event.preventDefault();
        this.field.focus();
        this.field.select();
    }
}

showTheme();
document.documentElement.classList.add('has-script');
document.addEventListener('DOMContentLoaded', () => {
    openThemes();
    addCopyButtons();
    watchScrollers();
    watchSections();
    showPlaceInMenu();
    new Search();
});
