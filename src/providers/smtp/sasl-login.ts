import type { SMTPConnectionCustomAuthContext } from 'nodemailer/lib/smtp-connection'
import { type ScramClient, ScramError, type ScramMechanism, strongestScram } from '../../platform/crypto/scram.ts'
import {
  chooseOAuthMechanism,
  decodeChallenge,
  endOfExchange,
  initialResponse,
  type OAuthMechanism,
  refusedToken,
} from '../shared/sasl/index.ts'

/** The server expects another response of the client. */
const CONTINUE = 334
const SUCCESS = 235
const PERMANENT = 500

/**
 * The mechanism for a login with a password that does not send it; undefined where PLAIN or LOGIN is used. Over TLS those come first:
 * some servers offer the others although they store no password for them. `ehlo`: the whole reply to EHLO.
 */
export function challengeMechanism(ehlo: string, isEncrypted: boolean): ScramMechanism | 'CRAM-MD5' | undefined {
  const offered = offeredMechanisms(ehlo)
  const isNeeded = !isEncrypted || !(offered.has('PLAIN') || offered.has('LOGIN'))
  if (!isNeeded) return undefined
  return strongestScram(offered) ?? (offered.has('CRAM-MD5') ? 'CRAM-MD5' : undefined)
}

/** The mechanism for a login with an access token. */
export function oauthMechanism(ehlo: string): OAuthMechanism | undefined {
  return chooseOAuthMechanism(offeredMechanisms(ehlo))
}

const OTHERS = ['PLAIN', 'LOGIN', 'CRAM-MD5']

/** Whether a password is enough for a mechanism of the server. True for a server that names none: it may accept PLAIN. */
export function takesPassword(ehlo: string): boolean {
  const offered = offeredMechanisms(ehlo)
  return offered.size === 0 || OTHERS.some((name) => offered.has(name)) || strongestScram(offered) !== undefined
}

function offeredMechanisms(ehlo: string): Set<string> {
  const lines = [...ehlo.matchAll(/^250[ -]AUTH[ =](.*)$/gim)]
  return new Set(lines.flatMap(([, names = '']) => names.toUpperCase().split(/[\s=]+/)).filter(Boolean))
}

/** Logs in as RFC 4954 says. A refusal of the server becomes its `EAUTH` error, as with the mechanisms of nodemailer. */
export async function scramLogin(context: SMTPConnectionCustomAuthContext, client: ScramClient): Promise<void> {
  const { method, sendCommand } = context
  const first = await sendCommand(`AUTH ${method} ${encode(client.first())}`)
  if (first.status !== CONTINUE) throw refused()
  const second = await sendCommand(encode(await client.final(decode(first.text))))
  // RFC 4954 has no text beside 235, so the server's proof needs a round trip of its own.
  if (second.status !== CONTINUE) throw second.status === SUCCESS ? unproven() : refused()
  client.verify(decode(second.text))
  const last = await sendCommand('')
  if (last.status !== SUCCESS) throw refused()
}

interface TokenExchange {
  mechanism: OAuthMechanism
  username: string
  accessToken: string
  host: string
  port: number
}

/** Logs in with an access token. Throws `ProviderError` when the server explains why it refuses the token. */
export async function tokenLogin(
  { sendCommand }: Pick<SMTPConnectionCustomAuthContext, 'sendCommand'>,
  doing: string,
  login: TokenExchange,
): Promise<void> {
  const { mechanism } = login
  const reply = await sendCommand(`AUTH ${mechanism} ${initialResponse(mechanism, login)}`)
  if (reply.status === SUCCESS) return
  if (reply.status !== CONTINUE) throw refused()
  const challenge = decodeChallenge(reply.text ?? '')
  const last = await sendCommand(endOfExchange(mechanism))
  // A server that fails for now says so last, as for a password.
  if (challenge === undefined || last.status < PERMANENT) throw refused()
  throw refusedToken(doing, challenge)
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64')
}

function decode(text: string | undefined): string {
  return Buffer.from(text ?? '', 'base64').toString()
}

function refused(): Error {
  return new Error('The server refused the login.')
}

function unproven(): ScramError {
  return new ScramError('the server did not prove that it knows the password')
}
