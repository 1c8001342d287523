import { hash } from 'node:crypto'

/** In one call, because a hash object takes longer than a short text. */
export function sha256(content: string | Uint8Array, encoding: 'hex' | 'base64' | 'base64url'): string {
  return hash('sha256', content, encoding)
}
