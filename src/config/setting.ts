import type { Kind } from './kinds.ts'

/** The values from which a default can be computed. */
export interface Basics {
  port: number
  /** PUBLIC_URL is a loopback address: only this machine uses the service. */
  isLocal: boolean
}

interface ComputedDefault<T> {
  /** The default for documentation: `http://localhost:PORT`. */
  text: string
  of(basics: Basics): T
}

export interface Setting<T> {
  /** The environment variable. */
  env: string
  /** Dotted path in `service.config.json`; undefined for settings of the environment only. */
  path?: string
  /** Other paths for the same setting. The first that has a value counts, `path` before them. */
  aliases?: readonly string[]
  kind: Kind<T>
  /** The default; undefined when there is none. */
  fallback: T | ComputedDefault<T> | undefined
  /** True for values that errors, logs and generated files never show. */
  secret?: true
  /** A secret that the service makes when it is missing: always, or on the file store only. */
  generated?: 'always' | 'file-store'
  /** One sentence for operators. */
  about: string
}

/** Every path at which the file may have the setting. */
export function settingPaths({ path, aliases = [] }: Pick<Setting<unknown>, 'path' | 'aliases'>): string[] {
  return path === undefined ? [] : [path, ...aliases]
}

/** The values of all settings by their field of `Config`, while they are read. */
export type Values = Record<string, unknown>

type Declared<T> = Omit<Setting<T>, 'fallback'>

/** Declares a setting. With a default its value is never undefined. */
export function setting<T>(declared: Declared<T> & { fallback: NoInfer<T | ComputedDefault<T>> }): Setting<T>
export function setting<T>(declared: Declared<T> & { fallback: undefined }): Setting<T | undefined>
export function setting<T>(declared: Setting<T>): Setting<T> {
  return declared
}
