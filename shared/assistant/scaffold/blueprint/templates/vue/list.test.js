// @vitest-environment jsdom
import { flushPromises, mount } from '@vue/test-utils'
import { afterEach, expect, test, vi } from 'vitest'
import <% .Part.Name %> from <% js .Part.Import %>

const <% .Many %> = [
  <% .Stored 1 %>,
  <% .Stored 2 %>,
]

afterEach(() => vi.unstubAllGlobals())

function answer(...responses<% if .TS %>: Response[]<% end %>) {
  vi.stubGlobal('fetch', vi.fn(async () => responses.shift()))
}

test('shows the <% .ManyLower %> once they are loaded', async () => {
  answer(Response.json(<% .Many %>))
  const wrapper = mount(<% .Part.Name %>)

  expect(wrapper.get('[role="status"]').text()).toContain('Loading')
  await flushPromises()

  expect(wrapper.findAll('<% if .Table %>tbody tr<% else %>li<% end %>')).toHaveLength(2)
<%- with index .Inputs 0 %>
  expect(wrapper.text()).toContain(<% $.Shows . 1 %>)
  expect(wrapper.text()).toContain(<% $.Shows . 2 %>)
<%- end %>
})

test('says that there are none', async () => {
  answer(Response.json([]))
  const wrapper = mount(<% .Part.Name %>)
  await flushPromises()

  expect(wrapper.text()).toContain('There are no <% .ManyLower %> yet.')
})

test('tries again after a failure', async () => {
  answer(new Response(null, { status: 500 }), Response.json(<% .Many %>))
  const wrapper = mount(<% .Part.Name %>)
  await flushPromises()

  await wrapper.get('[role="alert"] button').trigger('click')
  await flushPromises()

  expect(wrapper.findAll('<% if .Table %>tbody tr<% else %>li<% end %>')).toHaveLength(2)
})
