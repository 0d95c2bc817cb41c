export interface SourceFile {
  path: string
  language: string
  text: string
}

export const initialFiles: SourceFile[] = [
  {
    path: 'notes.md',
    language: 'markdown',
    text: '# Notes\n\nWrite **Markdown** on the left, and read it on the right.\n\n- Files are kept in this browser\n- Nothing is sent anywhere\n',
  },
  {
    path: 'palette.css',
    language: 'css',
    text: ':root {\n  --ember: #ff793f;\n  --ash: #1d1f27;\n}\n\n.button {\n  background: var(--ember);\n}\n',
  },
  {
    path: 'sum.ts',
    language: 'typescript',
    text: 'export function sum(values: number[]): number {\n  return values.reduce((total, value) => total + value, 0);\n}\n',
  },
  { path: 'data.json', language: 'json', text: '{\n  "name": "scratch",\n  "files": 4\n}\n' },
]
