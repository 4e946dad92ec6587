// What the tab remembers over a reload. A browser may forbid it: then it remembers nothing.

export function recall(key) {
    try {
        return JSON.parse(sessionStorage.getItem(key));
    } catch {
        return null;
    }
}

export function remember(key, value) {
    try {
        sessionStorage.setItem(key, JSON.stringify(value));
    } catch {
        // Forbidden or full: everything works without it.
    }
}
