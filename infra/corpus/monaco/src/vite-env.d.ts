/// <reference types="vite/client" />

interface Window {
  MonacoEnvironment?: import('monaco-editor').Environment
}
