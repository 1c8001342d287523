import type { SettingSource } from './effective.ts'
import { type ConfigFile, type Environment, isBranch, valueAt } from './file.ts'
import { type Setting, settingPaths } from './setting.ts'

/** The operator's value for a setting, with its name for messages. */
type Given = { source: SettingSource } & ({ value: unknown; from: string } | { error: string })

/** Finds the value in the environment, else in the file. An empty one counts as absent. */
export function givenValue(setting: Setting<unknown>, environment: Environment, file: ConfigFile): Given {
  const text = environment[setting.env]
  if (text !== undefined && text.trim() !== '') return { source: 'environment', value: text, from: setting.env }
  if (setting.path === undefined) return { source: 'default', value: undefined, from: setting.env }
  const path = settingPaths(setting).find((candidate) => (valueAt(file.values, candidate) ?? '') !== '') ?? setting.path
  const from = `${path} in ${file.name} (${setting.env})`
  const missing: string[] = []
  const value = resolved(valueAt(file.values, path), environment, missing)
  if (missing.length > 0) {
    const error = `${from} refers to ${missing.join(', ')}, which the environment does not define.`
    return { source: 'file', error }
  }
  if (value === undefined || value === '') return { source: 'default', value: undefined, from }
  return { source: 'file', value, from }
}

const REFERENCE = /^env:([A-Za-z_][A-Za-z0-9_]*)$/

/** Replaces `"env:NAME"` by the environment variable, also inside lists and objects. */
function resolved(value: unknown, environment: Environment, missing: string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => resolved(item, environment, missing))
  if (isBranch(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolved(item, environment, missing)]))
  }
  const name = typeof value === 'string' ? REFERENCE.exec(value.trim())?.[1] : undefined
  if (name === undefined) return value
  const text = environment[name]
  if (text === undefined || text.trim() === '') missing.push(name)
  return text
}
