import * as monaco from 'monaco-editor'
import EditorWorker from 'monaco-editor/esm/vs/editor/editor.worker?worker'
import CssWorker from 'monaco-editor/esm/vs/language/css/css.worker?worker'
import JsonWorker from 'monaco-editor/esm/vs/language/json/json.worker?worker'
import TypeScriptWorker from 'monaco-editor/esm/vs/language/typescript/ts.worker?worker'

self.MonacoEnvironment = {
  getWorker(_, label) {
    if (label === 'css') return new CssWorker()
    if (label === 'json') return new JsonWorker()
    if (label === 'typescript' || label === 'javascript') return new TypeScriptWorker()
    return new EditorWorker()
  },
}

monaco.editor.defineTheme('ember', {
  base: 'vs-dark',
  inherit: true,
  rules: [
    { token: 'keyword', foreground: 'ff793f' },
    { token: 'comment', foreground: '7a7f8c', fontStyle: 'italic' },
  ],
  colors: { 'editor.background': '#1d1f27', 'editorLineNumber.foreground': '#4a4e5c' },
})
