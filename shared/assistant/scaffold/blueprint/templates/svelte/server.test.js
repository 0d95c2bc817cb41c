import { expect, test } from 'vitest';
import { <% .RecordsImports %> } from <% js .Part.Import %>;
<%- if .HasSave %>

test('takes complete values and drops what is no field', () => {
  const { values, errors } = read<% .Type %>({ ...<% .Record 1 %>, extra: true });

  expect(errors).toEqual({});
  expect(values).toEqual(<% .Record 1 %>);
});

test.each([null, 'text', [], {}])('counts what is not there as missing: %j', (input) => {
  const { errors } = read<% .Type %>(input);

  expect(Object.keys(errors)).toEqual([<% .RequiredKeys %>]);
});

test('saves<% if .HasFind %>, finds<% end %><% if .Has "GET" %>, lists<% end %><% if .Has "DELETE" %> and removes<% end %>', () => {
  const saved = save<% .Type %>('1', <% .Record 1 %>);

  expect(saved).toEqual(<% .Stored 1 %>);
<%- if .HasFind %>
  expect(find<% .Type %>('1')).toEqual(saved);
<%- end %>
<%- if .Has "GET" %>
  expect(list<% .TypeMany %>()).toEqual([saved]);
<%- end %>
<%- if .Has "DELETE" %>
  expect(remove<% .Type %>('1')).toBe(true);
  expect(remove<% .Type %>('1')).toBe(false);
<%- end %>
});
<%- else %>

test('has nothing at first', () => {
<%- if .Has "GET" %>
  expect(list<% .TypeMany %>()).toEqual([]);
  expect(find<% .Type %>('1')).toBeUndefined();
<%- end %>
<%- if .Has "DELETE" %>
  expect(remove<% .Type %>('1')).toBe(false);
<%- end %>
});
<%- end %>
