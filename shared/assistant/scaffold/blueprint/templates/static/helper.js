<%- if eq .Shape "date" %>
/** A date as people of a locale write it: January 10, 2026. Days (2026-01-10) stay the same day in every time zone. '' for what is no date. */
export function <% .Fn %>(value<% if .TS %>: Date | number | string<% end %>, locale<% if .TS %>?: string<% end %>) {
  const isDay = typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value);
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) return '';
  return new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: isDay ? 'UTC' : undefined }).format(date);
}
<%- else if eq .Shape "currency" %>
/** An amount of money as people of a locale write it: $1,234.50. */
export function <% .Fn %>(amount<% if .TS %>: number<% end %>, currency = 'USD', locale<% if .TS %>?: string<% end %>) {
  return new Intl.NumberFormat(locale, { style: 'currency', currency }).format(amount);
}
<%- else if eq .Shape "slug" %>
/** A text as part of an address: 'Crème brûlée!' is creme-brulee. */
export function <% .Fn %>(text<% if .TS %>: string<% end %>) {
  return text
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}]+/gu, '-')
    .replace(/^-|-$/g, '');
}
<%- else if eq .Shape "debounce" %>
/** A function that calls `callback` once it has not been called for `delay` milliseconds. */
<%- if .TS %>
export function <% .Fn %><A extends unknown[]>(callback: (...values: A) => void, delay = 300) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return (...values: A) => {
<%- else %>
export function <% .Fn %>(callback, delay = 300) {
  let timer;
  return (...values) => {
<%- end %>
    clearTimeout(timer);
    timer = setTimeout(() => callback(...values), delay);
  };
}
<%- else if eq .Shape "truncate" %>
/** A text of at most `length` characters; what is cut off becomes an ellipsis. */
export function <% .Fn %>(text<% if .TS %>: string<% end %>, length = 80) {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('').trimEnd()}…`;
}
<%- else if eq .Shape "capitalize" %>
/** A text with a capital letter in front. */
export function <% .Fn %>(text<% if .TS %>: string<% end %>) {
  const [first = '', ...rest] = text;
  return first.toUpperCase() + rest.join('');
}
<%- else if eq .Shape "clamp" %>
/** The number nearest to `value` from `least` to `most`. */
export function <% .Fn %>(value<% if .TS %>: number<% end %>, least<% if .TS %>: number<% end %>, most<% if .TS %>: number<% end %>) {
  return Math.min(Math.max(value, least), most);
}
<%- else if eq .Shape "email" %>
/** Whether a text looks like an email address. Only a message that arrives proves that it is one. */
export function <% .Fn %>(text<% if .TS %>: string<% end %>) {
  return /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text);
}
<%- else %>
<%- if .TS %>
export interface <% .Type %>Values {
<%- range .Inputs %>
  <% .Key %>: <% $.TypeOf . %><% if eq .Type "number" %> | null<% end %>;
<%- end %>
}

export type <% .Type %>Errors = Partial<Record<keyof <% .Type %>Values, string>>;
<%- end %>

/** <% .Sentence %> values to start from. */
export function empty<% .Type %>()<% if .TS %>: <% .Type %>Values<% end %> {
  return { <% range $i, $f := .Inputs %><% if $i %>, <% end %><% .Key %>: <% $.Blank . %><% end %> };
}

/** What is wrong with <% .Lower %> values, a message a field; empty if nothing is. */
export function validate<% .Type %>(values<% if .TS %>: <% .Type %>Values<% end %>)<% if .TS %>: <% .Type %>Errors<% end %> {
  const found<% if .TS %>: <% .Type %>Errors<% end %> = {};
<% .Checks "found" "null" ";" %>
  return found;
}
<%- end %>
