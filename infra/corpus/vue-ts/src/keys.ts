import type { InjectionKey, Ref } from 'vue'

export type Density = 'cosy' | 'compact'

export const densityKey: InjectionKey<Ref<Density>> = Symbol('density')
