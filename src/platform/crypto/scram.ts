import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

/** The hash of each mechanism, the strongest first (RFC 5802, RFC 7677). */
const HASHES = { 'SCRAM-SHA-512': 'sha512', 'SCRAM-SHA-256': 'sha256', 'SCRAM-SHA-1': 'sha1' } as const

export type ScramMechanism = keyof typeof HASHES

/** The strongest of these mechanisms that is SCRAM. */
export function strongestScram(offered: ReadonlySet<string>): ScramMechanism | undefined {
  return (Object.keys(HASHES) as ScramMechanism[]).find((mechanism) => offered.has(mechanism))
}

/** The server sent something that RFC 5802 forbids, or does not know the password. Without any of its words. */
export class ScramError extends Error {
  override name = 'ScramError'
}

interface ScramLogin {
  mechanism: ScramMechanism
  username: string
  password: string
  /** Random; tests set it. */
  nonce?: string
}

/** RFC 7677 asks for that many. With fewer, a server that only pretends to know the password finds a weak one quickly. */
const MIN_ITERATIONS = 4096
/** About a second of one core. */
const MAX_ITERATIONS = 2_000_000
/** Without channel binding. */
const GS2_HEADER = 'n,,'

const derive = promisify(pbkdf2)

/**
 * The client's side of one login, without channel binding. Each step takes what the server sent, decoded from base64, and returns the
 * response. Throws `ScramError`.
 */
export class ScramClient {
  readonly #login: ScramLogin
  readonly #firstBare: string
  readonly #nonce: string
  #serverSignature: Buffer | undefined
  #isVerified = false

  constructor(login: ScramLogin) {
    this.#login = login
    this.#nonce = login.nonce ?? randomBytes(18).toString('base64')
    this.#firstBare = `n=${saslName(prepared(login.username))},r=${this.#nonce}`
  }

  first(): string {
    return `${GS2_HEADER}${this.#firstBare}`
  }

  async final(serverFirst: string): Promise<string> {
    const { nonce, salt, iterations } = parseServerFirst(serverFirst, this.#nonce)
    const { mechanism, password } = this.#login
    const hash = HASHES[mechanism]
    const length = createHash(hash).digest().length
    const salted = await derive(prepared(password), salt, iterations, length, hash)
    const hmac = (key: Buffer, text: string) => createHmac(hash, key).update(text).digest()
    const clientKey = hmac(salted, 'Client Key')
    const storedKey = createHash(hash).update(clientKey).digest()
    const withoutProof = `c=${base64(GS2_HEADER)},r=${nonce}`
    const message = `${this.#firstBare},${serverFirst},${withoutProof}`
    const signature = hmac(storedKey, message)
    const proof = clientKey.map((byte, index) => byte ^ (signature[index] ?? 0))
    this.#serverSignature = hmac(hmac(salted, 'Server Key'), message)
    return `${withoutProof},p=${Buffer.from(proof).toString('base64')}`
  }

  /** Checks that the server knows the password. */
  verify(serverFinal: string): void {
    const expected = this.#serverSignature
    const [, value = ''] = /^v=([A-Za-z0-9+/=]+)/.exec(serverFinal) ?? []
    const actual = Buffer.from(value, 'base64')
    this.#isVerified = expected !== undefined && actual.length === expected.length && timingSafeEqual(actual, expected)
    if (!this.#isVerified) throw new ScramError('the server did not prove that it knows the password')
  }

  /** A login that succeeds before the server has proved itself is none. */
  ensureVerified(): void {
    if (!this.#isVerified) throw new ScramError('the server did not prove that it knows the password')
  }
}

function parseServerFirst(text: string, clientNonce: string): { nonce: string; salt: Buffer; iterations: number } {
  const [, nonce = '', salt = '', count = ''] =
    /^r=([!-+\--~]+),s=([A-Za-z0-9+/=]+),i=(\d{1,9})(?:,|$)/.exec(text) ?? []
  if (!nonce.startsWith(clientNonce) || nonce.length === clientNonce.length) {
    throw new ScramError('the server sent a challenge that is not valid')
  }
  const iterations = Number(count)
  if (iterations < MIN_ITERATIONS || iterations > MAX_ITERATIONS) {
    throw new ScramError(`the server asks for ${iterations} iterations`)
  }
  return { nonce, salt: Buffer.from(salt, 'base64'), iterations }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

function saslName(name: string): string {
  return name.replaceAll('=', '=3D').replaceAll(',', '=2C')
}

const SPACES = /[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000]/g
const MAPPED_TO_NOTHING = /\u00ad|\u034f|\u1806|[\u180b-\u180d]|\u200c|\u200d|\u2060|[\ufe00-\ufe0f]|\ufeff/g

/** SASLprep (RFC 4013), without its prohibitions: a server that knows such a password decides about it. */
function prepared(text: string): string {
  return text.replace(SPACES, ' ').replace(MAPPED_TO_NOTHING, '').normalize('NFKC')
}
