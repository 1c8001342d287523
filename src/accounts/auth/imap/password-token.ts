import { SealError, type Sealer } from '../../../platform/crypto/seal.ts'
import type { ImapFields } from '../../index.ts'

const SECRET_FIELDS = ['password', 'smtpPassword', 'caldavPassword'] as const

/** Where and how the passwords are sent. A token must not open for another server or over a weaker connection. */
const BOUND_FIELDS = [
  'host',
  'port',
  'secure',
  'allowSelfSigned',
  'username',
  'smtpHost',
  'smtpPort',
  'smtpSecure',
  'smtpUsername',
  'caldavUrl',
  'caldavUsername',
] as const

type BoundField = (typeof BOUND_FIELDS)[number]

/**
 * Carries the passwords from one step of the form to the next, so that the user types them once and no page contains
 * them. A token is sealed and bound to the session, the state, and every server, username and security choice.
 */
interface PasswordTokens {
  /** `faulty` names invalid fields, which the user has to change: the token is not bound to their values. */
  make(fields: ImapFields, sessionId: string, state: string, faulty?: readonly string[]): string
  /** Fills in the passwords that were left empty. Returns the fields unchanged when the token is absent or does not match. */
  fill(fields: ImapFields, token: unknown, sessionId: string, state: string): ImapFields
}

export function passwordTokens(sealer: Sealer): PasswordTokens {
  const buildContext = (fields: ImapFields, sessionId: string, state: string, free: readonly BoundField[]) => {
    const values = BOUND_FIELDS.map((name) => (free.includes(name) ? null : fieldText(fields[name]).trim()))
    return JSON.stringify(['hosted form', sessionId, state, ...values])
  }
  return {
    make(fields, sessionId, state, faulty = []) {
      const free = BOUND_FIELDS.filter((name) => faulty.includes(name))
      const secrets = SECRET_FIELDS.map((name) => [name, fieldText(fields[name])])
      const sealed = sealer.seal(
        JSON.stringify(Object.fromEntries(secrets)),
        buildContext(fields, sessionId, state, free),
      )
      return [...free, sealed].join(' ')
    },
    fill(fields, token, sessionId, state) {
      if (typeof token !== 'string' || token === '') return fields
      try {
        const names = token.split(' ')
        const free = BOUND_FIELDS.filter((name) => names.includes(name))
        const sealed = names.at(-1) ?? ''
        const secrets: ImapFields = JSON.parse(sealer.open(sealed, buildContext(fields, sessionId, state, free)))
        const empty = SECRET_FIELDS.filter((name) => fieldText(fields[name]) === '')
        return { ...fields, ...Object.fromEntries(empty.map((name) => [name, secrets[name]])) }
      } catch (error) {
        // The user changed one of the bound fields, or the key was rotated. The form asks for the password again.
        if (error instanceof SealError) return fields
        throw error
      }
    },
  }
}

/** A field as text. JSON bodies may contain numbers and booleans. */
export function fieldText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}
