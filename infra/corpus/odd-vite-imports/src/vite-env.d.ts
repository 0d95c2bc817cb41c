/// <reference types="vite/client" />

interface ImportMetaEnv {
  readonly VITE_TITLE: string
  readonly VITE_SEASON: string
  readonly VITE_HINT?: string
}

declare module '*.b64?url' {
  const url: string
  export default url
}
