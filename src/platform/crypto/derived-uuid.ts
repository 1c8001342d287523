import { sha256 } from './sha256.ts'

/** A UUID that depends only on the text: the key of what a repeated request must not create again. */
export function deriveUuid(text: string): string {
  const hex = sha256(text, 'hex')
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}
