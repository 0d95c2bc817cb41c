import * as monaco from 'monaco-editor'
import { useEffect, useRef } from 'react'

interface CodeEditorProps {
  path: string
  language: string
  value: string
  onChange: (value: string) => void
}

export function CodeEditor({ path, language, value, onChange }: CodeEditorProps) {
  const element = useRef<HTMLDivElement>(null)
  const editor = useRef<monaco.editor.IStandaloneCodeEditor>(null)
  const change = useRef(onChange)

  useEffect(() => {
    change.current = onChange
  })

  useEffect(() => {
    const instance = monaco.editor.create(element.current!, {
      theme: 'ember',
      automaticLayout: true,
      minimap: { enabled: false },
      fontSize: 15,
      padding: { top: 16 },
      wordWrap: 'on',
    })
    editor.current = instance
    const subscription = instance.onDidChangeModelContent(() => change.current(instance.getValue()))
    return () => {
      subscription.dispose()
      instance.dispose()
    }
  }, [])

  useEffect(() => {
    const uri = monaco.Uri.file(path)
    const model = monaco.editor.getModel(uri) ?? monaco.editor.createModel(value, language, uri)
    editor.current?.setModel(model)
    // The model keeps the text after it was created.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [path, language])

  return <div ref={element} className="editor" />
}
