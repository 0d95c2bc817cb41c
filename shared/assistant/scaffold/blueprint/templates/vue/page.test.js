// @vitest-environment jsdom
import { flushPromises, mount } from '@vue/test-utils'
<%- if .LoadsHere %>
import { afterEach, expect, test, vi } from 'vitest'
<%- else %>
import { expect, test } from 'vitest'
<%- end %>
import <% .Part.Name %> from <% js .Part.Import %>
<%- if .LoadsHere %>

afterEach(() => vi.unstubAllGlobals())

test('shows what it loads', async () => {
  vi.stubGlobal('fetch', async () => Response.json(<% .Record 1 %>))
  const wrapper = mount(<% .Part.Name %>)
  await flushPromises()

  expect(document.title).toBe(<% js .Title %>)
<%- range .Inputs %>
  expect(wrapper.text()).toContain(<% $.Shows . 1 %>)
<%- end %>
})

test('offers to try again after a failure', async () => {
  vi.stubGlobal('fetch', async () => new Response(null, { status: 500 }))
  const wrapper = mount(<% .Part.Name %>)
  await flushPromises()

  expect(wrapper.get('[role="alert"] button').text()).toBe('Try again')
})
<%- else %>

test('has a heading and names the document', async () => {
  const wrapper = mount(<% .Part.Name %><% if .Shallow %>, { shallow: true }<% end %>)
  await flushPromises()

  expect(wrapper.get('h1').text()).toBe(<% js .Title %>)
  expect(document.title).toBe(<% js .Title %>)
})
<%- end %>
