import type { Setting } from './setting.ts'

/** The source of a value. `generated`: a secret that the service makes when it is missing. */
export type SettingSource = 'environment' | 'file' | 'default' | 'generated'

/** A setting as operators may see it. */
export interface EffectiveSetting {
  /** The path in `service.config.json`. */
  name: string
  /** The environment variable. */
  variable: string
  /** As the variable would have it, secrets masked. Null without a value, and for an invalid one. */
  value: string | null
  source: SettingSource
  isSecret: boolean
  about: string
}

const MASK = '***'

export function effectiveSetting(setting: Setting<unknown>, value: unknown, source: SettingSource): EffectiveSetting {
  const { env, path = env, secret = false, about } = setting
  const isMade = source === 'generated'
  const shown = isMade
    ? MASK
    : value === undefined
      ? null
      : secret
        ? maskedSecret(value)
        : maskedText(formatValue(value))
  return { name: path, variable: env, value: shown, source, isSecret: secret, about }
}

function formatValue(value: unknown): string {
  if (Array.isArray(value)) return value.join(',')
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .map(([name, item]) => `${name}=${item}`)
    .join(',')
}

/** Masks only the secrets in a database URL, because operators need to see which database it is. */
function maskedSecret(value: unknown): string {
  return typeof value === 'string' && /^(postgres|postgresql|redis|rediss):\/\//.test(value) ? maskedText(value) : MASK
}

/** Masks the user, password and query of a URL. Other texts stay the same. */
function maskedText(text: string): string {
  if (!/^[a-z]+:\/\//i.test(text)) return text
  if (!URL.canParse(text)) return MASK
  const { protocol, username, password, host, pathname, search } = new URL(text)
  if (username === '' && password === '' && search === '') return text
  const user = username === '' && password === '' ? '' : `${MASK}@`
  return `${protocol}//${user}${host}${pathname === '/' ? '' : pathname}${search === '' ? '' : `?${MASK}`}`
}
