const KEY = 'long-table.booking';

export function load() {
  try {
    return JSON.parse(localStorage.getItem(KEY));
  } catch {
    return null;
  }
}

export function save(booking) {
  localStorage.setItem(KEY, JSON.stringify(booking));
}

export function clear() {
  localStorage.removeItem(KEY);
}
