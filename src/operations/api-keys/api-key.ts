import { hash } from 'node:crypto'
import type { Scope } from '../../platform/http/index.ts'
import { secretToken } from '../../platform/ids.ts'

/** Distinguishes keys from every loggable id; scanners for leaked secrets find it. */
const PREFIX = 'phk_'
const KEY = /^phk_[\w-]{43}$/
const HINT_CHARS = 4

/** Narrowest first. Each one includes those before it. */
export const SCOPES = ['read', 'write', 'admin'] as const satisfies readonly Scope[]

/** A new key of 256 random bits. */
export function generateKey(): string {
  return PREFIX + secretToken()
}

/** False for a text that no key of this service can be. */
export function isKey(text: string): boolean {
  return KEY.test(text)
}

/** No slow hash and no salt, because nobody can guess a random key. */
export function keyHash(key: string): string {
  return hash('sha256', key, 'base64url')
}

export function keyHint(key: string): string {
  return key.slice(-HINT_CHARS)
}

/** The widest of the scopes. */
export function widest(scopes: readonly Scope[]): Scope {
  return SCOPES.findLast((scope) => scopes.includes(scope)) ?? 'read'
}

/** The scope and those that it includes. */
export function included(scope: Scope): readonly Scope[] {
  return SCOPES.slice(0, SCOPES.indexOf(scope) + 1)
}
