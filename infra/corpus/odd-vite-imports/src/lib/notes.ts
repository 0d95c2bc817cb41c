const files = import.meta.glob<string>('../notes/*.md', { query: '?raw', import: 'default', eager: true })

export const notes = Object.entries(files)
  .sort(([a], [b]) => a.localeCompare(b))
  .map(([, source]) => {
    const [title, ...rest] = source.split('\n')
    return { title: title.replace(/^# /, ''), text: rest.join(' ').trim() }
  })
