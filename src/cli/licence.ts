import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { publicKeyText, signLicenceKey } from '../operations/licence/index.ts'
import { writeSecret } from '../platform/secrets/index.ts'
import { type Command, type CommandArguments, type Terminal, UsageError } from './command.ts'
import { JSON_OPTION, printJson } from './json.ts'

/** Makes the key pair of one's own issuer of licence keys. The private key goes to a file that only the owner can read. */
export const licenceKeypairCommand: Command = {
  summary: 'make a key pair for licence keys of your own',
  options: {
    out: { value: 'FILE', about: 'where to write the private key; must not exist' },
    show: { about: 'print the private key instead of writing it' },
    ...JSON_OPTION,
  },
  examples: ['posthorn licence keypair --out licence-private-key.pem'],
  async run(terminal, { options }) {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const text = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trim()
    const isShown = options.show === 'true'
    const isJson = options.json !== undefined
    if (isShown && !isJson) terminal.out(text)
    if (!isShown) {
      if (options.out === undefined) throw new UsageError('Pass --out FILE for the private key.')
      const file = resolve(options.out)
      if (existsSync(file)) throw new UsageError(`${file} exists already. Choose another file.`)
      writeSecret(file, text)
      terminal.error(`Wrote the private key to ${file}. Licence keys are signed with it; no service needs it.`)
    }
    if (isJson) {
      return printJson(terminal, { publicKey: publicKeyText(publicKey), ...(isShown && { privateKey: text }) })
    }
    terminal.out(`LICENSE_PUBLIC_KEY=${publicKeyText(publicKey)}`)
  },
}

/** Prints a licence key for services with the public key of the pair in LICENSE_PUBLIC_KEY. */
export const licenceSignCommand: Command = {
  summary: 'sign a licence key',
  options: {
    'private-key': { value: 'FILE', about: 'the private key of "posthorn licence keypair"' },
    plan: { value: 'NAME', about: 'the plan that /health shows' },
    accounts: { value: 'N', about: 'how many accounts may exist; default: no limit' },
    expires: { value: 'DATE', about: 'such as 2027-12-31 (its end, in UTC); default: never' },
    ...JSON_OPTION,
  },
  examples: [
    'posthorn licence sign --private-key licence-private-key.pem --plan team --accounts 500 --expires 2027-12-31',
  ],
  run: sign,
}

async function sign(terminal: Terminal, { options }: CommandArguments): Promise<void> {
  const { plan, accounts, expires } = options
  if (plan === undefined || plan.trim() === '') throw new UsageError('Pass --plan NAME.')
  const accountLimit = accounts === undefined ? undefined : parseLimit(accounts)
  const expiresAt = expires === undefined ? undefined : endOfDay(expires)
  const key = readPrivateKey(options['private-key'])
  const claims = {
    plan: plan.trim(),
    ...(accountLimit !== undefined && { accountLimit }),
    ...(expiresAt !== undefined && { expiresAt }),
  }
  const licenceKey = signLicenceKey(claims, key)
  if (options.json !== undefined) return printJson(terminal, { licenceKey, ...claims })
  terminal.out(`SERVICE_LICENSE_KEY=${licenceKey}`)
}

function parseLimit(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError('--accounts must be a whole number.')
  return Number(text)
}

function endOfDay(text: string): string {
  const time = new Date(`${text}T23:59:59.999Z`)
  // 2027-02-30 would become a day of March.
  if (Number.isNaN(time.getTime()) || !time.toISOString().startsWith(text)) {
    throw new UsageError('--expires must be a date such as 2027-12-31.')
  }
  return time.toISOString()
}

const FOR_OTHERS = 0o077

function readPrivateKey(file: string | undefined): KeyObject {
  if (file === undefined) throw new UsageError('Pass --private-key FILE.')
  const { mode } = statSync(file)
  if ((mode & FOR_OTHERS) !== 0) throw new Error(`Other users can read ${file}. Run: chmod 600 ${file}`)
  const key = readKey(readFileSync(file, 'utf8'))
  if (key?.asymmetricKeyType !== 'ed25519') {
    throw new Error(`${file} has no private key of "posthorn licence keypair".`)
  }
  return key
}

/** The error of Node would quote the file. */
function readKey(text: string): KeyObject | undefined {
  try {
    return createPrivateKey(text)
  } catch {
    return undefined
  }
}
