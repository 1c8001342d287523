import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import { errorCode } from '../platform/errors/describe-error.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The nested values of `service.config.json`, or the errors in it. */
export interface ConfigFile {
  /** Name for messages. */
  name: string
  values: Record<string, unknown>
  errors: string[]
}

/** Reads the file from SERVICE_CONFIG, otherwise `service.config.json` in `folder`, which may be missing. */
export function readConfigFile(environment: Environment, folder: string): ConfigFile {
  const named = environment.SERVICE_CONFIG?.trim()
  const file = named ? resolve(folder, named) : join(folder, 'service.config.json')
  const name = named || 'service.config.json'
  try {
    return { name, ...parsed(name, readFileSync(file, 'utf8')) }
  } catch (error) {
    const code = errorCode(error) || 'unreadable'
    if (code === 'ENOENT' && !named) return { name, values: {}, errors: [] }
    return {
      name,
      values: {},
      errors: [`Cannot read the settings file ${file} (${code}). Check SERVICE_CONFIG and the permissions.`],
    }
  }
}

function parsed(name: string, text: string): { values: Record<string, unknown>; errors: string[] } {
  const parseErrors: ParseError[] = []
  const root: unknown = parse(text.replace(/^\uFEFF/, ''), parseErrors, {
    allowTrailingComma: true,
    allowEmptyContent: true,
  })
  const errors = parseErrors.map(
    ({ error, offset }) => `${name}, line ${text.slice(0, offset).split('\n').length}: ${printParseErrorCode(error)}.`,
  )
  if (root === undefined && errors.length === 0) return { values: {}, errors }
  if (!isBranch(root)) return { values: {}, errors: [...errors, `${name} must contain one JSON object.`] }
  return { values: root, errors }
}

export function isBranch(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value at a dotted path such as `service.app.redirectUrl`. Null counts as undefined. */
export function valueAt(values: Record<string, unknown>, path: string): unknown {
  let value: unknown = values
  for (const part of path.split('.')) value = isBranch(value) && Object.hasOwn(value, part) ? value[part] : undefined
  return value ?? undefined
}

/** Paths in the file that are no setting, so that a mistyped name does not go unnoticed. */
export function unknownPaths(values: Record<string, unknown>, settings: ReadonlySet<string>, above = ''): string[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const path = above + key
    if (settings.has(path)) return []
    return isBranch(value) && Object.keys(value).length > 0 ? unknownPaths(value, settings, `${path}.`) : [path]
  })
}
