import { marked } from 'marked'
import type { SourceFile } from './files'

const escape = (text: string) => text.replace(/[&<>]/g, (char) => `&#${char.charCodeAt(0)};`)

export function Preview({ file }: { file: SourceFile }) {
  if (file.language !== 'markdown') {
    const lines = file.text.trimEnd().split('\n').length
    return (
      <section className="preview">
        <h2>{file.path}</h2>
        <p>
          {lines} lines, {file.text.length} characters
        </p>
      </section>
    )
  }
  return <section className="preview" dangerouslySetInnerHTML={{ __html: marked.parse(escape(file.text), { async: false }) }} />
}
