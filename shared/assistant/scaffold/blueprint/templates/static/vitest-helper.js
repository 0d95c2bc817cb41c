<%- if eq .Shape "debounce" %>
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
<%- else %>
import { expect, test } from 'vitest';
<%- end %>
<%- if .Shape %>
import { <% .Fn %> } from <% js .Part.Import %>;
<%- else %>
import { empty<% .Type %>, validate<% .Type %> } from <% js .Part.Import %>;
<%- end %>
<%- if eq .Shape "debounce" %>

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('calls once, with the latest values', () => {
  const callback = vi.fn();
  const debounced = <% .Fn %>(callback, 100);

  debounced(1);
  debounced(2);
  vi.advanceTimersByTime(99);
  expect(callback).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(callback).toHaveBeenCalledExactlyOnceWith(2);
});
<%- else if .Shape %>

test.each([
<%- range .Cases %>
  [<% . %>],
<%- end %>
])('case %#', (expected, ...values) => {
  expect(<% .Fn %>(...<% if .TS %>(values as Parameters<typeof <% .Fn %>>)<% else %>values<% end %>)).toBe(expected);
});
<%- else %>

test('accepts complete values', () => {
  expect(validate<% .Type %>(<% .Record 1 %>)).toEqual({});
});
<%- if .HasRequired %>

test('names every field that is missing', () => {
  expect(Object.keys(validate<% .Type %>(empty<% .Type %>()))).toEqual([<% .RequiredKeys %>]);
});
<%- else %>

test('accepts empty values', () => {
  expect(validate<% .Type %>(empty<% .Type %>())).toEqual({});
});
<%- end %>
<%- end %>
