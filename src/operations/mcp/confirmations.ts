import { createHmac } from 'node:crypto'
import { canonical } from '../../platform/crypto/canonical.ts'
import { sameText } from '../../platform/crypto/signature.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { isoTime } from '../../platform/time/time.ts'
import { ToolError } from './tool.ts'

/** The facts of a first call, in the structured content. */
export interface Confirmation {
  confirmationToken: string
  expiresAt: string
}

/**
 * Proves that a first call described what a second one does. A token is valid for one action with one subject, under the API
 * key of the caller. Nothing is stored, so any instance may receive the second call.
 */
export interface Confirmations {
  create(action: string, subject: unknown): Confirmation
  /** Returns an Idempotency-Key, the same for every use of the token. Throws `ToolError` for another action or subject. */
  redeem(token: string, action: string, subject: unknown): string
}

/** Long enough for a person to read and decide; the API keeps idempotency keys for a day. */
const LIFETIME_MS = 30 * 60_000
const TOKEN = /^([0-9a-z]{1,12})\.([\w-]{43})$/

export function confirmations(apiKey: string, clock: Clock): Confirmations {
  const sign = (action: string, subject: unknown, expiry: string) =>
    createHmac('sha256', `posthorn-mcp-confirmation:${apiKey}`)
      .update(JSON.stringify([action, expiry, canonical(subject)]))
      .digest('base64url')

  return {
    create(action, subject) {
      const expiresAtMs = clock.now() + LIFETIME_MS
      const expiry = expiresAtMs.toString(36)
      return {
        confirmationToken: `${expiry}.${sign(action, subject, expiry)}`,
        expiresAt: isoTime(expiresAtMs),
      }
    },

    redeem(token, action, subject) {
      const [, expiry = '', signature = ''] = TOKEN.exec(token) ?? []
      if (expiry === '' || !sameText(signature, sign(action, subject, expiry))) {
        throw new ToolError(
          `The confirmationToken does not belong to this call of ${action}. Nothing was done. Call ${action} without it first, and repeat the same arguments with the token of that call.`,
        )
      }
      if (Number.parseInt(expiry, 36) <= clock.now()) {
        throw new ToolError(
          `The confirmationToken has expired. Nothing was done. Call ${action} without it, and ask the user again.`,
        )
      }
      return `mcp-${token}`
    },
  }
}
