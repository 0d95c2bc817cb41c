/// <reference types="vite/client" />

declare const __VERSION__: string
declare const __BOARD_COLUMNS__: number
