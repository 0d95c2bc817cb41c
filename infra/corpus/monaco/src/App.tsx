import { useEffect, useState } from 'react'
import { initialFiles, type SourceFile } from './files'
import { CodeEditor } from './monaco/CodeEditor'
import { Preview } from './Preview'

const key = 'scratch-files'

function load(): SourceFile[] {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '') as SourceFile[]
  } catch {
    return initialFiles
  }
}

export default function App() {
  const [files, setFiles] = useState(load)
  const [current, setCurrent] = useState('notes.md')
  const file = files.find(({ path }) => path === current)!

  useEffect(() => localStorage.setItem(key, JSON.stringify(files)), [files])

  return (
    <div className="app">
      <div className="tabs" role="tablist">
        {files.map(({ path }) => (
          <button key={path} role="tab" className="tab" aria-selected={path === current} onClick={() => setCurrent(path)}>
            {path}
          </button>
        ))}
      </div>
      <main>
        <CodeEditor
          path={file.path}
          language={file.language}
          value={file.text}
          onChange={(text) => setFiles((all) => all.map((item) => (item.path === current ? { ...item, text } : item)))}
        />
        <Preview file={file} />
      </main>
      <footer>
        {file.language} · {file.text.split(/\s+/).filter(Boolean).length} words
      </footer>
    </div>
  )
}
