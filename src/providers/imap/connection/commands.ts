import iconv from 'iconv-lite'
import type { ImapFlow } from 'imapflow'
import { ProviderError } from '../../contract/index.ts'
import type { FolderNames } from '../folders/folder-names.ts'
import { quoted } from '../folders/folder-responses.ts'

/** An argument of a command, as imapflow's compiler takes it. */
type Argument = string | { type: string; value: unknown } | readonly Argument[]
type Execute = (command: string, args: readonly Argument[] | false, options?: object) => Promise<Response>

interface Response {
  next(): void
}

/** The arguments that are names of folders. */
const NAMES: Readonly<Record<string, readonly number[]>> = {
  SELECT: [0],
  EXAMINE: [0],
  STATUS: [0],
  CREATE: [0],
  DELETE: [0],
  RENAME: [0, 1],
  SUBSCRIBE: [0],
  UNSUBSCRIBE: [0],
  APPEND: [0],
  COPY: [1],
  MOVE: [1],
  'UID COPY': [1],
  'UID MOVE': [1],
  LIST: [1],
  XLIST: [1],
  LSUB: [1],
}
/** They may make a folder with a name that no listing contains. */
const NEW_NAMES: ReadonlySet<string> = new Set(['CREATE', 'RENAME'])
const LISTS: ReadonlySet<string> = new Set(['LIST', 'XLIST'])
const SEARCHES: ReadonlySet<string> = new Set(['SEARCH', 'UID SEARCH'])

interface Intercepted {
  /** The error of the last command; undefined when the server accepted it. Several methods of imapflow return false without it. */
  lastFailure(): unknown
}

/**
 * Takes over how imapflow sends commands: folders get the names that the server gave them, and a search is repeated in a charset that the
 * server knows. imapflow has no way to do either. `onList` is called before a listing that imapflow did not ask for.
 */
export function interceptCommands(imap: ImapFlow, names: FolderNames, onList: () => void): Intercepted {
  const original: unknown = Reflect.get(imap, 'exec')
  if (typeof original !== 'function') throw new TypeError('This version of imapflow sends its commands in another way.')
  const execute: Execute = (...command) => Reflect.apply(original, imap, command)
  let hasListed = false

  async function list(): Promise<void> {
    hasListed = true
    onList()
    const ignored = { LIST: async () => {} }
    const { next } = await execute('LIST', ['', '*'], { untagged: ignored })
    next()
  }

  async function executeNaming(
    positions: readonly number[],
    command: string,
    args: readonly Argument[],
    options: object | undefined,
  ): Promise<Response> {
    const delimiter = imap.namespace?.delimiter || '/'
    const rewritten = () => args.map((arg, index) => (positions.includes(index) ? ownName(arg, names, delimiter) : arg))
    const mayDiffer = !LISTS.has(command) && positions.some((index) => names.mayDiffer(readText(args[index])))
    if (mayDiffer && !hasListed && NEW_NAMES.has(command)) await list()
    const sent = rewritten()
    try {
      const response = await execute(command, sent, options)
      hasListed ||= LISTS.has(command) && readText(args[1]) === '*'
      return response
    } catch (error) {
      // Only a listing shows the server's name, and this connection may have read none.
      if (!mayDiffer || hasListed || responseStatus(error) !== 'NO') throw error
      await list()
      const again = rewritten()
      if (again.every((arg, index) => sameName(arg, sent[index]))) throw error
      return execute(command, again, options)
    }
  }

  let lastFailure: unknown
  const sendAs = (command: string, args: readonly Argument[] | false, options?: object): Promise<Response> => {
    if (args === false) return execute(command, args, options)
    if (SEARCHES.has(command)) return search(execute, command, args, options)
    const positions = NAMES[command]
    return positions === undefined ? execute(command, args, options) : executeNaming(positions, command, args, options)
  }
  const send: Execute = async (command, args, options) => {
    lastFailure = undefined
    try {
      return await sendAs(command, args, options)
    } catch (error) {
      lastFailure = error
      throw error
    }
  }
  Reflect.set(imap, 'exec', send)
  return { lastFailure: () => lastFailure }
}

function readText(arg: Argument | undefined): string {
  const value = typeof arg === 'object' && 'value' in arg ? arg.value : arg
  return typeof value === 'string' ? value : ''
}

function ownName(arg: Argument, names: FolderNames, delimiter: string): Argument {
  const own = names.ownName(readText(arg), delimiter)
  if (own === undefined) return arg
  const bytes = Buffer.from(own, 'latin1')
  // Only the compiler's text may hold bytes of any value, and only a literal a line break.
  return /[\r\n\0]/.test(own) ? { type: 'LITERAL', value: bytes } : { type: 'TEXT', value: quoted(bytes) }
}

function sameName(left: Argument, right: Argument | undefined): boolean {
  const argumentValue = (arg: Argument | undefined) => (typeof arg === 'object' && 'value' in arg ? arg.value : arg)
  const [a, b] = [argumentValue(left), argumentValue(right)]
  return Buffer.isBuffer(a) && Buffer.isBuffer(b) ? a.equals(b) : a === b
}

function responseStatus(error: unknown): unknown {
  return typeof error === 'object' && error !== null ? Reflect.get(error, 'responseStatus') : undefined
}

/** Sends words with characters outside ASCII once more, in the first charset of the server that has them all. */
async function search(
  execute: Execute,
  command: string,
  args: readonly Argument[],
  options: object | undefined,
): Promise<Response> {
  try {
    return await execute(command, args, options)
  } catch (error) {
    const charsets = readCharsets(error)
    if (charsets === undefined || readText(args[0]) !== 'CHARSET') throw error
    for (const charset of charsets) {
      const encoded = inCharset(args.slice(2), charset)
      if (encoded !== undefined) return execute(command, [args[0] ?? '', charset, ...encoded], options)
    }
    const others = charsets.length === 0 ? '' : `, only in ${charsets.join(', ')}`
    throw new ProviderError(
      'rejected',
      `searching a folder: the mail server does not search in UTF-8${others}. Search for words without other characters`,
      { unsupported: true, cause: error },
    )
  }
}

const MAX_CHARSETS = 20
const CHARSET = /^[A-Za-z0-9][A-Za-z0-9._:+-]{0,39}$/

/** The charsets that a BADCHARSET response names. Undefined for another response. */
function readCharsets(error: unknown): string[] | undefined {
  if (responseStatus(error) !== 'NO' || typeof error !== 'object' || error === null) return undefined
  const response: unknown = Reflect.get(error, 'response')
  const attributes = readMember(response, 'attributes')
  const section = Array.isArray(attributes) ? readMember(attributes[0], 'section') : undefined
  if (!Array.isArray(section) || String(readMember(section[0], 'value')).toUpperCase() !== 'BADCHARSET')
    return undefined
  const values = section
    .slice(1)
    .flat()
    .map((item) => readMember(item, 'value'))
  return values
    .filter((value): value is string => typeof value === 'string' && CHARSET.test(value))
    .slice(0, MAX_CHARSETS)
}

function readMember(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/** Undefined when the charset does not have all characters. */
function inCharset(args: readonly Argument[], charset: string): Argument[] | undefined {
  if (!iconv.encodingExists(charset)) return undefined
  const encoded: Argument[] = []
  for (const arg of args) {
    if (typeof arg === 'string') {
      encoded.push(arg)
      continue
    }
    if (!('value' in arg)) {
      const inner = inCharset(arg, charset)
      if (inner === undefined) return undefined
      encoded.push(inner)
      continue
    }
    if (arg.type !== 'LITERAL' || !Buffer.isBuffer(arg.value)) {
      encoded.push(arg)
      continue
    }
    const text = arg.value.toString()
    const value = iconv.encode(text, charset)
    if (iconv.decode(value, charset) !== text) return undefined
    encoded.push({ type: 'LITERAL', value })
  }
  return encoded
}
