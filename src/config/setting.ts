import type { Kind } from './kinds.ts'

/** What a default may be computed from. */
export interface Basics {
  port: number
  production: boolean
}

export interface ComputedDefault<T> {
  /** For people: `http://localhost:PORT`. */
  text: string
  of(basics: Basics): T
}

export interface Setting<T> {
  /** The environment variable. */
  env: string
  /** Where it stands in `service.config.json`, by dots; undefined when only the environment makes sense. */
  path?: string
  kind: Kind<T>
  /** Used when it is set nowhere; undefined: there is none. */
  fallback: T | ComputedDefault<T> | undefined
  /** Never shown in errors, logs or generated files. */
  secret?: true
  /** One sentence for operators. */
  about: string
}

type Declared<T> = Omit<Setting<T>, 'fallback'>

/** A setting with a default is never undefined; one without may be. */
export function setting<T>(declared: Declared<T> & { fallback: NoInfer<T | ComputedDefault<T>> }): Setting<T>
export function setting<T>(declared: Declared<T> & { fallback: undefined }): Setting<T | undefined>
export function setting<T>(declared: Setting<T>): Setting<T> {
  return declared
}
